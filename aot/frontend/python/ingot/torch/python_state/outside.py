"""Watches what a traced function reads and writes outside of Python: random bytes, clocks, files and logs.

A program does none of that. It is refused, or said once where the function may only log it.
"""

from __future__ import annotations

import builtins
import datetime
import dis
import functools
import io
import logging
import os
import random
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from types import CodeType, FrameType, FunctionType
from typing import Any

from ingot.stablehlo import Place
from ingot.torch.base.errors import TraceError
from ingot.torch.base.files import GENERATED, STANDARD_LIBRARY, is_users
from ingot.torch.base.places import place_in, short
from ingot.torch.base.replacements import calling_frame, noting, replaced
from ingot.torch.python_state.held import Variable
from ingot.torch.python_state.reach import codes, global_names, imported_names, users_functions

NOW = ("now", "utcnow", "today")  # of classes of dates, which are Python's own: what names them is looked for
DATES = (datetime, datetime.datetime, datetime.date)
CLOCKS = ("time", "monotonic", "perf_counter", "process_time", "thread_time")
# Functions of `time`, and with how many arguments at most they look at a clock.
TELLING = {
    **{name: 0 for clock in CLOCKS for name in (clock, f"{clock}_ns")},
    **{"gmtime": 0, "localtime": 0, "ctime": 0, "asctime": 0, "strftime": 1, "clock_gettime": 1, "clock_gettime_ns": 1},
}
ABOUT_FILES = (os.stat, os.lstat, os.access)  # by which os.path and pathlib ask whether there is one, and what it is
ENTROPY = ((os, "urandom"), (random, "_urandom"))
IMPORTING = "<frozen importlib"  # begins the file names of what imports modules
PRINTING = ((builtins, "print"), (logging.Logger, "handle"))
READ_BETWEEN = "pass what decides as an argument, or read it between steps"
PRINT_BETWEEN = "return what is to be printed, and print it between steps"
OPENING = ((builtins, "open"), (io, "open"), (os, "open"))
LISTING = ((os, "listdir"), (os, "scandir"))


@dataclass
class Looks:
    """Where a function looks outside of Python while it is traced."""

    said: set[str]  # places, in this trace or an earlier one, of which a warning was given
    places: list[Place] = field(default_factory=list)


@contextmanager
def watched_outside(modules: Iterable[dict[str, Any]], reached: Iterable[Any], looks: Looks) -> Iterator[None]:
    """Refuses random bytes and written files; says what is read or printed, where it is not said yet.

    `modules` are the user's global variables, `reached` what the function can reach.
    """
    for function in users_functions(reached):
        _say_dates(function, looks)
    substitutes = {
        getattr(time, name): functools.partial(_read_clock, getattr(time, name), most, looks)
        for name, most in TELLING.items()
    }
    substitutes |= {ask: functools.partial(_ask_about, ask, looks) for ask in ABOUT_FILES}
    with ExitStack() as undo:
        for original, substitute in substitutes.items():
            module = os if original in ABOUT_FILES else time
            undo.enter_context(replaced(module, original.__name__, substitute))
        for module, name in ENTROPY:
            undo.enter_context(replaced(module, name, functools.partial(_draw, getattr(module, name))))
        note_printing = functools.partial(_note_printing, looks)
        for owner, name in PRINTING:
            undo.enter_context(replaced(owner, name, noting(getattr(owner, name), note_printing)))
        for names in modules:
            for name, value in [(n, v) for n, v in names.items() if callable(v) and _is_substituted(v, substitutes)]:
                undo.enter_context(replaced(names, name, substitutes[value]))
        for module, name in LISTING:
            undo.enter_context(replaced(module, name, functools.partial(_list, getattr(module, name), looks)))
        for module, name in OPENING:
            undo.enter_context(replaced(module, name, functools.partial(_open, getattr(module, name), looks)))
        yield


def _is_substituted(value: Any, substitutes: dict[Any, Any]) -> bool:
    return type(value) is type(time.sleep) and value in substitutes


