"""From settings to a running service: models made and taken over, the key read, the socket bound."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noregret import model
from noregret.errors import InputError, NoregretError, SettingError, spelled
from noregret.late.pending import Pending
from noregret.learner.core import Core
from noregret.service.guard import loopback
from noregret.service.served import create
from noregret.watch import alarm
from noregret.watch.late_windows import late_again

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
DRAIN = 20  # seconds that requests have to end in
KEYS = "NOREGRET_KEY"
SHORTEST = 16
Made = tuple[Path, Core, dict[str, Any]]  # the folder of a new served model, its learner, its rules for labels


@dataclass(frozen=True)
class Address:
    """Where the service is reached, and with which key."""

    host: str
    port: int
    key: str | None

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise SettingError(f"{spelled('port')} must be between 0 and 65535, got {self.port}")
        if self.key is None and not loopback(self.host):
            raise SettingError(
                f"{spelled('host')} {self.host} can be reached by other machines: give a key with {spelled('key')} FILE"
            )


def read_key(path: Path | None) -> str | None:
    """The key in a file or in the environment; never in an argument, which others can see."""
    if path is None:
        found = os.environ.get(KEYS, "").strip()
        source = KEYS
    else:
        try:
            found, source = path.read_text("utf-8").strip(), str(path)
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"the key cannot be read: {getattr(error, 'strerror', None) or error}", str(path)
            ) from error
    if not found and path is None:
        return None
    if len(found) < SHORTEST or not found.isascii() or any(c.isspace() for c in found):
        raise InputError(f"a key must have at least {SHORTEST} ASCII characters without blanks", source)
    return found


def check_new(folder: Path, name: str) -> None:
    """Refuse a name that no new model can have."""
    if NAME.fullmatch(name) is None:
        raise SettingError(f"{spelled('new')} must be letters, digits, dots, dashes and underscores, got {name!r}")
    if (folder / name).exists() or (folder / f"{name}.nr").exists():
        raise SettingError(f"{spelled('new')}: there is a model called {name!r} in {folder} already: leave it out")


def saved_models(folder: Path) -> list[Made]:
    """The saved models of the folder that are to become served ones; one that cannot be served is an error."""
    found: list[Made] = []
    for path in sorted(folder.glob("*.nr")):
        if not (folder / path.stem).exists():
            if NAME.fullmatch(path.stem) is None:
                raise InputError(
                    "cannot be served under its name: letters, digits, dots, dashes, underscores", str(path)
                )
            core, _ = model.load(path)
            _check_served(core, str(path))
            found.append((folder / path.stem, core, {}))
    return found


def _check_served(core: Core, path: str) -> None:
    """Refuse a saved model that a service cannot go on with as it began."""
    if alarm.NAME in (core.watched or {}):
        raise InputError(
            "keeps an alarm, which a service does not go on with: save a model learned without --alarm", path
        )
    try:
        late_again(core)
    except SettingError:
        raise InputError(
            "keeps windows of labels that come at once, which a service does not go on with:"
            " save a model learned without --windows",
            path,
        ) from None
    try:
        late = Pending(core)
    except NoregretError as error:
        raise InputError(f"cannot be served: {error}", path) from error
    windows = late.windows
    if windows is not None and windows.start is not None and windows.predicted != late.book.counts.predicted:
        raise InputError(  # the predictions of a service count from 0
            "keeps windows of a run with --delay, which a service does not go on with:"
            " save a model learned without --windows",
            path,
        )


@contextmanager
def making(models: Sequence[Made]) -> Iterator[Callable[[], None]]:
    """Make the folders of new served models; they are taken away again unless the function that it gives is called.

    The files of saved models stay as they are.
    """
    with ExitStack() as undo:
        for folder, core, rules in models:
            create(folder, core, **rules)
            undo.callback(shutil.rmtree, folder, ignore_errors=True)

        def keep() -> None:
            undo.pop_all()

        yield keep


def check_folder(folder: Path) -> None:
    """Refuse a folder without models."""
    if not folder.is_dir():
        raise InputError("is not a folder" if folder.exists() else "does not exist", str(folder))
    if not any(one.suffix == ".nr" or one.is_dir() for one in folder.iterdir()):
        raise InputError(f"holds no model: save one there, or make one with {spelled('new')} NAME", str(folder))


def listening(address: Address) -> socket.socket:
    """The socket, before anything else is done."""
    try:
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        return socket.create_server((address.host, address.port), family=family, backlog=2048)
    except OSError as error:
        where = f"{address.host}:{address.port}"
        raise InputError(f"cannot listen on {where}: {error.strerror or error}") from error


def run(
    folder: Path, listener: socket.socket, address: Address, said: Callable[[str, list[str]], None], **settings: Any
) -> None:
    """Serve until a signal comes; then answer what was asked, save, and let the signal go on."""
    import uvicorn

    from noregret.service.app import application
    from noregret.service.hosted import Service

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: Any) -> None:
            service.ready, service.closing = False, True
            super().handle_exit(sig, frame)

    service = Service(folder, **settings)
    app = application(service, host=address.host, key=address.key)
    how: dict[str, Any] = {"log_config": None, "access_log": False, "server_header": False, "lifespan": "off"}
    server = Server(uvicorn.Config(app, ws="none", timeout_graceful_shutdown=DRAIN, **how))

    async def served() -> None:
        try:
            service.open()
            said(_url(listener), sorted(service.models))
            await server.serve(sockets=[listener])
        finally:
            service.close()

    with asyncio.Runner(loop_factory=server.config.get_loop_factory()) as runner:
        runner.run(served())


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
