"""The core: what happened goes in, what is to be done comes out. No I/O, no clock of its own, no asyncio.

`core.Host` is the whole of it; the other modules are the rules it applies, one question each. A first reading
might follow one action: `core.Host.received` → `dispatch` → `rules` (may it?) → `core.Host.emit` (state, envelope)
→ `mirror` (who else must know) → `Host.flush` (one transaction) → `Host.committed` (now it may be told).
"""
