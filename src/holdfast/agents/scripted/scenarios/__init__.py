"""The scenarios of the demo agent by topic, one function each; `scripted.table` lists them."""
