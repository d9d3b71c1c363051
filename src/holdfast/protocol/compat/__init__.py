"""Peers of other ages: values of protocol 1.0 lowered to what an older version knows, and lifted back.

`bridge.bridge_for` is the way in. Each module `v0_9`, `v0_8`, … is one step between a version and the next newer
one; a bridge runs the steps one after the other. Everything here is pure, JSON in and JSON out. Nothing outside
this package and `versions` asks for a version.
"""
