"""Connection-level messages (01-wire): handshake, subscription, dispatch, reconnect, authentication."""
