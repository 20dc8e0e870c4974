"""Runs tasks in threads that Python switches between often."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager


@contextmanager
def switching(seconds: float) -> Iterator[None]:
    """Python switches threads after so many seconds."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(seconds)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def at_once(tasks: Sequence[Callable[[], object]]) -> None:
    """Runs each task in a thread of its own; raises the first error of one."""
    errors: list[BaseException] = []

    def work(task: Callable[[], object]) -> None:
        try:
            task()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(task,)) for task in tasks]
    with switching(1e-5):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]
