"""Changeset channel (07-changeset): a named list of file edits, and what can be done with it."""
