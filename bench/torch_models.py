"""Training steps of whole models: a bundle beside eager PyTorch and torch.compile, on the same batches.

The models are those of the package's tests (aot/frontend/python/tests/models). For each, and for each number of
threads, every contestant runs for a while in turn, round after round, so that what else the machine does touches all
alike; a number of the table is the median over rounds of the median step.

Memory is state, of parameters, buffers and optimizer's slots, and what a step needs beyond it; the batch is not
counted. For a bundle that is the arena and scratch of one thread, which are fixed. For PyTorch it is the peak that the
allocator reaches within an eager step, from the events of torch.profiler: they also tell what kernels allocate for
themselves, which a count of living tensors would miss. oneDNN's own pool does not go through the allocator and is left
out.

Rows of models that are not measured stay in the table as they are.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import torch

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "aot/frontend/python"
sys.path[:0] = [str(PACKAGE), str(PACKAGE / "tests")]

from agreement import Make, Training, agreement, rows_by_input, run_eager, traced  # noqa: E402
from bundle import Bundle  # noqa: E402
from models import MODELS  # noqa: E402
from tool import call  # noqa: E402

from ingot.judge import Agreement  # noqa: E402
from ingot.torch.tracing.state import State  # noqa: E402

TABLE = ROOT / "docs/torch_models.md"
MEGABYTE = 1e6

# Runs training steps for at least some seconds with some threads; gives the median step's milliseconds.
Contestant: TypeAlias = Callable[[int, float], float]
Times: TypeAlias = dict[str, dict[int, float]]  # contestant -> threads -> ms


@dataclass
class Measured:
    """What the table says of a model."""

    name: str
    training: Training
    losses: list[float]
    bundle_losses: list[float]
    agreement: Agreement
    times: Times
    compile_s: float
    bundle_bytes: int
    torch_bytes: int


def eager(training: Training) -> Contestant:
    """PyTorch, op by op."""
    batches = itertools.cycle(list(zip(*training.batches, strict=True)))

    def run(threads: int, seconds: float) -> float:
        torch.set_num_threads(threads)
        times: list[float] = []
        end = time.perf_counter() + seconds
        while len(times) < 3 or time.perf_counter() < end:
            batch = next(batches)
            start = time.perf_counter()
            training.step(*batch).item()
            times.append(1e3 * (time.perf_counter() - start))
        return statistics.median(times)

    return run


def compiled(training: Training) -> Contestant:
    """PyTorch with the model, its gradient and the optimizer's step compiled by inductor."""
    torch._dynamo.reset()
    training.model.compile()
    training.optimizer.step = torch.compile(training.optimizer.step)
    run = eager(training)
    run(1, 0)
    return run


def benchmark(bundle: Bundle, threads: int, seconds: float) -> dict[str, float]:
    """What `ingot bench` says of the batches that the bundle was trained with."""
    text = call(
        *("bench", bundle.folder / "bundle.ingot", "train_step", "--json"),
        *("--data", bundle.folder / "batches.safetensors", "--threads", threads, "--seconds", seconds),
    )
    report: dict[str, float] = json.loads(text)
    return report


def peak_bytes(training: Training) -> int:
    """PyTorch's state and the most that an eager step holds beyond it."""
    batch = [rows[0] for rows in training.batches]
    training.step(*batch)
    training.optimizer.zero_grad()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profiler:
        training.step(*batch)
    results = profiler.profiler.kineto_results
    changes = sorted((e.start_ns(), e.nbytes()) for e in results.events() if e.name() == "[memory]")
    assert changes, "the profiler saw no memory"
    state = State({"": training.model}, {"optimizer": training.optimizer}).tensors.values()
    peak: int = max(itertools.accumulate(size for _, size in changes))
    return sum(int(tensor.nbytes) for tensor in state) + peak


def rounds(contestants: dict[str, Contestant], threads: Sequence[int], count: int, seconds: float) -> Times:
    """Medians over rounds in which all take turns."""
    seen: dict[tuple[str, int], list[float]] = {(name, n): [] for name in contestants for n in threads}
    for _ in range(count):
        for n in threads:
            for name, run in contestants.items():
                seen[name, n].append(run(n, seconds))
    return {name: {n: statistics.median(seen[name, n]) for n in threads} for name in contestants}


