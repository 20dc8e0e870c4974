"""The tape that is being recorded, and its runs."""

from __future__ import annotations

import atexit
import os
import threading
from contextlib import AbstractContextManager, nullcontext

import torch

from ingot.torch.base import metrics
from ingot.torch.base.replacements import is_tracer
from ingot.torch.lazy.memory import UNKNOWN, USAGE, Memory
from ingot.torch.lazy.programs import Execution, laid_out, program_of
from ingot.torch.lazy.tape import Tape
from ingot.torch.lazy.worker import Work, Worker


class Run:
    """A run of a tape, whose results are the bytes of memory."""

    def __init__(self, execution: Execution, results: list[Memory], used: int) -> None:
        """`used` is how many bytes are in use while it runs."""
        work, self._made = execution
        self.work, self._results, self._used = Work(work), results, used

    def finish(self) -> None:
        """Once it is done, gives the memory its bytes; raises what went wrong, after which it has none."""
        metrics.add(metrics.EXECUTE, self.work.seconds)
        for memory in self._results:
            memory.awaited = None
        if self.work.error:
            raise self.work.error
        with torch.inference_mode(False):  # whoever asks
            for memory, data in zip(self._results, self._made(), strict=True):
                layout = memory.layout
                memory.fill(data if data.stride() == layout.stride else laid_out(data, layout.stride))
        USAGE.peak = max(USAGE.peak, self._used)


class Recorder:
    """Holds the tape: one for the process, as autograd records from threads of its own.

    One run at a time may be on its way. Its inputs never change; its results are filled in by the thread that asks.
    """

    def __init__(self) -> None:
        self.tape = Tape()
        self.lock = threading.RLock()
        self._worker = Worker()
        self._running: Run | None = None

    def begin(self) -> None:
        """Begins to run what is recorded, for all memory that is in use; recording starts anew.

        Raises the error of the run before, if it had one that nobody has seen.
        """
        with alone():
            run = self._run()
            if run:
                self._worker.begin(run.work)

    def run(self) -> None:
        """Runs what is recorded, and waits for it."""
        with alone():
            run = self._run()
            if run:
                run.work.make()
            self.finish()

    def finish(self) -> None:
        """Waits for what runs; raises its error."""
        with alone():
            run = self._running
            if run:
                run.work.wait()
                self._running = None
                run.finish()

    def wait(self) -> None:
        """Waits until nothing reads inputs any more; raises nothing."""
        if self._running:
            self._running.work.wait()

    def _run(self) -> Run | None:
        tape, self.tape = self.tape, Tape(self.tape.next)
        results = tape.live()
        if not results:
            return None
        try:
            self.finish()
            inputs = [x.known() if isinstance(x, Memory) else x for x in tape.inputs]
        finally:
            used = USAGE.now
            numbers = [memory.number - tape.first for memory in results]
            for memory in results:
                memory.fill(None)
                memory.number = UNKNOWN
        program = program_of(tape, numbers, inputs)
        self._running = Run(program.on(inputs, tape.places), results, used + program.nbytes)
        for memory in results:
            memory.awaited = self.finish
        return self._running


RECORDER = Recorder()


def alone() -> AbstractContextManager[object]:
    """Holds the lock of threads that record or run, which a thread that traces a step does not wait for."""
    return nullcontext() if is_tracer() else RECORDER.lock


def _before_fork() -> None:
    RECORDER.lock.acquire()
    RECORDER.wait()


def _restart() -> None:
    """A forked process has one thread."""
    RECORDER.lock, RECORDER._worker = threading.RLock(), Worker()


metrics.BEFORE_READING.append(RECORDER.finish)
atexit.register(RECORDER.finish)
os.register_at_fork(before=_before_fork, after_in_parent=lambda: RECORDER.lock.release(), after_in_child=_restart)
