"""Work that may have to wait for something to be read.

A job is a function that decides everything from what is in memory. What is not there it asks for by raising
`Waiting` *before it changes anything*; when the answer has come, the function runs again from its start and
finds it. So a handler reads from top to bottom, and nothing in the core ever blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from holdfast.host.connection import Connection
from holdfast.ports.agent import AgentQuery
from holdfast.ports.journal import Query

__all__ = ["Job", "Need", "Waiting"]

Need: TypeAlias = Query | AgentQuery


class Waiting(Exception):
    """The running job needs these first. `is_piece`: they are a part of much, and others have their turn between."""

    def __init__(self, *needs: Need, is_piece: bool = False) -> None:
        super().__init__(*needs)
        self.needs = needs
        self.is_piece = is_piece


class Job:
    """One piece of work with the answers it has had so far."""

    __slots__ = ("answers", "connection", "memory", "on_crash", "work")

    def __init__(self, work: Callable[[], None], connection: Connection | None = None) -> None:
        self.work = work
        self.connection = connection
        self.answers: dict[Need, Any] = {}
        self.memory: dict[Any, Any] = {}
        """What a job that needs much has made of the pieces it had."""
        self.on_crash: Callable[[], None] | None = None
