"""How long the first call of a function takes that `ingot.torch.compile` is given.

Each number is of a process of its own: one that finds no bundle on disk, and one that finds it. The call traces,
compiles (or finds the bundle), compares three steps with PyTorch's and makes one; importing PyTorch and making the
model come before. The models are those of the package's tests.

Rows of models that are not measured stay in the table as they are.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "aot/frontend/python"
TABLE = ROOT / "docs/torch_first_step.md"
HEAD = """# The first step in PyTorch's process

Seconds of a function's first call through `ingot.torch.compile`, made by `bench/torch_first_step.py`, which says how:
in a process that compiles, and in the next one, which finds the bundle.

| model | compiled, s | found, s |
| --- | --- | --- |
"""


def first_call(name: str) -> float:
    """Seconds of the first call, in this process."""
    warnings.filterwarnings("ignore")
    sys.path[:0] = [str(PACKAGE), str(PACKAGE / "tests")]
    import torch
    from models import MODELS

    import ingot.torch

    torch.set_num_threads(1)
    training = MODELS[name](torch.float32)
    step = ingot.torch.compile(training.step, training.model, training.optimizer)
    start = time.perf_counter()
    step(*(rows[0] for rows in training.batches))
    return time.perf_counter() - start


def in_a_process(name: str, cache: str) -> float:
    """The same, in a process of its own that keeps bundles in a folder."""
    command = [sys.executable, __file__, "--first-call", name]
    printed = subprocess.run(
        command, env=os.environ | {"INGOT_CACHE": cache}, capture_output=True, text=True, check=True
    )
    return float(printed.stdout.split()[-1])


def measured(name: str, rounds: int) -> tuple[float, float]:
    """Medians of compiling and of finding what was compiled."""
    times = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            times.append((in_a_process(name, cache), in_a_process(name, cache)))
    compiled, found = zip(*times, strict=True)
    return statistics.median(compiled), statistics.median(found)


def write(table: Path, name: str, times: tuple[float, float]) -> None:
    """Puts a model's row into the table, in the place of the one that it had."""
    old = table.read_text().splitlines() if table.exists() else []
    rows = {row.split("`")[1]: row for row in old if row.startswith("| `")}
    rows[name] = f"| `{name}` | {times[0]:.2f} | {times[1]:.2f} |"
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
        print(first_call(options.models[0]))
        return
    for name in options.models:
        write(options.output, name, times := measured(name, options.rounds))
        print(f"{name}: compiled {times[0]:.2f} s, found {times[1]:.2f} s", flush=True)


if __name__ == "__main__":
    main()
