"""Judges cases in a process of its own, which is started anew when it crashes or hangs."""

from __future__ import annotations

import logging
import multiprocessing
import os
import time
import warnings
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

import torch

from .databases import Case
from .excused import excuse
from .verdict import Verdict, first_line, verdicts

SPAWN = multiprocessing.get_context("spawn")  # nothing that the caller did or changed is in a new process


class Worker:
    """Gives verdicts of cases; a sample may take `sample_seconds` until the process that runs it is ended."""

    def __init__(self, verify: bool, sample_seconds: float) -> None:
        self._verify, self._sample_seconds = verify, sample_seconds
        self._process: Any = None
        self._pipe: Any = None

    def verdicts(self, case: Case, deadline: float) -> Iterator[Verdict]:
        """A case's verdicts as they come, until a time of the monotonic clock."""
        index, alone = 0, False
        while time.monotonic() < deadline:
            verdict = self._ask((case, index, alone))
            while isinstance(verdict, Verdict):
                yield verdict
                index = verdict.index + verdict.count
                if time.monotonic() >= deadline:
                    self.close()
                    return
                verdict = self._answer()
            if verdict is None:
                return
            if alone:  # the sample at `index` ended the process
                yield Verdict(index, 1, "raw", verdict)
                index += 1
            alone = True

    def close(self) -> None:
        """Ends the process, if there is one."""
        if self._process:
            self._process.kill()
            self._process.join()
            self._process = None

    def _ask(self, what: Any) -> Verdict | str | None:
        if not self._process:
            self._pipe, theirs = SPAWN.Pipe()
            self._process = SPAWN.Process(target=_serve, args=(theirs, self._verify), daemon=True)
            self._process.start()
            theirs.close()
            self._pipe.recv()  # when it has imported PyTorch
        self._pipe.send(what)
        return self._answer()

    def _answer(self) -> Verdict | str | None:
        """A verdict, None at the end of a case, or how the process ended."""
        try:
            if self._pipe.poll(self._sample_seconds):
                answer: Verdict | None = self._pipe.recv()
                return answer
            ended = f"no answer in {self._sample_seconds:.0f} s"
        except EOFError:
            self._process.join()
            ended = f"the process ended with {self._process.exitcode}"
        self.close()
        return ended


def _serve(pipe: Connection, verify: bool) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1), os.dup2(nowhere, 2)
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    pipe.send(None)
    while True:
        case, first, alone = pipe.recv()
        try:
            samples = case.samples(verify)
        except Exception as error:
            pipe.send(Verdict(0, 1, "n/a", f"samples: {first_line(error)}"))
            samples = []
        for verdict in verdicts(samples, excuse(case.name, case.dtype), first, alone):
            pipe.send(verdict)
        pipe.send(None)
