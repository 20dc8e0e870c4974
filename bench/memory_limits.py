"""Milliseconds of a training step at several memory limits, beside its memory: a table and a picture in docs/.

Each model is traced once and compiled without a limit, and at shares of what it takes then: kernels run again, and
where that does not suffice the batch is computed in parts. The programs take turns, round after round, so that what
else the machine does touches all alike; a number of the table is the median over rounds.

    build/python/bin/python bench/memory_limits.py [--rounds 5] [--seconds 1]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import transformers as hf

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "aot/frontend/python"
sys.path[:0] = [str(PACKAGE), str(PACKAGE / "tests")]

from tool import call  # noqa: E402
from torch_large import Batch, training_step  # noqa: E402

import ingot.torch  # noqa: E402

TABLE, PICTURE = ROOT / "docs/memory_limits.md", ROOT / "docs/memory_limits.svg"
SHARES = (0.8, 0.65, 0.5, 0.4, 0.3, 0.2)  # of what a step takes without a limit
MIB = 1 << 20


def pictures() -> Batch:
    """CIFAR's, for ResNet-20."""
    return {"pixel_values": torch.randn(64, 3, 32, 32), "labels": torch.randint(0, 10, (64,))}


def letters() -> Batch:
    """Lines of text."""
    ids = torch.randint(0, 65, (16, 128))
    return {"input_ids": ids, "labels": ids}


def sentences() -> Batch:
    """Sentences of two kinds."""
    return {"input_ids": torch.randint(0, 5000, (16, 128)), "labels": torch.randint(0, 2, (16,))}


MODELS: dict[str, tuple[Any, Callable[[], Any], Callable[[], Batch]]] = {
    "ResNet-20, 64 images of 32": (
        hf.ResNetForImageClassification,
        lambda: hf.ResNetConfig(
            layer_type="basic", embedding_size=16, depths=[3, 3, 3], hidden_sizes=[16, 32, 64], num_labels=10
        ),
        pictures,
    ),
    "GPT of 4 x 128, 16 x 128 letters": (
        hf.GPT2LMHeadModel,
        lambda: hf.GPT2Config(n_layer=4, n_embd=128, n_head=4, vocab_size=65, n_positions=128),
        letters,
    ),
    "BERT of 4 x 256, 16 x 128 words": (
        hf.BertForSequenceClassification,
        lambda: hf.BertConfig(
            num_hidden_layers=4, hidden_size=256, num_attention_heads=4, intermediate_size=1024, vocab_size=5000
        ),
        sentences,
    ),
}


@dataclass
class Compiled:
    """A model's step at one limit."""

    limit: str
    file: Path
    entry: dict[str, Any]
    ms: list[float] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        """Arena, and the scratch of one thread."""
        return int(self.entry["arena_bytes"] + self.entry["scratch_bytes"])


def save(name: str, folder: Path) -> None:
    """The training step of a model, as programs."""
    make, configuration, batch = MODELS[name]
    torch.manual_seed(0)
    model = make(configuration())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    program = ingot.torch.Program(model, optimizer)
    program.add("train_step", training_step(model, optimizer), (batch(),))
    program.save(folder)


def compiled(folder: Path, limit: str, *options: str) -> Compiled | None:
    """The step under a limit; None where none is reached."""
    file = folder / f"{limit}.ingot"
    try:
        report = json.loads(call("compile", folder, "-o", file, "--target", "host", "--json", *options))
    except RuntimeError as error:
        assert "--memory-limit" in str(error), error
        return None
    return Compiled(limit, file, report["targets"][0]["entries"][0])


def at_limits(name: str, folder: Path) -> list[Compiled]:
    """The step without a limit, and at all that are reached."""
    save(name, folder)
    whole = compiled(folder, "none")
    assert whole
    steps = [whole]
    for share in SHARES:
        limit = ("--memory-limit", str(int(share * whole.bytes)))
        step = compiled(folder, f"{share:.0%}", *limit) or compiled(
            folder, f"{share:.0%}", *limit, "--micro-batches", "auto"
        )
        steps += [step] if step else []
    return steps


def measure(steps: Sequence[Compiled], rounds: int, seconds: float) -> None:
    """Runs all in turn."""
    for _ in range(rounds):
        for step in steps:
            report = json.loads(call("bench", step.file, "train_step", "--json", "--seconds", seconds))
            step.ms.append(report["step_ms"])


