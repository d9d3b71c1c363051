"""Terminal channel (06-terminal): a host-run process with a text stream and an owner."""
