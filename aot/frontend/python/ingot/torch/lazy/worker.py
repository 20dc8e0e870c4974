"""A thread that runs programs, one after the other, while Python records what comes next."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import SimpleQueue


class Work:
    """A call that is made once: here, or by a worker."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call
        self._begun, self._done = threading.Lock(), threading.Lock()  # held until then
        self._begun.acquire()
        self._done.acquire()
        self.error: BaseException | None = None  # of the call
        self.seconds = 0.0  # that it took

    def make(self) -> None:
        """Makes the call."""
        self._begun.release()
        start = time.perf_counter()
        try:
            self._call()
        except BaseException as error:  # raised where the results are asked for
            self.error = error
        self.seconds = time.perf_counter() - start
        self._done.release()

    def wait_until_begun(self) -> None:
        """Waits until the call is on its way: it goes on without Python's lock, which this thread would have kept."""
        self._begun.acquire()

    def wait(self) -> None:
        """Waits until it is done."""
        with self._done:
            pass


class Worker:
    """A thread of this process, which is there once it is needed."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Work] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def begin(self, work: Work) -> None:
        """Begins a call after those before."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="ingot lazy tensors", daemon=True)
            self._thread.start()
        self._queue.put(work)
        work.wait_until_begun()

    def _serve(self) -> None:
        while True:
            self._queue.get().make()
