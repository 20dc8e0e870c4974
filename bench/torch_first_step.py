"""How long the first call of a function takes that `ingot.torch.compile` is given, and where; and later calls.

Seconds of first calls are of the processor, of this process and of the compilers that it starts: other work on the
machine changes them less than the time that passes. Each row is of two processes: one that finds nothing on disk, and
the next, which finds what that one traced and compiled. A call traces the function (or finds the trace), compiles what
it traced (or finds the bundle), compares three steps with PyTorch's (or one) and makes one; importing PyTorch and
making the model come before. Beside it stand the same first step in eager PyTorch, and with the model and the
optimizer's step given to torch.compile. The models are those of the package's tests.

Times of later calls are those that pass, on one processor, one by one. In turn with them are timed a loop that calls
nothing, and an op of PyTorch on as many bytes as the step holds, each as long as the median call: what the machine
itself does to a call, and to one whose data is to be in the caches. What a call does of its own it does in every process that
makes the same calls, and what the machine does to it does not come again at the same call: so the shortest that each
call took in several processes is the call's own time, and its spread the program's. What a call may do at times, and
that takes long, is counted as well: collections of garbage, faults of pages, and waits for anything. A quiet machine
is wanted.

Rows, and parts of rows, that are not measured stay in the tables as they are.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "aot/frontend/python"
TABLE = ROOT / "docs/torch_first_step.md"
HEAD = """# The first step in PyTorch's process, and those that follow

Made by `bench/torch_first_step.py`, which says how. Seconds of the processor in a function's first call through
`ingot.torch.compile`: to trace, to compile, to compare three steps with PyTorch's, and all with the step itself, in a
process that compiles and in the next one, which finds trace and bundle, where it can be shown that it would trace the
same, and compares one step. The later steps of a program take none of it. Beside
it, the first step in eager PyTorch, and through `torch.compile` in a process that compiles and in the next one.

"""
PHASES = ("trace", "compile", "compare", "all")
COLUMNS = ["model", *PHASES, "found: trace", "find", *PHASES[2:], "eager", "torch.compile", "found"]
LATER_HEAD = """
## Later steps

Microseconds that a call takes, one by one after the first: the median, and what one of a hundred exceeds. Beside their
ratio stand those of a loop that calls nothing and of an op of PyTorch on as many bytes as the step holds, each as long,
in turn with the calls: what the machine itself does to a call. The program's own ratio is of the shortest time that
each call took in five processes that make the same calls: what the machine does to one call it does not do to the same
call of each. Then what a call may do at times, in all calls of a process: collections of garbage, faults of pages, and
waits for anything.

"""
LATER_COLUMNS = [
    *("model", "calls", "median", "99 %", "ratio", "a bare loop's ratio", "an op's", "the program's own"),
    *("collections", "faults", "waits"),
]
INGOT, TORCH = "ingot", "torch"
PLACES = {INGOT: (0, 8), TORCH: (8, 11)}  # of a contestant's numbers in a row
PROCESSES = 5  # that make the same calls
TURNS = 100  # of a loop, to see how long one takes
Rows = dict[str, list[str]]


def seconds() -> float:
    """Of the processor, in this process and those that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def training_of(name: str) -> Any:
    """A model of the tests, its step and its batches."""
    warnings.filterwarnings("ignore")
    sys.path[:0] = [str(PACKAGE), str(PACKAGE / "tests")]
    import torch
    from models import MODELS

    torch.set_num_threads(1)
    return MODELS[name](torch.float32)


