"""Tracebacks of refusals: the user's frames, without those of this package, PyTorch and Python in between."""

from __future__ import annotations

import os
from types import TracebackType
from typing import TypeVar

from ingot._engine import Error
from ingot.torch.base.errors import Raised
from ingot.torch.base.files import is_users

WHOLE = "INGOT_TRACEBACK"  # a variable of the environment: "full" leaves all frames
OF_TRACER = "<string>", "<lambda>"  # file and name of a function that torch.fx writes around the user's
SomeError = TypeVar("SomeError", bound=Error)


def shortened(error: SomeError) -> SomeError:
    """The error with the user's frames alone; its cause is left out unless the user's code raised it."""
    if os.environ.get(WHOLE) == "full":
        return error
    cause = error.__cause__ if isinstance(error, Raised) else None
    error.__cause__ = cause and cause.with_traceback(_users(cause.__traceback__))
    return error.with_traceback(_users(error.__traceback__))


def _users(traceback: TracebackType | None) -> TracebackType | None:
    """The frames of a traceback that are the user's."""
    frames = []
    while traceback:
        code = traceback.tb_frame.f_code
        if is_users(code.co_filename) and (code.co_filename, code.co_name) != OF_TRACER:
            frames.append(traceback)
        traceback = traceback.tb_next
    made = None
    for step in reversed(frames):
        made = TracebackType(made, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return made
