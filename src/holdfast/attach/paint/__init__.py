"""Lines for what the model shows: values in, styled segments out, for one width. Rich, and no Textual."""

from __future__ import annotations
