"""What the questions of `bench/scale.py` are asked with: processes, load, made-up data, a report."""
