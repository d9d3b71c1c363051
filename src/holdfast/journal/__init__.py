"""Where sessions hold: two implementations of `holdfast.ports.journal.Journal`.

`sqlite` keeps one file and is what a host uses; `memory` keeps plain dicts, is the reference in tests, and forgets
everything with its process. Both obey one contract suite: every test in `tests/journal` that takes a `journal` runs
with each.

What the port leaves open, both answer alike:

- Naming a unit in a write makes it. Writing into a session that was disposed of and can be restored fails;
  `PutSession` is what begins it anew, so it comes first in its commit.
- Turns belong to the URI of their chat and may be written before its first head. `CopyTurns` replaces what the
  target had. Dropping, moving, truncating, disposing of or restoring what is not there does nothing.
- A session's time has run out when `maintain` finds that it has, not before.
- The caller promises, and is believed, that frames are committed with rising numbers and no number twice.

The files: `sqlite` opens, commits and closes; `schema` is the layout; `writes` and `queries` have one small
function per class of the port; `upkeep` forgets; `files` and `failures` are the edges.
"""
