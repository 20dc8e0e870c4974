"""What is read outside of Python's objects while a function is traced: the environment, and files."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from ingot.torch.base.replacements import is_tracer, replaced

IMPORTING = "<frozen importlib"  # begins the file names of what imports modules
MAPPED = type(os.environ)


class Noted:
    """Variables of the environment and files that were read; `unknown` says what else was done."""

    def __init__(self) -> None:
        self.variables: dict[str, str | None] = {}
        self.files: set[str] = set()
        self.unknown: list[str] = []


_noting: list[Noted] = []


@contextmanager
def noted() -> Iterator[Noted]:
    """Notes until it is left."""
    _audited()
    made, before = Noted(), dict(os.environ)

    def get(self: Any, key: Any) -> Any:
        made.variables[str(key)] = before.get(key)
        return get_item(self, key)

    def every(self: Any) -> Iterator[Any]:
        made.unknown.append("the whole environment")
        return iterate(self)

    get_item, iterate = MAPPED.__getitem__, MAPPED.__iter__
    _noting.append(made)
    try:
        with replaced(MAPPED, "__getitem__", get), replaced(MAPPED, "__iter__", every):
            yield made
    finally:
        _noting.remove(made)


def note(what: str) -> None:
    """Something else than variables and files that are read."""
    for made in _noting:
        made.unknown.append(what)


@functools.cache
def _audited() -> None:
    """Audits from now on, which cannot be undone."""
    sys.addaudithook(_audit)


def _opened(made: Noted, arguments: tuple[Any, ...]) -> None:
    path, flags = arguments[0], arguments[2] or 0
    if isinstance(path, int) or flags & (os.O_WRONLY | os.O_RDWR) or not os.path.isfile(path):
        made.unknown.append(f"the file {path}")
    else:
        made.files.add(os.path.abspath(os.fsdecode(path)))


def _unknown(what: str) -> Callable[[Noted, tuple[Any, ...]], None]:
    return lambda made, arguments: made.unknown.append(f"{what} {arguments[:1]}")


EVENTS: dict[str, Callable[[Noted, tuple[Any, ...]], None]] = {
    "open": _opened,
    **{event: _unknown(event) for event in ("os.listdir", "os.scandir", "os.system", "os.posix_spawn", "os.fork")},
    **{event: _unknown(event) for event in ("subprocess.Popen", "socket.connect", "sqlite3.connect", "mmap.__new__")},
}


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if is_tracer() and _noting and event in EVENTS and not _imports(sys._getframe(1)):
        for made in [*_noting]:
            EVENTS[event](made, arguments)


def _imports(frame: FrameType | None) -> bool:
    """Whether a module is imported; its files are known by themselves."""
    while frame:
        if frame.f_code.co_filename.startswith(IMPORTING):
            return True
        frame = frame.f_back
    return False
