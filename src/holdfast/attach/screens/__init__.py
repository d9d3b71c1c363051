"""Whole screens: the main one, and those that come up over it."""

from __future__ import annotations
