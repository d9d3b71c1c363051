"""The parts of the screen. Thin: they show what the model says and tell what keys were pressed."""

from __future__ import annotations
