"""How long models of real size take to compile, and where: traced by `ingot.torch`, compiled by `ingot compile`.

A training step of each (forward, backward, optimizer) is traced, and its text compiled for this machine by one thread
on one processor, without values of weights: reading and writing these is the disk's time. *trace* is seconds of the
processor, in PyTorch's process; the others are as the compiler prints them, *own* their sum. Of several rounds the
quickest counts, as other work on the machine only adds.

    build/python/bin/python bench/compile_times.py [MODEL ...]
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

import torch
import transformers as hf
from torch_large import MODELS as LARGE
from torch_large import AdamW, Make, training_step, without_chance, words

import ingot.torch
from ingot import tool

TABLE = Path(__file__).parents[1] / "docs/compile_times.md"
HEAD = """# How long compiling takes

Training steps (forward, backward, optimizer) of models at real sizes, through PyTorch, made by
`bench/compile_times.py`, which says how. Seconds, on one core: to trace, in PyTorch's process; then ingot's own: the
passes, lowering and planning, machine code, and these together. More cores make machine code at once by `--jobs`.

"""
COLUMNS = ["model", "parameters", "ops", "kernels", "trace", "passes", "lower, plan", "code", "own", "measured"]
PHASES = ("passes", "lower", "code")

VIT = "ViT-B/16, 4 images"
MODELS: dict[str, Make] = {
    "GPT-2 124M, 4 x 64": (hf.GPT2LMHeadModel, hf.GPT2Config, AdamW, lambda: words(4, 64, 50257)),
    VIT: LARGE[VIT],
    "T5-small, 4 x 64": (
        hf.T5ForConditionalGeneration,
        lambda: hf.T5Config(decoder_start_token_id=0),
        AdamW,
        lambda: words(4, 64, 32128),
    ),
}


def traced(name: str) -> tuple[str, int, float]:
    """The text of a model's training step, its parameters, and the seconds that tracing took."""
    torch.manual_seed(0)
    kind, configure, make, batch_of = MODELS[name]
    model, batch = kind(without_chance(configure())).train(), batch_of()
    optimizer = make(model.parameters())
    program = ingot.torch.Program(model, optimizer)
    start = time.process_time()
    program.add("train_step", training_step(model, optimizer), (batch,))
    seconds = time.process_time() - start
    return program.texts["train_step"], sum(each.numel() for each in model.parameters()), seconds


def compiled(text: Path) -> tuple[int, dict[str, float]]:
    """How many kernels a program has, and the seconds of each phase of the compiler."""
    file = text.with_suffix(".ingot")
    said = tool.call("compile", text, "-o", file, "--target", "host", "--time-passes", "--jobs", 1)
    kernels = re.search(r"(\d+) kernels", said)
    times = re.findall(r"^ +([\d.]+) s  (\w+)", said, re.MULTILINE)
    if not kernels or [phase for _, phase in times] != [*PHASES]:
        raise RuntimeError(f"ingot compile --time-passes says:\n{said}")
    return int(kernels[1]), {phase: float(seconds) for seconds, phase in times}


def measured(name: str, rounds: int, folder: Path) -> list[str]:
    """A model's row."""
    text, parameters, trace = traced(name)
    file = folder / "train_step.mlir"
    file.write_text(text)
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(processors)[:1])
    runs = [compiled(file) for _ in range(rounds)]
    os.sched_setaffinity(0, processors)
    best = [min(times[phase] for _, times in runs) for phase in PHASES]
    return [
        *(name, f"{parameters / 1e6:.1f} M", str(text.count(" = ")), str(runs[0][0])),
        *(f"{each:.1f}" for each in (trace, *best, sum(best))),
        time.strftime("%-d %B %Y"),
    ]


def write(table: Path, new: Sequence[Sequence[str]]) -> None:
    """Puts rows into the table, in the order of MODELS."""
    old = table.read_text().splitlines() if table.exists() else []
    found = [line.strip("| ").split(" | ") for line in old if line.startswith("| ")][2:]
    rows = {cells[0]: [*cells] for cells in [*found, *new]}
    ordered = [rows[name] for name in MODELS if name in rows]
    lines = [f"| {' | '.join(cells)} |" for cells in (COLUMNS, ["---"] * len(COLUMNS), *ordered)]
    table.write_text(HEAD + "\n".join(lines) + "\n")


def main() -> None:
    """Measures, and writes the table after each model."""
    warnings.filterwarnings("ignore")
    hf.logging.set_verbosity_error()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", default=[*MODELS], help=f"of {'; '.join(MODELS)}")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is compiled; 5 by default")
    parser.add_argument("-o", "--output", type=Path, default=TABLE, help="docs/compile_times.md by default")
    options = parser.parse_args()
    for name in options.models:
        with tempfile.TemporaryDirectory() as folder:
            row = measured(name, options.rounds, Path(folder))
        write(options.output, [row])
        print(*row, sep=" | ", flush=True)


if __name__ == "__main__":
    main()
