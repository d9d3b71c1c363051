"""Holdfast: an agent host for the Agent Host Protocol, where a session holds."""

from holdfast._version import __version__

__all__ = ["__version__"]
