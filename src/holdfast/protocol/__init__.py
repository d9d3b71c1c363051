"""The wire: every type, reducer, URI and version number of the Agent Host Protocol, as pure values.

Nothing below this package does I/O, reads a clock or makes an id. Each channel has a folder of its own
(`chat/`, `session/`, ...) with what the protocol names together: `state.py`, `actions.py`, `commands.py`,
`reducer.py`. Across channels: `codec` (bytes to values and back), `jsonrpc` (message shapes), `envelope`
(actions on their way), `methods` (what may be called), `reducers` (which reducer a channel has), `uris`,
`versions`, `errors`. Import the module you need; this file stays empty so that importing one stays cheap.
"""
