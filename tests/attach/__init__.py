"""A package, so that `attach.made` has one name for pytest and mypy alike."""
