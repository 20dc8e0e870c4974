"""The tape that is being recorded, and its runs."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext

import torch

from ingot.torch.base import metrics
from ingot.torch.base.replacements import is_tracer
from ingot.torch.lazy.memory import UNKNOWN, USAGE
from ingot.torch.lazy.programs import program_of
from ingot.torch.lazy.tape import Tape


class Recorder:
    """Holds the tape: one for the process, as autograd records from threads of its own."""

    def __init__(self) -> None:
        self.tape = Tape()
        self.lock = threading.RLock()

    def run(self) -> None:
        """Runs what is recorded, for all memory that is in use, and starts anew."""
        tape, self.tape = self.tape, Tape()
        results = tape.live()
        if not results:
            return
        before = USAGE.now
        for memory in results:
            memory.forget()
            memory.tape_id = UNKNOWN
        program = program_of(tape, results)
        with metrics.timed(metrics.EXECUTE):
            made = program.run(tape.inputs)
        for memory, data in zip(results, made, strict=True):
            layout = memory.layout
            if data.stride() != layout.stride:
                data = torch.empty_strided(layout.shape, layout.stride, dtype=layout.dtype).copy_(data)
            memory.fill(data)
        USAGE.note(before + sum(memory.layout.nbytes for memory in results) + program.arena_bytes)


RECORDER = Recorder()


def alone() -> AbstractContextManager[object]:
    """Holds the lock of threads that record or run, which a thread that traces a step does not wait for."""
    return nullcontext() if is_tracer() else RECORDER.lock


def run() -> None:
    """Runs what is recorded."""
    with alone():
        RECORDER.run()


def synchronize() -> None:
    """Runs what is recorded, and waits for it."""
    run()
