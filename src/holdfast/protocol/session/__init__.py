"""Session channel (03-session): lifecycle, catalogue of chats, tools, customizations; never conversation."""
