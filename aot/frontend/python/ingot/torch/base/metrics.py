"""Counts of this process, over all doors: traces, compilations and runs with their times, and ops that PyTorch ran.

Names and the report's format are PyTorch/XLA's.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

COMPILE, EXECUTE = "CompileTime", "ExecuteTime"  # metrics
# Of compiled steps, by what is done.
OF_STEPS = {"finding": "FindTime", "tracing": "TraceTime", "compiling": COMPILE, "comparing": "CompareTime"}
CACHED, UNCACHED, DRAWN = "CachedCompile", "UncachedCompile", "RandomDraw"  # counters
PERCENTILES = (1, 5, 10, 20, 50, 80, 90, 95, 99)
KEPT_SAMPLES = 1024
UNITS = (("h", 3600 * 10**6), ("m", 60 * 10**6), ("s", 10**6), ("ms", 10**3))  # in microseconds


@dataclass
class Metric:
    """Times, in microseconds: how many, their sum, and the last of them, each with the time at which it ended."""

    samples: int = 0
    total: float = 0.0
    last: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=KEPT_SAMPLES))

    def add(self, microseconds: float) -> None:
        """Adds one."""
        self.samples += 1
        self.total += microseconds
        self.last.append((time.perf_counter(), microseconds))

    def lines(self, name: str) -> list[str]:
        """The report on it."""
        values = sorted(value for _, value in self.last)
        seconds = max(self.last[-1][0] - self.last[0][0], 1e-6)
        of_value = ((share, values[share * len(values) // 100]) for share in PERCENTILES)
        return [
            f"Metric: {name}",
            f"  TotalSamples: {self.samples}",
            f"  Accumulator: {duration(self.total)}",
            f"  ValueRate: {duration(sum(values) / seconds)} / second",
            f"  Rate: {len(values) / seconds:g} / second",
            f"  Percentiles: {'; '.join(f'{share}%={duration(value)}' for share, value in of_value)}",
        ]


BEFORE_READING: list[Callable[[], None]] = []  # what is called before counts are given, to wait for what runs
METRICS: dict[str, Metric] = {}
COUNTERS: Counter[str] = Counter()


@contextmanager
def timed(name: str) -> Iterator[None]:
    """Adds the time that it takes to a metric."""
    start = time.perf_counter()
    yield
    add(name, time.perf_counter() - start)


def add(name: str, seconds: float) -> None:
    """Adds a time to a metric."""
    METRICS.setdefault(name, Metric()).add(seconds * 1e6)


def count(name: str) -> None:
    """Adds one to a counter."""
    COUNTERS[name] += 1


def samples(name: str) -> int:
    """How often a metric was taken."""
    _settle()
    return METRICS[name].samples if name in METRICS else 0


def counter(name: str) -> int:
    """What a counter has counted."""
    _settle()
    return COUNTERS[name]


def clear() -> None:
    """Starts anew."""
    _settle()
    METRICS.clear()
    COUNTERS.clear()


def report() -> str:
    """All metrics and counters, as PyTorch/XLA's ``metrics_report()`` prints them."""
    _settle()
    lines = [line for name in sorted(METRICS) for line in METRICS[name].lines(name)]
    for name in sorted(COUNTERS):
        lines += [f"Counter: {name}", f"  Value: {COUNTERS[name]}"]
    return "".join(f"{line}\n" for line in lines)


def _settle() -> None:
    for wait in BEFORE_READING:
        wait()


def duration(microseconds: float) -> str:
    """``04m22s555ms668.071us``, from the largest unit that there is."""
    text = ""
    for unit, size in UNITS:
        whole, microseconds = divmod(microseconds, size)
        if text or whole:
            text += f"{int(whole):0{3 if unit == 'ms' else 2}}{unit}"
    return f"{text}{microseconds:07.3f}us"
