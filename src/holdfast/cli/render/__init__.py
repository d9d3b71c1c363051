"""Turns as people read them: `blocks` says what there is to read, the other modules write it down. Pure."""
