"""Lines of text that change seldom."""

from __future__ import annotations

from rich.text import Text
from textual.widgets import Static

__all__ = ["Bar"]


class Bar(Static):
    """Laid out anew only when its text is another. As high as its lines; an empty one that `hides` takes no room."""

    def __init__(self, *, id: str | None = None, classes: str | None = None, hides: bool = False) -> None:
        super().__init__(id=id, classes=classes, markup=False)
        self._hides = hides
        self._text: Text | None = None

    def show(self, text: Text) -> None:
        """Show this text."""
        if text == self._text:
            return
        self._text = text
        # The height is said and not left to be found out: a text that follows another at once would have its height.
        self.styles.height = text.plain.count("\n") + 1 + self.styles.gutter.height
        self.update(text)
        self.display = bool(text) or not self._hides
