"""Resource watch channel (05-resources, section 6): events about files, with a state that never changes."""
