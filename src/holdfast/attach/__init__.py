"""`holdfast attach`: a full-screen terminal client.

`model` decides what is shown, from the protocol's states alone; `paint` makes lines of it; `controller` owns the
connection; `app`, `screens` and `widgets` put it on the terminal. Only the last two know Textual.
"""

from __future__ import annotations
