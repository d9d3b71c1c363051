"""`holdfast service`: a host that the system starts when its user logs in, and again if it breaks."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from holdfast.cli.exits import Exit, Stopped, in_words
from holdfast.cli.options import host_options, settings_from
from holdfast.cli.output import as_json, emit, emit_json, remark

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.cli.units import ManagerName, Service
    from holdfast.server.settings import Settings

__all__ = ["SCHEMAS", "command"]

SCHEMAS: Final = ("service",)

# How long a service manager may take, in seconds: it waits for the host to end.
_PATIENCE = 120.0


@click.group("service")
def command() -> None:
    """Have the system start a host when you log in.

    As a user unit of systemd, or as a launch agent on macOS.
    """


_manager = click.option(
    "--manager",
    type=click.Choice(["systemd", "launchd"]),
    default="launchd" if sys.platform == "darwin" else "systemd",
    help="The service manager, if not the one of this platform.",
)
_dry_run = click.option("--dry-run", is_flag=True, help="Only show the file and the commands.")


@command.command("install")
@_dry_run
@_manager
@as_json()
@host_options()
def install(dry_run: bool, manager: ManagerName, as_json: bool, **given: Any) -> None:
    """Write the service's file and start the service.

    Takes the same options as `serve`, also from variables, and keeps them in the file, with the PATH of this shell:
    agents are found by it. Again, it replaces what was there.
    """
    with in_words():
        from holdfast.places import log_file
        from holdfast.server import dirs

        settings = settings_from(given)
        service = _service(manager, settings, given)
        if dry_run:
            emit(f"# {service.file}\n{service.text}\n# then\n{_lines(service.load)}")
            return
        _require(service)
        _require_no_other(service, settings)
        dirs.prepare_data_dir(settings.data_dir)
        try:
            for folder in (service.file.parent, log_file(settings.data_dir).parent):
                folder.mkdir(parents=True, exist_ok=True)
            service.file.write_text(service.text)
        except OSError as error:
            raise Stopped(Exit.FAILED, f"cannot write {service.file}: {error.strerror}") from error
        if manager == "launchd":
            for words in service.undo:
                _run(words, must=False)
        try:
            for words in service.load:
                _run(words)
        except Stopped as failed:
            raise Stopped(failed.code, f"{failed}; {service.file} is written") from None
        _tell(service, as_json, f"{service.file} is installed and runs; it starts whenever you log in")
        if manager == "systemd" and not as_json:
            remark("to have it run while you are not logged in: loginctl enable-linger")


@command.command("uninstall")
@_dry_run
@_manager
@as_json()
@host_options(("data_dir",))
def uninstall(dry_run: bool, manager: ManagerName, as_json: bool, **given: Any) -> None:
    """Stop the service and remove its file. Sessions stay."""
    with in_words():
        service = _service(manager, settings_from(given), given)
        if dry_run:
            emit(f"{_lines(service.undo)}rm {shlex.quote(str(service.file))}\n{_lines(service.forget)}")
            return
        if service.file.exists():
            _require(service)
            for words in service.undo:
                _run(words, must=False)
            service.file.unlink()
            for words in service.forget:
                _run(words)
        _tell(service, as_json, f"{service.file} is gone")


@command.command("status")
@_manager
@as_json()
@host_options(("data_dir",))
def status(manager: ManagerName, as_json: bool, **given: Any) -> None:
    """Tell whether the service is installed and active.

    Ends with exit code 0 if it is active, else 3.
    """
    with in_words():
        service = _service(manager, settings_from(given), given)
        is_active = _is_active(service)
        if not service.file.exists():
            text = "not installed; `holdfast service install` does that"
        else:
            text = f"{service.file} is installed and {'active' if is_active else 'not active'}"
        _tell(service, as_json, text)
    sys.exit(Exit.OK if is_active else Exit.NO_HOST)


# The parts


def _service(manager: ManagerName, settings: Settings, given: dict[str, Any]) -> Service:
    from holdfast.cli.daemon import arguments, program
    from holdfast.cli.units import launchd, systemd
    from holdfast.places import config_home

    words = [*program(), "serve", *arguments(settings, given, with_variables=True)]
    path = os.environ.get("PATH", os.defpath)
    if manager == "systemd":
        return systemd(words, config_home(os.environ), path, settings.drain_timeout)
    return launchd(words, Path.home(), settings.data_dir, path, settings.drain_timeout, os.getuid())


def _require(service: Service) -> None:
    program = service.ask[0]
    if shutil.which(program) is None:
        raise Stopped(Exit.FAILED, f"there is no {program} here; `holdfast up` starts a host without it")


def _require_no_other(service: Service, settings: Settings) -> None:
    """A host that somebody else started holds the data directory."""
    from holdfast.places import running

    host = running(settings.data_dir)
    if host is not None and not _is_active(service):
        raise Stopped(
            Exit.FAILED, f"a host runs in {settings.data_dir} already (process {host.pid}); `holdfast down` stops it"
        )


def _is_active(service: Service) -> bool:
    if not service.file.exists() or shutil.which(service.ask[0]) is None:
        return False
    done = subprocess.run(service.ask, capture_output=True, timeout=_PATIENCE, check=False)  # noqa: S603 - made here
    return done.returncode == 0


def _run(words: Sequence[str], *, must: bool = True) -> None:
    done = subprocess.run(words, capture_output=True, text=True, timeout=_PATIENCE, check=False)  # noqa: S603
    if must and done.returncode:
        why = (done.stderr or done.stdout).strip() or f"it ended with {done.returncode}"
        raise Stopped(Exit.FAILED, f"`{shlex.join(words)}` did not work: {why}")


def _lines(commands: Iterable[Sequence[str]]) -> str:
    return "".join(f"{shlex.join(words)}\n" for words in commands)


def _tell(service: Service, as_json: bool, text: str) -> None:
    from holdfast.cli.shapes import ServiceStatus

    if as_json:
        emit_json(
            ServiceStatus(
                manager=service.manager,
                file=str(service.file),
                installed=service.file.exists(),
                active=_is_active(service),
            )
        )
    else:
        emit(text + "\n")
