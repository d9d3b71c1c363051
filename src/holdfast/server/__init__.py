"""The shell: the only place with an event loop, sockets, tasks and signals. It decides nothing."""