def times_more(steps: Sequence[Compiled], step: Compiled) -> float:
    """The median over rounds of a step's time, by that without a limit."""
    return statistics.median(mine / whole for mine, whole in zip(step.ms, steps[0].ms, strict=True))


def rows(name: str, steps: Sequence[Compiled]) -> list[str]:
    """The lines of a model."""
    lines = []
    for step in steps:
        cells = [
            name if step is steps[0] else "",
            step.limit,
            f"{step.bytes / MIB:.1f}",
            str(step.entry.get("kernels_run_again", "")),
            str(step.entry.get("micro_batches", "")),
            f"{statistics.median(step.ms):.1f}",
            f"{times_more(steps, step):.2f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def picture(models: dict[str, list[Compiled]]) -> str:
    """Time over memory, both by those without a limit: a line for each model, hollow where the batch is in parts."""
    width, height, left, top = 560, 300, 60, 20
    most = max(times_more(steps, step) for steps in models.values() for step in steps)
    end = max(1.5, most) + 0.05

    def at(x: float, y: float) -> tuple[float, float]:
        return left + x * width, top + (end - y) / (end - 0.9) * height

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 30} {top + height + 110}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for tenth in range(2, 11, 2):
        x, y = at(tenth / 10, 0.9)
        parts.append(f'<path d="M{x:.0f} {top}V{y:.0f}" stroke="#ddd"/>')
        parts.append(f'<text x="{x:.0f}" y="{y + 16:.0f}" text-anchor="middle">{10 * tenth} %</text>')
    for tenth in range(10, int(10 * end) + 1, 2 if end < 3 else 10):
        x, y = at(0, tenth / 10)
        parts.append(f'<path d="M{x:.0f} {y:.1f}h{width}" stroke="#ddd"/>')
        parts.append(f'<text x="{x - 8:.0f}" y="{y + 4:.0f}" text-anchor="end">{tenth / 10:.1f}</text>')
    x, y = at(0.5, 0.9)
    parts.append(f'<text x="{x:.0f}" y="{y + 36:.0f}" text-anchor="middle">memory, of that without a limit</text>')
    parts.append(f'<text x="{left}" y="{top - 6}">time, of that without a limit</text>')
    for number, (name, steps) in enumerate(models.items()):
        color = ("#1f77b4", "#d62728", "#2ca02c")[number]
        points = [at(step.bytes / steps[0].bytes, times_more(steps, step)) for step in steps]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"/>')
        for (x, y), step in zip(points, steps, strict=True):
            fill = "white" if "micro_batches" in step.entry else color
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{fill}" stroke="{color}" stroke-width="2"/>')
        y = top + height + 56 + 18 * number
        parts.append(
            f'<circle cx="{left}" cy="{y}" r="4" fill="{color}"/><text x="{left + 12}" y="{y + 4}">{name}</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


HEAD = """# Time at memory limits

Training steps with AdamW at shares of what arena and scratch of one thread take without a limit, by one thread: made by
`bench/memory_limits.py`, which says how. Limits are kept by kernels that run again, to the same bits, or else by as few
[parts of the batch](memory.md#the-batch-in-parts) as they need; those that are not reached have no line.

![time over memory](memory_limits.svg)

| model | limit | MiB | kernels that run again | parts of the batch | ms | time, of that without a limit |
|---|---|---|---|---|---|---|
"""


def main() -> None:
    """Measures, and writes the table and the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="how often each program has its turn; 5 by default")
    parser.add_argument("--seconds", type=float, default=1, help="how long a turn lasts at least; 1 by default")
    options = parser.parse_args()
    models: dict[str, list[Compiled]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate(MODELS):
            models[name] = at_limits(name, Path(folder) / str(number))
        for steps in models.values():
            measure(steps, options.rounds, options.seconds)
    lines = [line for name, steps in models.items() for line in rows(name, steps)]
    where = f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, PyTorch {torch.__version__}"
    TABLE.write_text(HEAD + "\n".join(lines) + f"\n\nLast measured on {where}, {time.strftime('%B %Y')}.\n")
    PICTURE.write_text(picture(models))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
