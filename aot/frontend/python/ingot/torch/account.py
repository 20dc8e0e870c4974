"""Measures how a program is made, logs each part at the level INFO, and shows slow parts on a terminal."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ingot.torch.base import metrics
from ingot.torch.tracing.settings import without_collection

LOG = logging.getLogger("ingot.torch")
PATIENCE_S = 1.0  # what takes longer is shown on a terminal, and so often
CLEAR = "\r\033[K"  # a terminal's line


class Account:
    """One program of a step: why it was made, how many ops it has, and the seconds that each part of making it took."""

    def __init__(self, step: str, why: str) -> None:
        self.why, self.op_count, self.is_found = why, 0, False
        self.contents = ""  # what the program holds, reads and watches
        self.part = ""  # what was compared, if not all was
        self.seconds: dict[str, float] = {}
        self.step = step

    @property
    def whole_s(self) -> float:
        """The seconds of all parts."""
        return sum(self.seconds.values())

    @contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """Measures `what` is done, such as "tracing"; logs it once it is."""
        with _shown(f"{self.step}: {what}"), metrics.timed(metrics.OF_STEPS[what]), without_collection():
            began = time.perf_counter()
            yield
        took = time.perf_counter() - began
        self.seconds[what] = self.seconds.get(what, 0.0) + took
        LOG.info("%s: %s took %.2f s (%s)", self.step, what, took, self.why)
        if self.part:
            LOG.info("%s: %s", self.step, self.part)

    def __str__(self) -> str:
        """One line: why it was made, where from, the seconds, and what it holds."""
        came = "another process traced it" if self.is_found else f"{self.op_count} ops"
        took = ", ".join(f"{what} {seconds:.2f} s" for what, seconds in self.seconds.items())
        return "; ".join(filter(None, [self.why, came, took, self.part, self.contents]))


@contextmanager
def _shown(what: str) -> Iterator[None]:
    """Shows what is done, and for how long, if standard error is a terminal and it takes long."""
    terminal, is_over = sys.stderr, threading.Event()
    if terminal is None or not terminal.isatty():
        yield
        return

    def show() -> None:
        began = time.monotonic()
        while not is_over.wait(PATIENCE_S):
            terminal.write(f"{CLEAR}{what}, {time.monotonic() - began:.0f} s")
            terminal.flush()

    showing = threading.Thread(target=show, name="ingot: progress", daemon=True)
    showing.start()
    try:
        yield
    finally:
        is_over.set()
        showing.join()
        terminal.write(CLEAR)
        terminal.flush()
