"""How long the first call of a function takes that `ingot.torch.compile` is given, and where the time goes.

Seconds are of the processor, of this process and of the compiler that it starts: other work on the machine changes them
less than the time that passes. Each row is of two processes: one that finds no bundle on disk, and the next, which has
one. A call traces the function, compiles what it traced (or finds the bundle), compares three steps with PyTorch's and
makes one; importing PyTorch and making the model come before. The models are those of the package's tests.

Rows of models that are not measured stay in the table as they are.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "aot/frontend/python"
TABLE = ROOT / "docs/torch_first_step.md"
HEAD = """# The first step in PyTorch's process

Seconds of the processor in a function's first call through `ingot.torch.compile`, made by `bench/torch_first_step.py`,
which says how: to trace, to compile, to compare three steps with PyTorch's, and all with the step itself, in a process
that compiles and in the next one, which finds the bundle. The later steps of a program take none of it.

| model | trace | compile | compare | all | found: trace | find | compare | all |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""
PHASES = ("trace", "compile", "compare", "all")


def seconds() -> float:
    """Of the processor, in this process and those that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def first_call(name: str) -> dict[str, float]:
    """Seconds of each phase of the first call, in this process."""
    warnings.filterwarnings("ignore")
    sys.path[:0] = [str(PACKAGE), str(PACKAGE / "tests")]
    import torch
    from models import MODELS

    import ingot.torch
    from ingot import cache
    from ingot.torch.compiled import Run
    from ingot.torch.program import Program

    took = dict.fromkeys(PHASES, 0.0)

    def timed(phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            start = seconds()
            try:
                return function(*args, **kwargs)
            finally:
                took[phase] += seconds() - start

        return call

    for owner, method, phase in ((Program, "add", "trace"), (cache, "compiled", "compile"), (Run, "verify", "compare")):
        setattr(owner, method, timed(phase, getattr(owner, method)))
    torch.set_num_threads(1)
    training = MODELS[name](torch.float32)
    step = ingot.torch.compile(training.step, training.model, training.optimizer)
    timed("all", step)(*(rows[0] for rows in training.batches))
    return took


def in_a_process(name: str, cache: str) -> dict[str, float]:
    """The same, in a process of its own that keeps bundles in a folder."""
    command = [sys.executable, __file__, "--first-call", name]
    printed = subprocess.run(
        command, env=os.environ | {"INGOT_CACHE": cache}, capture_output=True, text=True, check=True
    )
    took: dict[str, float] = json.loads(printed.stdout.splitlines()[-1])
    return took


def measured(name: str, rounds: int) -> list[float]:
    """Medians of each phase where the program is compiled, then where it is found."""
    times = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            compiled, found = in_a_process(name, cache), in_a_process(name, cache)
            times.append([*(compiled[phase] for phase in PHASES), *(found[phase] for phase in PHASES)])
    return [statistics.median(column) for column in zip(*times, strict=True)]


def write(table: Path, name: str, times: list[float]) -> None:
    """Puts a model's row into the table, in the place of the one that it had."""
    old = table.read_text().splitlines() if table.exists() else []
    rows = {row.split("`")[1]: row for row in old if row.startswith("| `")}
    rows[name] = f"| `{name}` | {' | '.join(f'{time:.2f}' for time in times)} |"
    table.write_text(HEAD + "\n".join(rows.values()) + "\n")


def main() -> None:
    """Measures, and writes the table after each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="MODEL", help="as docs/torch_models.md calls them")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured; 3 by default")
    parser.add_argument("-o", "--output", type=Path, default=TABLE, help="docs/torch_first_step.md by default")
    parser.add_argument("--first-call", action="store_true", help="prints the seconds of one model in this process")
    options = parser.parse_args()
    if options.first_call:
        print(json.dumps(first_call(options.models[0])))
        return
    for name in options.models:
        write(options.output, name, times := measured(name, options.rounds))
        print(name, *(f"{time:.2f}" for time in times), flush=True)


if __name__ == "__main__":
    main()
