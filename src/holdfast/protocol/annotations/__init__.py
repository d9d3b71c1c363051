"""Annotations channel (08-annotations): threads of remarks on files, at most one channel per session."""
