"""A package, so that `agents.stage` has one name for pytest and mypy alike."""
