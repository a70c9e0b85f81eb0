"""Files of an object store, such as `s3://BUCKET/KEY`, opened through pyarrow's filesystems.

What follows `?` in an address are settings of the filesystem (`region`, `endpoint_override`, `scheme`); neither these
nor keys are shown.
"""

from __future__ import annotations

from typing import Any, BinaryIO, cast

from noregret.errors import InputError, reason


def shown(address: str) -> str:
    """The address without what nobody else may see.

    >>> shown("s3://key:secret@bucket/logs/part-1.csv?region=eu-west-1")
    's3://bucket/logs/part-1.csv'
    """
    scheme, _, rest = address.partition("?")[0].partition("://")
    bucket, slash, key = rest.partition("/")
    return f"{scheme}://{bucket.rpartition('@')[2]}{slash}{key}"


def size_of(address: str) -> int:
    """How many bytes the file holds; a sentence for what is no file."""
    files, path = _place(address)
    found = _info(files, path, address)
    if found.is_file:
        return int(found.size or 0)
    if not found.type.value:
        raise InputError("there is no such file", shown(address))
    raise InputError("is a directory, expected a file", shown(address))


def below(address: str) -> list[str] | None:
    """The addresses of all files in a folder; None for one file, or for nothing at all."""
    files, path = _place(address)
    if _info(files, path, address).is_file:
        return None
    from pyarrow.fs import FileSelector

    found = _asked(lambda: files.get_file_info(FileSelector(path, allow_not_found=True, recursive=True)), address)
    bare, mark, settings = address.partition("?")
    names = [one.path.removeprefix(path.rstrip("/")).lstrip("/") for one in found if one.is_file]
    if not names:
        return None
    return [f"{bare.rstrip('/')}/{name}{mark}{settings}" for name in names]


def opened(address: str) -> BinaryIO:
    """Its bytes as they are stored, from the first on."""
    files, path = _place(address)
    return cast(BinaryIO, _asked(lambda: files.open_input_stream(path, compression=None), address))


def anywhere(address: str) -> BinaryIO:
    """The file, to be read at any place."""
    files, path = _place(address)
    return cast(BinaryIO, _asked(lambda: files.open_input_file(path), address))


def _place(address: str) -> tuple[Any, str]:
    from pyarrow.fs import FileSystem

    return cast("tuple[Any, str]", _asked(lambda: FileSystem.from_uri(address), address))


def _info(files: Any, path: str, address: str) -> Any:
    return _asked(lambda: files.get_file_info(path), address)


def _asked(ask: Any, address: str) -> Any:
    """What the filesystem answers; whatever goes wrong is a sentence."""
    try:
        return ask()
    except FileNotFoundError:
        raise InputError("there is no such file", shown(address)) from None
    except (OSError, ValueError, NotImplementedError) as error:
        raise InputError(f"cannot be opened ({reason(error)})", shown(address)) from error
