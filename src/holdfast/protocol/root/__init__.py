"""Root channel (02-root): agents, host configuration, terminals, and the catalogue of sessions."""