def _read_clock(clock: Callable[..., Any], most: int, looks: Looks, *args: Any) -> Any:
    frame = calling_frame()
    if len(args) <= most and is_users(frame.f_code.co_filename):
        _say(f"reads time.{clock.__name__}()", frame, looks)
    return clock(*args)


def _note_printing(looks: Looks) -> None:
    if frame := _asking(calling_frame()):
        _say("prints", frame, looks, PRINT_BETWEEN)


def _ask_about(ask: Callable[..., Any], looks: Looks, path: Any, *args: Any, **named: Any) -> Any:
    frame = _asking(calling_frame())
    if frame:
        _say(f"asks about {str(path)!r}", frame, looks)
    return ask(path, *args, **named)


def _draw(draw: Callable[[int], bytes], size: int) -> bytes:
    frame = _asking(calling_frame())
    if frame:
        what = "each call draws other random bytes of the operating system"
        raise TraceError(what, place_in(frame), "draw with torch, or pass what is drawn as an argument", 6)
    return draw(size)


def _list(list_: Callable[..., Any], looks: Looks, path: Any = ".") -> Any:
    if frame := _asking(calling_frame()):
        _say(f"reads {path!r}", frame, looks)
    return list_(path)


def _open(open_: Callable[..., Any], looks: Looks, *args: Any, **named: Any) -> Any:
    frame = _asking(calling_frame())
    path, mode = (*args, *(named[name] for name in ("file", "path", "flags", "mode") if name in named), "r")[:2]
    if frame and _writes(mode):
        what = f"writes {path!r}, which a program would not do again"
        raise TraceError(what, place_in(frame), "write between steps: return what is to be written", 6)
    if frame:
        _say(f"reads {path!r}", frame, looks)
    return open_(*args, **named)


def _writes(mode: str | int) -> bool:
    """Whether a file is opened to be written: by the letters of a mode, or by flags of the operating system."""
    return bool(mode & (os.O_WRONLY | os.O_RDWR)) if isinstance(mode, int) else not {*"wax+"}.isdisjoint(mode)


def _asking(frame: FrameType | None) -> FrameType | None:
    """The frame of the user's that asks, where nothing but Python's own library is between."""
    while frame and (file := frame.f_code.co_filename).startswith((STANDARD_LIBRARY, *GENERATED)):
        if file.startswith(IMPORTING) or file.endswith(("linecache.py", "traceback.py", "inspect.py")):
            return None
        if "-packages" in file:
            return None
        frame = frame.f_back
    return frame if frame and is_users(frame.f_code.co_filename) else None


def _say_dates(function: FunctionType, looks: Looks) -> None:
    """Says where a function asks for the time of day."""
    closed_over = [Variable(cell)() for cell in function.__closure__ or ()]
    for code in codes(function.__code__):
        held = [*map(function.__globals__.get, global_names(code)), *closed_over]
        if any(value is date for value in held for date in DATES) or "datetime" in imported_names(code):
            for line in _lines_that_read(code, NOW):
                _say_at("reads the time of day", Place(short(code.co_filename), line, ""), looks)


def _lines_that_read(code: CodeType, names: Iterable[str]) -> Iterator[int]:
    """The lines of code that read attributes by some names."""
    for instruction in dis.get_instructions(code):
        is_read = instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and instruction.argval in names
        if is_read and instruction.positions and instruction.positions.lineno:
            yield instruction.positions.lineno


def _say(what: str, frame: FrameType, looks: Looks, fix: str = READ_BETWEEN) -> None:
    _say_at(what, place_in(frame), looks, fix)


def _say_at(what: str, place: Place, looks: Looks, fix: str = READ_BETWEEN) -> None:
    looks.places.append(place)
    if str(place) not in looks.said:
        looks.said.add(str(place))
        warnings.warn(f"{place}: {what} while the function is traced, and a program never again; {fix}", stacklevel=2)
