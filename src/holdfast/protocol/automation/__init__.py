"""Automation channels (09-automation): the catalogue of automations, and the runs they make."""
