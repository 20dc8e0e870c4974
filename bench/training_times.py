"""A picture of how many times as long training steps take in PyTorch and JAX as in ingot: docs/training_times.svg.

It reads the lines of measurements, JSON objects of one contestant's run each: `peer` (torch, jax, ingot), `mode`
(eager, compile, jit; of ingot, the door), `workload`, `threads`, `round` and `median_ms`. Round 0, in which programs
are compiled, does not count; what is drawn is the median over rounds of a peer, by that of ingot's better door.

    build/python/bin/python bench/training_times.py one_thread.jsonl two_threads.jsonl --machine "Zen 5, 2 cores"
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs/training_times.svg"
WORKLOADS = {
    "tiny": "perceptron, one row",
    "mlp": "perceptron, 128 rows",
    "cnn": "two convolutions",
    "resnet20": "ResNet-20",
    "chargpt": "transformer over characters",
    "vit": "vision transformer",
    "lstm": "LSTM",
    "dlrm": "DLRM",
    "gpt2": "GPT-2, 124 M",
}
# What a peer is called, and how it is drawn: colour, and whether the mark is filled.
PEERS = {
    ("torch", "eager"): ("PyTorch", "#d62728", True),
    ("torch", "compile"): ("torch.compile", "#d62728", False),
    ("jax", "jit"): ("JAX, jit", "#1f77b4", True),
}
LEFT, PANEL, GAP, TOP, ROW = 200, 300, 40, 60, 26
TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500)

Run = tuple[str, str, str, int]  # peer, mode, workload, threads


def medians(files: Iterable[Path]) -> dict[Run, float]:
    """Milliseconds of each contestant's step, the median over its rounds."""
    times = defaultdict(list)
    for file in files:
        for line in map(json.loads, file.read_text().splitlines()):
            if line.get("round", 0) not in (0, "before", "after") and "median_ms" in line:
                times[line["peer"], line["mode"], line["workload"], line["threads"]].append(line["median_ms"])
    return {run: statistics.median(laps) for run, laps in times.items()}


def better_door(times: Mapping[Run, float], workload: str, threads: int) -> float | None:
    """The time of ingot by whichever door is faster; None where it was not measured."""
    doors = [ms for (peer, _, name, count), ms in times.items() if (peer, name, count) == ("ingot", workload, threads)]
    return min(doors, default=None)


def panel(times: Mapping[Run, float], threads: int, left: float) -> list[str]:
    """Marks of all peers with so many threads, on an axis of times by ingot's."""

    def at(times_more: float) -> float:
        return left + PANEL * math.log(times_more / 0.8) / math.log(TICKS[-1] / 0.8)

    bottom = TOP + ROW * len(WORKLOADS)
    title = "one thread" if threads == 1 else f"{threads} threads"
    parts = [f'<text x="{left + PANEL / 2:.0f}" y="{TOP - 14}" text-anchor="middle">{title}</text>']
    for tick in TICKS:
        stroke = "#333" if tick == 1 else "#ddd"
        parts.append(f'<path d="M{at(tick):.1f} {TOP}V{bottom}" stroke="{stroke}"/>')
        parts.append(f'<text x="{at(tick):.1f}" y="{bottom + 16}" text-anchor="middle">{tick}</text>')
    for row, workload in enumerate(WORKLOADS):
        mine = better_door(times, workload, threads)
        for (peer, mode), (_, color, is_filled) in PEERS.items():
            theirs = times.get((peer, mode, workload, threads))
            if mine is None or theirs is None:
                continue
            fill = color if is_filled else "white"
            place = f'cx="{at(theirs / mine):.1f}" cy="{TOP + ROW * (row + 0.5):.1f}"'
            parts.append(f'<circle {place} r="5" fill="{fill}" stroke="{color}" stroke-width="2"/>')
    return parts


def picture(times: Mapping[Run, float], machine: str) -> str:
    """The whole picture: a panel for each number of threads that was measured."""
    counts = sorted({threads for _, _, _, threads in times})
    bottom = TOP + ROW * len(WORKLOADS)
    width, height = LEFT + len(counts) * (PANEL + GAP), bottom + 76
    commit = subprocess.run(
        ["git", "rev-parse", "--short=8", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{LEFT}" y="20">How many times as long a training step takes as in ingot</text>',
    ]
    for row, name in enumerate(WORKLOADS.values()):
        parts.append(f'<text x="{LEFT - 10}" y="{TOP + ROW * (row + 0.5) + 4:.1f}" text-anchor="end">{name}</text>')
    for number, threads in enumerate(counts):
        parts += panel(times, threads, LEFT + number * (PANEL + GAP))
    for number, (name, color, is_filled) in enumerate(PEERS.values()):
        x, fill = LEFT + 8 + 130 * number, color if is_filled else "white"
        parts.append(f'<circle cx="{x}" cy="{bottom + 40}" r="5" fill="{fill}" stroke="{color}" stroke-width="2"/>')
        parts.append(f'<text x="{x + 12}" y="{bottom + 44}">{name}</text>')
    day = time.strftime("%d %B %Y").lstrip("0")
    parts.append(f'<text x="{LEFT}" y="{bottom + 66}" fill="#666">{machine}; {day}, {commit.stdout.strip()}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    """Reads measurements, and writes the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", type=Path, nargs="+", help="files of JSON lines")
    parser.add_argument("--machine", required=True, help="where it was measured")
    options = parser.parse_args()
    PICTURE.write_text(picture(medians(options.measured), options.machine))


if __name__ == "__main__":
    main()
