"""One question about the host in each file; `bench/scale.py` has the table of them."""
