"""Random numbers of Python's and NumPy's own generators, which every thread of the process draws from.

Both calls of a step that is traced must leave a generator as it was. Where it has moved, and there are other threads,
this tells whose draws they were: what this thread calls by the names of `random` and `numpy.random` is noted.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from ingot.torch.base.replacements import replaced

GENERATORS: dict[str, Any] = {
    "random": random.random.__self__,  # type: ignore[attr-defined]
    "numpy.random": np.random.rand.__self__,  # type: ignore[attr-defined]
}
MODULES = {"random": random, "numpy.random": np.random}
READING = ("getstate", "get_state")

_drawn: set[str] = set()  # from which generators the last trace drew


@contextmanager
def noted_draws() -> Iterator[None]:
    """Notes from which generators this thread draws."""
    _drawn.clear()
    with ExitStack() as undo:
        for path, module in MODULES.items():
            for name, value in [*vars(module).items()]:
                if getattr(value, "__self__", None) is GENERATORS[path] and name not in READING:
                    undo.enter_context(replaced(module, name, _noting(path, value)))
        yield


def _noting(path: str, method: Callable[..., Any]) -> Callable[..., Any]:
    def draw(*args: Any, **kwargs: Any) -> Any:
        _drawn.add(path)
        return method(*args, **kwargs)

    return draw


def are_others(path: str) -> bool:
    """Whether draws from the generator at a path are those of other threads."""
    return path in GENERATORS and path not in _drawn and threading.active_count() > 1


def put_back(generator: Any, write: Callable[[Any], None], was: Any) -> None:
    """Puts a generator back, but not where other threads draw from it: they would draw the same again."""
    if not any(generator is own and are_others(path) for path, own in GENERATORS.items()):
        write(was)
