"""Beside PyTorch's own compilers: how long until training runs, how fast it runs, and how large what is kept is.

Each of a model's contestants trains it in a process that finds nothing on disk, then in one that finds what the first
left. `torch.compile` is given the model and the optimizer's step; `torch.compiler.precompile` the loss and its
gradients, saved by the first process and loaded by the second, as it takes no optimizer; `ingot.torch.compile` the
whole step. Seconds pass from when the model is made to the end of the second step. Milliseconds are medians of steps
after that, of contestants in turn. One thread; a quiet machine is wanted.
"""

from __future__ import annotations

import argparse
import json
import os
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
TABLE = ROOT / "docs/torch_compilers.md"
HEAD = """# Beside PyTorch's compilers

Made by `bench/torch_compilers.py`, which says how, with PyTorch {version}. *First*: seconds until the end of the second
training step, with nothing on disk. *Next*: the same in a process that finds what the first one kept. *Step*:
milliseconds of a later step. *Kept*: kilobytes on disk.

| model | compiler | first | next | step | kept |
|---|---|---|---|---|---|
"""
COMPILERS = ("eager", "torch.compile", "precompile", "ingot")
MODELS = ("mlp", "lenet", "resnet20", "vit", "char_gpt", "transformers_bert")
STEPS = 30


def training_of(name: str) -> Any:
    """A model of the tests, its step and its batches."""
    warnings.filterwarnings("ignore")
    sys.path[:0] = [str(PACKAGE), str(PACKAGE / "tests")]
    import torch
    from models import MODELS

    torch.set_num_threads(1)
    return MODELS[name](torch.float32)


def eager(training: Any, folder: Path) -> Callable[..., Any]:
    """The step as PyTorch runs it."""
    return training.step


def compiled(training: Any, folder: Path) -> Callable[..., Any]:
    """Model and optimizer by TorchInductor."""
    import torch

    training.model.compile()
    training.optimizer.step = torch.compile(training.optimizer.step)
    return training.step


def precompiled(training: Any, folder: Path) -> Callable[..., Any]:
    """Loss and gradients by TorchInductor, as files; the optimizer as PyTorch runs it."""
    import torch

    optimizer, step = training.optimizer, training.step
    update, clear = optimizer.step, optimizer.zero_grad
    optimizer.step = optimizer.zero_grad = lambda *_, **__: None
    rows = [batch[0] for batch in training.batches]
    kept = folder / "precompiled.json"
    if kept.exists():
        code, cache = kept.read_text(), (folder / "precompiled.bin").read_bytes()
    else:
        code, cache = torch.compiler.precompile(lambda model, *batch: step(*batch), training.model, *rows)
        kept.write_text(code)
        (folder / "precompiled.bin").write_bytes(cache)
    function = torch.compiler.precompile.load(code, cache)

    def whole(*batch: torch.Tensor) -> torch.Tensor:
        clear()
        loss = function(training.model, *batch)
        update()
        return loss

    return whole


def by_ingot(training: Any, folder: Path) -> Callable[..., Any]:
    """The whole step by ingot."""
    import ingot.torch

    return ingot.torch.compile(training.step, training.model, training.optimizer)


MAKE = dict(zip(COMPILERS, (eager, compiled, precompiled, by_ingot), strict=True))


def run(compiler: str, name: str, folder: Path) -> dict[str, Any]:
    """Seconds until the second step, and milliseconds of those after it, in this process."""
    import torch

    torch.manual_seed(0)
    training = training_of(name)
    began = time.perf_counter()
    step = MAKE[compiler](training, folder)
    rows = [[batch[i % len(batch)] for batch in training.batches] for i in range(STEPS + 2)]
    for batch in rows[:2]:
        step(*batch)
    until = time.perf_counter() - began
    times = []
    for batch in rows[2:]:
        start = time.perf_counter()
        step(*batch)
        times.append(1e3 * (time.perf_counter() - start))
    return {"until_s": until, "step_ms": statistics.median(times)}


def in_a_process(compiler: str, name: str, folder: str) -> dict[str, Any]:
    """The same, in a process of its own."""
    environment = os.environ | {"INGOT_CACHE": folder, "TORCHINDUCTOR_CACHE_DIR": folder}
    command = [sys.executable, __file__, name, "--in-this-process", compiler, "--folder", folder]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1][:120]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def kilobytes(folder: str) -> float:
    """What a folder's files hold."""
    return sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file()) / 1e3


def row(name: str, rounds: int) -> dict[str, list[str]]:
    """A model's rows by compiler."""
    firsts: dict[str, list[float]] = {}
    nexts: dict[str, list[float]] = {}
    steps: dict[str, list[float]] = {}
    kept, failed = dict[str, float](), dict[str, str]()
    for _ in range(rounds):
        for compiler in COMPILERS:
            with tempfile.TemporaryDirectory() as folder:
                first, later = (in_a_process(compiler, name, folder) for _ in range(2))
                if reason := first.get("failed") or later.get("failed"):
                    failed[compiler] = reason
                    continue
                firsts.setdefault(compiler, []).append(first["until_s"])
                nexts.setdefault(compiler, []).append(later["until_s"])
                steps.setdefault(compiler, []).append(min(first["step_ms"], later["step_ms"]))
                kept[compiler] = kilobytes(folder)
    cells = {c: [f"{statistics.median(x[c]):.2f}" for x in (firsts, nexts, steps)] + [f"{kept[c]:.0f}"] for c in firsts}
    return {c: cells.get(c) or [failed[c].replace("|", "/"), "", "", ""] for c in COMPILERS}


def main() -> None:
    """Measures each model, and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=MODELS, metavar="MODEL", help="as docs/torch_models.md calls them")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured; 3 by default")
    parser.add_argument("-o", "--output", type=Path, default=TABLE, help="docs/torch_compilers.md by default")
    parser.add_argument("--in-this-process", metavar="COMPILER", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.in_this_process:
        print(json.dumps(run(options.in_this_process, options.models[0], options.folder)))
        return
    import torch

    text = HEAD.format(version=torch.__version__.partition("+")[0])
    for name in options.models:
        for compiler, cells in row(name, options.rounds).items():
            text += f"| `{name}` | {compiler} | {' | '.join(cells)} |\n"
        options.output.write_text(text)
        print(name, "done", flush=True)


if __name__ == "__main__":
    main()
