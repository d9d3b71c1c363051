"""Agents: the port every back end implements, what a running turn offers it, and the back ends themselves.

An agent knows nothing of clients, journals or sequence numbers. It gets a `TurnContext`, says what happens, and
waits for what people decide.
"""
