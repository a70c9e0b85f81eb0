"""`noregret cache`: the parsed rows of a file, kept beside it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noregret.cli.arguments import Columns, Shown, grouped
from noregret.cli.terminal import put_json

if TYPE_CHECKING:
    from noregret.stream.cache.cached import Cached
    from noregret.stream.cache.file import CacheFile


@grouped
def cache(
    stream: Annotated[str, typer.Argument(help="A file in any format that learn reads.", metavar="STREAM")],
    *,
    columns: Columns,
    check: Annotated[
        bool, typer.Option("--check", help="Check every byte of the existing cache and of the file; make nothing.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the file's cache.")] = False,
    shown: Shown,
) -> None:
    """Store the parsed rows of a file next to it, as FILE.nrcache, for commands that run with --cache.

    Example: noregret cache spam.svm.gz
    """
    from noregret.errors import SettingError
    from noregret.stream import read
    from noregret.stream.files import files_of

    json, quiet = shown.json, shown.quiet
    if files_of(stream) is not None:
        raise SettingError(f"cache takes one file, and {stream} stands for several: use learn with --cache")
    if check or remove:
        _refuse(columns.said(), "--check" if check else "--remove")
        if check and remove:
            raise SettingError("--check and --remove cannot be combined")
        (_check if check else _remove)(stream, json, quiet)
        return
    began = time.perf_counter()
    source: Any = read(stream, **columns.recipe(), cache=True)
    made, found = _made(source, shown.silent)
    with found:
        answer = _figures(source, found, made, time.perf_counter() - began)
    _show(answer, json, quiet)


def _refuse(reading: dict[str, Any], what: str) -> None:
    """A cache is looked at or removed as it is, however it was made."""
    from noregret.cli.options import flag
    from noregret.errors import SettingError

    for key, value in reading.items():
        if value:
            raise SettingError(f"{flag(key)} sets how a cache is made and cannot be combined with {what}")


def _made(source: Cached, quiet: bool) -> tuple[bool, CacheFile]:
    """Whether the cache had to be made, and the cache."""
    from noregret.cli.terminal import Bar
    from noregret.errors import InputError

    found = source.sound()
    if found is not None:
        return False, found
    rows = 0
    with Bar(quiet) as bar:
        for block in source.make(sync=True):
            rows += len(block)
            bar.show(f"reading {rows:,} rows", source.fraction())
    found = source.sound()
    if found is None:
        raise InputError("changed while it was being read: no cache was made", source.source)
    return True, found


def _figures(source: Cached, found: CacheFile, made: bool, seconds: float) -> dict[str, Any]:
    if source.features.kind == "index":
        source.features.reach(found.contents.width)
    return {
        "cache": found.path,
        "source": source.source,
        "made": made,
        "rows": found.contents.rows,
        "features": source.features.count,
        "values": found.contents.entries,
        "bytes": found.size,
        "source_bytes": found.origin.size,
        "source_digest": found.origin.digest,
        "ratio": found.size / found.origin.size,
        "seconds": seconds,
    }


def _show(answer: dict[str, Any], json: bool, quiet: bool) -> None:
    if json:
        put_json(answer)
    elif not quiet:
        from noregret.cli.show import table
        from noregret.summary import number

        print(f"{answer['cache']}: {'made' if answer['made'] else 'up to date'}")
        rows = [(key, number(answer[key])) for key in ("rows", "features", "values", "bytes")]
        rows.append(("  relative to the file", f"{answer['ratio']:.2f}"))
        table([*rows, ("seconds", f"{answer['seconds']:.3f}")])


def _caches(stream: str) -> list[str]:
    """The caches that there are of a file."""
    from noregret.errors import InputError
    from noregret.stream.cache.origin import is_cache, places

    found = [str(place) for place in places(stream) if place.is_file() and is_cache(place)]
    if not found:
        raise InputError("has no cache", stream)
    return found


def _check(stream: str, json: bool, quiet: bool) -> None:
    """Read all of the cache and all of the file; leave with 1 where something is not as it should be."""
    import sys

    from noregret.errors import InputError

    for path in _caches(stream):
        try:
            wrong = _wrong(path, stream)
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", stream) from error
        if json:
            _show({"cache": path, "source": stream, "right": not wrong, "reason": wrong or None}, json, quiet)
        elif wrong:
            print(f"noregret: {path}: {wrong}: the next use will rebuild it", file=sys.stderr)
        elif not quiet:
            print(f"{path}: intact, and up to date with {stream}")
        if wrong:
            raise typer.Exit(1)


def _wrong(path: str, stream: str) -> str:
    """What is wrong with a cache; nothing if nothing is."""
    from noregret.stream.cache.file import CacheFile, Damaged
    from noregret.stream.cache.origin import same_bytes

    try:
        with CacheFile(path) as found:
            for _ in found.blocks(stream):
                pass
            return (
                ""
                if same_bytes(stream, found.origin)
                else "it belongs to another file or to an older version of this one"
            )
    except Damaged as error:
        return str(error)


def _remove(stream: str, json: bool, quiet: bool) -> None:
    from pathlib import Path

    from noregret.errors import InputError

    for path in _caches(stream):
        try:
            Path(path).unlink()
        except OSError as error:
            raise InputError(f"cannot be removed: {error.strerror}", path) from error
        if json:
            _show({"cache": path, "source": stream, "removed": True}, json, quiet)
        elif not quiet:
            print(f"{path}: removed")
