"""A package, so that `cli.conftest` has one name for pytest and mypy alike."""
