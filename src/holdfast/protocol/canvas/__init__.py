"""Canvas channel (13-canvas, experimental): a UI surface of a host extension, published to clients."""
