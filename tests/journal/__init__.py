"""The contract of `holdfast.ports.journal.Journal`, for every implementation, and what only SQLite can show."""
