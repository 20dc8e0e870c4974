"""Bundles and traces that were made before, on disk: found by what they were made of.

INGOT_CACHE names the folder (``~/.cache/ingot``), INGOT_CACHE_BYTES how large it may grow (2 GiB). Several processes
may use it: an entry takes its place whole, and what is open stays usable after it is removed. A bundle is native code,
so nothing is read of a folder or file that others may write. Where nothing can be kept, it is compiled all the same.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from ingot import tool
from ingot._engine import EngineError
from ingot.compiler import Math, MemoryLimit, MicroBatches, compile, memory_options
from ingot.private_folder import NEW, PrivateFolder
from ingot.session import Bundle

BUNDLE, CONTENT = "program.ingot", "content.json"
ENTRY, FILE = re.compile(rf"[0-9a-f]{{64}}|{NEW}.*"), re.compile(r"[a-z]+\.(ingot|json)")  # that may be removed
MOST_BYTES = 2 << 30
PACKAGE = os.path.dirname(__file__)
T = TypeVar("T")


def compiled(
    texts: Mapping[str, str],
    target: str = "host",
    skip: Sequence[str] = (),
    memory_limit: MemoryLimit | None = None,
    micro_batches: MicroBatches | None = None,
    math: Math = "standard",
) -> Bundle:
    """The bundle of a program whose state starts as zeros: the one of before, or a new one.

    A hash finds it, and its whole content is compared.
    """
    memory: dict[str, Any] = {"memory_limit": memory_limit, "micro_batches": micro_batches}
    content = json.dumps([texts, target, skip, memory_options(**memory), math, _compiler(), _processor()])
    if found := _find(content, _bundle):
        return found
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / BUNDLE
        bundle = compile(texts, file, target=target, skip=skip, state="zeros", math=math, **memory)
        _add(content, {BUNDLE: file.read_bytes(), CONTENT: content.encode()})
    return _find(content, _bundle) or bundle  # that of the folder takes no memory of its own


def text(key: str, file: str) -> str | None:
    """The text that was kept in a file under a key, if there is one."""
    return _find(key, functools.partial(_text, file))


def keep_text(key: str, file: str, text: str) -> None:
    """Keeps a text in a file under a key, in the place of what is there."""
    remove(key)
    content = text.encode()
    _add(key, {file: content, CONTENT: _with_digest(key, content)})


def remove(key: str) -> None:
    """Removes what was kept under a key."""
    with suppress(OSError), PrivateFolder(folder()) as place:
        place.remove(_name(key))


def folder() -> Path:
    """The folder of the cache. Raises OSError if none is named and there is no home folder."""
    if given := os.environ.get("INGOT_CACHE"):
        return Path(given)
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not base.is_absolute():  # as XDG's specification says
        try:
            base = Path.home() / ".cache"
        except RuntimeError as error:
            raise FileNotFoundError(str(error)) from error
    return base / "ingot"


def _find(key: str, read: Callable[[str, PrivateFolder], T | None]) -> T | None:
    """Reads an entry; removes one that is damaged, or that others have written."""
    try:
        with PrivateFolder(folder()) as place:
            with suppress(OSError, EngineError):
                if (found := read(key, place)) is not None:
                    place.touch(_name(key))
                    return found
            place.remove(_name(key))
    except OSError as error:
        _warn(error)
    return None


def _bundle(content: str, place: PrivateFolder) -> Bundle | None:
    name = _name(content)
    if place.read(name, CONTENT) != content.encode():
        return None
    with place.opened(name, BUNDLE) as descriptor:
        return Bundle(f"/proc/self/fd/{descriptor}")


def _text(file: str, key: str, place: PrivateFolder) -> str | None:
    name = _name(key)
    content = place.read(name, file)
    return content.decode() if place.read(name, CONTENT) == _with_digest(key, content) else None


def _with_digest(key: str, content: bytes) -> bytes:
    """A key, and what shows damage of a text, which may still be one."""
    return f"{key}\n{hashlib.sha256(content).hexdigest()}".encode()


def _name(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def _add(key: str, files: Mapping[str, bytes]) -> None:
    try:
        with PrivateFolder(folder()) as place:
            place.add(_name(key), files)
            _shrink(place, _name(key))
    except OSError as error:
        _warn(error)


def _shrink(place: PrivateFolder, newest: str) -> None:
    """Removes leftovers, then what was not used for longest while there is too much; never the newest."""
    entries = []
    for entry in place.entries():
        if not ENTRY.fullmatch(entry.name) or not all(map(FILE.match, entry.files)):
            continue  # the folder holds other things, too
        if entry.is_abandoned:
            place.remove(entry.name)
        else:
            entries.append(entry)
    entries.sort(key=lambda entry: (entry.name == newest, entry.is_new, entry.used_s), reverse=True)
    most, used = _most_bytes(), 0
    for entry in entries:
        used += entry.byte_count
        if used > most and entry.name != newest and not entry.is_new:
            place.remove(entry.name)


def _most_bytes() -> int:
    given = os.environ.get("INGOT_CACHE_BYTES", "")
    if given and not given.isdecimal():
        _warn_once(f"INGOT_CACHE_BYTES is {given!r}, which is no number of bytes: {MOST_BYTES} is taken")
    return int(given) if given.isdecimal() else MOST_BYTES


def _warn(error: OSError) -> None:
    """Says why nothing is kept."""
    what = error.strerror or str(error)
    with suppress(OSError):
        what = f"{folder()}: {what}"
    _warn_once(f"nothing is kept: {what}; INGOT_CACHE names another folder")


@functools.cache
def _warn_once(text: str) -> None:
    """Warns of the line outside of this package that led here."""
    frame, level = inspect.currentframe(), 1
    while frame and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, stacklevel=level)


def _compiler() -> list[object]:
    """Which compiler it is: another build of one version is another."""
    file = shutil.which(tool.program()) or tool.program()
    status = os.stat(file)
    return [file, status.st_size, status.st_mtime_ns]


def _processor() -> str:
    """What tells this processor from others that may share the folder."""
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return ""
