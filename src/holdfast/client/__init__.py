"""The client: `connect` to a host, make and follow sessions, talk, and come back after every interruption.

`host`, `session`, `chat` and `turn` are what people use; `connection` keeps them connected, `following` knows what is
followed, `mirror` what is believed of it, `wire` speaks over one connection, and `transports` carry its bytes. The
friendly names are in `holdfast` itself.
"""
