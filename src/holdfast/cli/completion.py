"""`holdfast completion`: what a shell has to know to complete our words."""

from __future__ import annotations

from typing import Final

import click

from holdfast.cli.output import emit, is_person, remark

__all__ = ["command"]

# Where each shell reads it from, for a person who just looks.
_INSTALL: Final = {
    "bash": "echo 'eval \"$(holdfast completion bash)\"' >> ~/.bashrc",
    "zsh": "echo 'eval \"$(holdfast completion zsh)\"' >> ~/.zshrc",
    "fish": "holdfast completion fish > ~/.config/fish/completions/holdfast.fish",
}


@click.command("completion")
@click.argument("shell", type=click.Choice(list(_INSTALL)))
def command(shell: str) -> None:
    """Print the script with which a shell completes commands and options.

    \b
    bash   eval "$(holdfast completion bash)" in ~/.bashrc; needs bash 4.4
    zsh    eval "$(holdfast completion zsh)" in ~/.zshrc, after compinit
    fish   holdfast completion fish > ~/.config/fish/completions/holdfast.fish
    """
    from click.shell_completion import get_completion_class

    from holdfast.cli import cli

    found = get_completion_class(shell)
    assert found is not None, "click knows these shells"
    emit(found(cli, {}, "holdfast", "_HOLDFAST_COMPLETE").source() + "\n")
    if is_person():
        remark(f"to install it: {_INSTALL[shell]}")
