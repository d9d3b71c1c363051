"""Conversations with a real host, in raw JSON over a real socket: every numbered requirement, one after the other."""