def first_call(name: str) -> dict[str, float]:
    """Seconds of each phase of the first call, in this process."""
    training = training_of(name)

    import ingot.torch
    from ingot import cache
    from ingot.torch.kept import Kept
    from ingot.torch.program import Program
    from ingot.torch.run import Run

    took = dict.fromkeys(PHASES, 0.0)

    def timed(phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            start = seconds()
            try:
                return function(*args, **kwargs)
            finally:
                took[phase] += seconds() - start

        return call

    phases = [(Program, "trace", "trace"), (cache, "compiled", "compile"), (Run, "compare", "compare")]
    phases += [(Kept, method, "trace") for method in ("__init__", "find", "keep")]
    for owner, method, phase in phases:
        setattr(owner, method, timed(phase, getattr(owner, method)))
    step = ingot.torch.compile(training.step, training.model, training.optimizer)
    timed("all", step)(*(rows[0] for rows in training.batches))
    return took


def first_call_in_torch(name: str, *, is_compiled: bool) -> dict[str, float]:
    """Seconds of the first call without ingot."""
    import torch

    training = training_of(name)
    if is_compiled:
        training.model.compile()
        training.optimizer.step = torch.compile(training.optimizer.step)
    start = seconds()
    training.step(*(rows[0] for rows in training.batches))
    return {"all": seconds() - start}


def later_calls(name: str, count: int) -> dict[str, Any]:
    """Microseconds of each call after the first, the ratios of what takes as long in turn, and what is counted."""
    training = training_of(name)

    import torch

    import ingot.torch

    arguments = [rows[0] for rows in training.batches]
    step = ingot.torch.compile(training.step, training.model, training.optimizer)
    step(*arguments)
    held = torch.ones(step.memory_bytes // 4)

    def call() -> Any:
        return step(*arguments)

    (alone,) = in_turn([call], max(9, count // 100))
    others = [as_long(lambda: None, median(alone)), as_long(lambda: held.add_(1), median(alone))]
    counted = [counts() for _ in range(2)][-1]  # what is counted for the first time is made for it
    (times,) = in_turn([call], count)
    of_calls = [after - before for before, after in zip(counted, counts(), strict=True)]
    ratios = [ratio(taken) for taken in in_turn([call, *others], count)]
    return {"times": times, "ratios": ratios, "counts": of_calls}


def later_row(processes: list[dict[str, Any]]) -> list[str]:
    """What a row of the second table says, of processes that made the same calls."""
    times, ratios, counted = ([took[what] for took in processes] for what in ("times", "ratios", "counts"))
    own = [min(taken) for taken in zip(*times, strict=True)]
    typical = [statistics.median(column) for column in zip(*ratios, strict=True)]
    microseconds = [statistics.median(one(taken) for taken in times) for one in (median, exceeded_by_one_of_a_hundred)]
    cells = [f"{len(own):,}", *(f"{time:.1f}" for time in microseconds)]
    return [*cells, *(f"{one:.2f}" for one in (*typical, ratio(own))), *map(str, map(max, zip(*counted, strict=True)))]


def counts() -> list[int]:
    """How often the thread collected garbage, had a page made, and waited."""
    used = resource.getrusage(resource.RUSAGE_THREAD)
    return [sum(kind["collections"] for kind in gc.get_stats()), used.ru_minflt, used.ru_nvcsw]


def as_long(call: Callable[[], Any], microseconds: float) -> Callable[[], Any]:
    """Calls something as often as takes a time, once at least."""

    def calls(turns: int) -> None:
        for _ in range(turns):
            call()

    (taken,) = in_turn([lambda: calls(TURNS)], 9)
    turns = max(1, round(TURNS * microseconds / median(taken)))
    return lambda: calls(turns)


def in_turn(calls: list[Callable[[], Any]], count: int) -> list[list[float]]:
    """Microseconds of each of some calls, made one after the other."""
    clock = time.perf_counter_ns
    times = [[0] * count for _ in calls]
    for i in range(count):
        for call, taken in zip(calls, times, strict=True):
            start = clock()
            call()
            taken[i] = clock() - start
    return [[nanoseconds / 1e3 for nanoseconds in taken] for taken in times]


def median(times: list[float]) -> float:
    """Of times, one that was measured."""
    return sorted(times)[len(times) // 2]


def exceeded_by_one_of_a_hundred(times: list[float]) -> float:
    """Of times."""
    return sorted(times)[len(times) * 99 // 100]


def ratio(times: list[float]) -> float:
    """Of what one of a hundred exceeds to the median."""
    return exceeded_by_one_of_a_hundred(times) / median(times)


def in_a_process(what: str, name: str, cache: str, *more: str) -> dict[str, Any]:
    """One of these, in a process of its own that keeps what it compiles in a folder."""
    environment = os.environ | {"INGOT_CACHE": cache, "TORCHINDUCTOR_CACHE_DIR": cache}
    environment |= {"TORCHINDUCTOR_COMPILE_THREADS": "1"}  # in processes that are waited for
    command = [sys.executable, __file__, "--in-this-process", what, name, *more]
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    took: dict[str, Any] = json.loads(printed.stdout.splitlines()[-1])
    return took


def measured(contestant: str, name: str) -> list[float]:
    """What a contestant's part of a row says, of two processes in a row."""
    with tempfile.TemporaryDirectory() as cache:
        if contestant == INGOT:
            processes = [in_a_process(INGOT, name, cache) for _ in range(2)]
            return [took[phase] for took in processes for phase in PHASES]
        return [in_a_process(what, name, cache)["all"] for what in ("eager", "compile", "compile")]


def written(head: str, columns: list[str], rows: Rows) -> str:
    """A table."""
    lines = [columns, ["---"] * len(columns), *([f"`{name}`", *cells] for name, cells in rows.items())]
    return head + "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def read(table: Path) -> tuple[Rows, Rows]:
    """The rows of both tables."""
    text = table.read_text() if table.exists() else ""
    found: list[Rows] = []
    for part in (*text.split("\n## "), "", "")[:2]:
        lines = [line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("| `")]
        found.append({cells[0].strip("`"): cells[1:] for cells in lines})
    return found[0], found[1]


def main() -> None:
    """Measures, and writes the tables after each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL", help="as docs/torch_models.md calls them")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured; 3 by default")
    parser.add_argument("--contestant", choices=[INGOT, TORCH], default=INGOT, help="which part of the rows; ingot's")
    parser.add_argument("--later", type=int, metavar="N", help="measures N calls after the first instead")
    parser.add_argument("-o", "--output", type=Path, default=TABLE, help="docs/torch_first_step.md by default")
    parser.add_argument("--in-this-process", metavar="WHAT", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.in_this_process:
        name, what = options.models[0], options.in_this_process
        took: dict[str, Any]
        if options.later:
            took = later_calls(name, options.later)
        elif what == INGOT:
            took = first_call(name)
        else:
            took = first_call_in_torch(name, is_compiled=what == "compile")
        print(json.dumps(took))
        return
    for name in options.models:
        first, later = read(options.output)
        if options.later:
            with tempfile.TemporaryDirectory() as cache:
                calls = ("--later", str(options.later))
                later[name] = later_row([in_a_process(INGOT, name, cache, *calls) for _ in range(PROCESSES)])
        else:
            rounds = [measured(options.contestant, name) for _ in range(options.rounds)]
            start, end = PLACES[options.contestant]
            row = first.setdefault(name, [""] * (len(COLUMNS) - 1))
            row += [""] * (len(COLUMNS) - 1 - len(row))
            row[start:end] = [f"{statistics.median(column):.2f}" for column in zip(*rounds, strict=True)]
        options.output.write_text(written(HEAD, COLUMNS, first) + written(LATER_HEAD, LATER_COLUMNS, later))
        print(name, *(later[name] if options.later else first[name]), flush=True)


if __name__ == "__main__":
    main()
