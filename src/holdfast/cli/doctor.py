"""`holdfast doctor`: what is wrong here, and how to mend it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from holdfast.cli.exits import Exit, in_words
from holdfast.cli.options import host_options, settings_from
from holdfast.cli.output import as_json, clean, emit, emit_json, is_person

if TYPE_CHECKING:
    from holdfast.cli.checks import Check, Place
    from holdfast.cli.shapes import Finding

__all__ = ["SCHEMAS", "command"]

SCHEMAS: Final = ("doctor",)

_COLOURS: Final = {"ok": "green", "warning": "yellow", "wrong": "red", "skipped": None}


@click.command("doctor")
@click.option("--thorough", is_flag=True, help="Look at all of the journal, however long it takes.")
@as_json()
@host_options()
def command(thorough: bool, as_json: bool, **given: Any) -> None:
    """Find what is wrong with this installation, and say how to mend it.

    Looks at Python, options, files, the journal, the port and the host that runs, and changes nothing. Takes the
    same options as `serve`. Ends with exit code 1 if something is wrong; a warning is not.
    """
    with in_words():
        place = _place(given, thorough=thorough)
        findings = []
        for name, check in _checks().items():
            finding = _named(name, check, place)
            findings.append(finding)
            if not as_json:
                emit(_shown(finding))
        if as_json:
            emit_json(findings)
        else:
            emit(_summary(findings))
    sys.exit(Exit.FAILED if any(finding.state == "wrong" for finding in findings) else Exit.OK)


def _checks() -> dict[str, Check]:
    """Name -> check, in the order in which they help each other."""
    from holdfast.cli.checks import files, hosts, machine

    return {
        "python": machine.python,
        "sqlite": machine.sqlite,
        "libraries": machine.libraries,
        "open-files": machine.open_files,
        "config": files.config,
        "data-dir": files.data_dir,
        "disk": machine.disk,
        "token": files.token,
        "lock": files.lock,
        "journal": files.journal,
        "socket": files.socket_path,
        "port": hosts.port,
        "host": hosts.answers,
        "version": hosts.version,
        "HOLDFAST_HOST": hosts.named_host,
        "service": machine.service,
        "last-words": files.last_words,
    }


def _place(given: dict[str, Any], *, thorough: bool) -> Place:
    from holdfast.cli.checks import Place
    from holdfast.places import running
    from holdfast.server.settings import SettingsError

    complaint = None
    try:
        settings = settings_from(given)
    except SettingsError as error:
        complaint, settings = str(error), _defaults(given)
    return Place(
        settings=settings,
        complaint=complaint,
        environ=os.environ,
        host=running(settings.data_dir),
        thorough=thorough,
    )


def _defaults(given: dict[str, Any]) -> Any:
    """The options where they cannot be read: all but the data directory are what nobody changed."""
    from holdfast.places import data_dir
    from holdfast.server.settings import OPTIONS, Settings

    folder = Path(given.get("data_dir") or os.environ.get("HOLDFAST_DATA_DIR") or data_dir(os.environ)).absolute()
    origins = dict.fromkeys(OPTIONS, "default")
    return Settings(data_dir=folder, unix_socket=folder / "run" / "holdfast.sock", origins=origins)


def _named(name: str, check: Check, place: Place) -> Finding:
    """What a check finds. A file that cannot even be looked at is a finding too."""
    import msgspec

    from holdfast.cli.checks import wrong

    try:
        finding = check(place)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        finding = wrong(f"cannot look: {where}{error.strerror or error}", "see who may read it, and whose it is")
    return msgspec.structs.replace(finding, check=name)


def _shown(finding: Finding) -> str:
    state = finding.state.ljust(8)
    if is_person() and not os.environ.get("NO_COLOR"):
        state = click.style(state, fg=_COLOURS[finding.state], bold=finding.state == "wrong")
    fix = f"{'':24}-> {clean(finding.fix)}\n" if finding.fix else ""
    return f"{state}{finding.check:16}{clean(finding.says)}\n{fix}"


def _summary(findings: list[Finding]) -> str:
    counts = {state: sum(finding.state == state for finding in findings) for state in ("wrong", "warning")}
    if not any(counts.values()):
        return "\nnothing is wrong\n"
    said = [f"{count} {state}" for state, count in counts.items() if count]
    return f"\n{', '.join(said)}\n"