def measured(name: str, make: Make, options: argparse.Namespace, folder: Path) -> Measured:
    """Everything of one model."""
    torch.set_num_threads(1)
    agrees = agreement(make, folder / "judged")
    training = make(torch.float32)
    program = traced(training)
    bundle = Bundle(program, folder / "measured")
    log, _ = bundle.train(rows_by_input(training, program))
    contestants: dict[str, Contestant] = {
        "ingot": lambda threads, seconds: benchmark(bundle, threads, seconds)["step_ms"],
        "eager": eager(make(torch.float32)),
    }
    if options.compile:
        try:
            contestants["compile"] = compiled(make(torch.float32))
        except Exception as error:
            print(f"{name}: torch.compile fails: {type(error).__name__}: {error}", file=sys.stderr)
    memory = benchmark(bundle, 1, 0)
    return Measured(
        name,
        training,
        run_eager(make, torch.float32)[0],
        [row["loss"] for row in log],
        agrees,
        rounds(contestants, options.threads, options.rounds, options.seconds),
        bundle.compile_s,
        sum(int(memory[part]) for part in ("arena_bytes", "scratch_bytes", "state_bytes")),
        peak_bytes(make(torch.float32)),
    )


HEAD = """# PyTorch's models in ingot

Whole training steps of small models (2,000 to 270,000 parameters), traced and compiled, beside PyTorch itself: made by
`bench/torch_models.py`, which says how. *Agreement* is how far losses and last state are from PyTorch's, in units of
what is allowed: three times what rounding does to PyTorch (`aot/frontend/python/tests/agreement.py`); up to 1 agrees.

"""
CONTESTANTS = ("ingot", "eager", "compile")


def columns(threads: Sequence[int]) -> list[str]:
    """The table's heads."""
    times = [f"{n} thread{'s' * (n > 1)}, ms/step: {' / '.join(CONTESTANTS)}" for n in threads]
    return [
        *("model", "parameters", "optimizer", "loss in PyTorch", "loss in ingot", "agreement"),
        *(*times, "ingot compile, s", "memory, MB: ingot / PyTorch"),
    ]


def row(found: Measured, threads: Sequence[int]) -> list[str]:
    """A model's line."""
    training = found.training
    optimizer = type(training.optimizer).__name__ + (", scheduled" if training.rates is not None else "")
    first_last = [f"{losses[0]:.5f} → {losses[-1]:.5f}" for losses in (found.losses, found.bundle_losses)]
    times = [
        " / ".join(f"{found.times[name][n]:.2f}" if name in found.times else "-" for name in CONTESTANTS)
        for n in threads
    ]
    return [
        f"`{found.name}`",
        f"{sum(parameter.numel() for parameter in training.model.parameters()):,}",
        optimizer,
        *first_last,
        f"{max(found.agreement.losses, found.agreement.state):.2f}",
        *times,
        f"{found.compile_s:.1f}",
        f"{found.bundle_bytes / MEGABYTE:.2f} / {found.torch_bytes / MEGABYTE:.2f}",
    ]


def line(cells: Sequence[str]) -> str:
    """A line of a table."""
    return f"| {' | '.join(cells)} |"


def write(table: Path, found: Sequence[Measured], threads: Sequence[int]) -> None:
    """Puts rows into the table, in the order of MODELS."""
    heads = line(columns(threads))
    old = table.read_text().splitlines() if table.exists() else []
    lines = {text.split("`")[1]: text for text in old if text.startswith("| `")} if heads in old else {}
    lines |= {model.name: line(row(model, threads)) for model in found}
    rows = [lines[name] for name in MODELS if name in lines]
    where = f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, PyTorch {torch.__version__}"
    marks = line(["---"] * len(columns(threads)))
    table.write_text(HEAD + "\n".join([heads, marks, *rows]) + f"\n\nLast measured on {where}.\n")


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"of {', '.join(MODELS)}; all by default")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="numbers of threads; 1 2 by default")
    parser.add_argument("--rounds", type=int, default=5, help="how often each contestant has its turn; 5 by default")
    parser.add_argument("--seconds", type=float, default=1, help="how long a turn lasts at least; 1 by default")
    parser.add_argument("--no-compile", dest="compile", action="store_false", help="leave torch.compile out")
    parser.add_argument("-o", "--output", type=Path, default=TABLE, help="the table; docs/torch_models.md by default")
    options = parser.parse_args()
    if unknown := set(options.models) - set(MODELS):
        parser.error(f"no model is called {', '.join(sorted(unknown))}")
    return options


def main() -> None:
    """Measures, and writes the table after each model."""
    warnings.filterwarnings("ignore")
    options = parsed()
    found = []
    for name in options.models or MODELS:
        with tempfile.TemporaryDirectory() as folder:
            found.append(measured(name, MODELS[name], options, Path(folder)))
        write(options.output, found, options.threads)
        print(line(row(found[-1], options.threads)), flush=True)


if __name__ == "__main__":
    main()
