"""The compiler, as a function: programs become bundles."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from ingot import tool
from ingot.folder import EntryPoints
from ingot.session import Bundle

File: TypeAlias = str | os.PathLike[str]
Program: TypeAlias = EntryPoints | Mapping[str, str] | File
Shapes: TypeAlias = Mapping[str, int | str | Sequence[int]]  # 32, "32x784", [1, 8, 32]
Math: TypeAlias = Literal["exact", "standard", "fast"]
MemoryLimit: TypeAlias = int | str | Mapping[str, int | str]  # bytes, "4MiB", "least"; of entry points by name
MicroBatches: TypeAlias = int | str | Mapping[str, int | str]  # 4, "auto"; of entry points by name


@dataclass(frozen=True, kw_only=True)
class Lora:
    """Low-rank adapters: two thin matrices beside products by weights that stay as they are, which are trained."""

    rank: int
    products: Sequence[str]  # patterns of weights' names, or of the nodes that multiply by them: ["*.q_proj"]
    alpha: float | None = None  # None: the rank

    def option(self) -> str:
        """As the value of `--lora`."""
        alpha = "" if self.alpha is None else f",alpha={self.alpha!r}"
        return f"rank={self.rank}{alpha}:{','.join(self.products)}"


@dataclass(frozen=True, kw_only=True)
class Training:
    """How a model that was made for inference is trained: what `--train` and its options say.

    Its bundle has ``train_step`` and ``evaluate`` beside the model's own entry point.
    """

    loss: str  # "cross_entropy", ...: `ingot help compile` lists them
    target: str = "target"  # the name of the input that the loss compares with
    output: str | None = None  # of the model, that the loss is of; its first
    optimizer: str = "adamw"
    trainable: Sequence[str] = ()  # patterns of weights' names; others stay. Empty: all or, with `lora`, none
    lora: Sequence[Lora] = ()
    lr: float | None = None  # None: PyTorch's
    weight_decay: float | None = None
    momentum: float | None = None

    def options(self) -> list[str]:
        """As words of a command line."""
        parts = [self.loss, self.target, *([self.output] if self.output else [])]
        words = ["--train", ":".join(parts), "--optimizer", self.optimizer]
        for pattern in self.trainable:
            words += ["--trainable", pattern]
        for lora in self.lora:
            words += ["--lora", lora.option()]
        numbers = {"--lr": self.lr, "--weight-decay": self.weight_decay, "--momentum": self.momentum}
        return words + [word for name, value in numbers.items() if value is not None for word in (name, repr(value))]


def compile(
    program: Program,
    output: File | None = None,
    *,
    target: str = "host",
    state: File | None = None,
    shapes: Shapes | None = None,
    skip: Sequence[str] = (),
    freeze: bool | None = None,
    quantize_weights: str | None = None,
    memory_limit: MemoryLimit | None = None,
    micro_batches: MicroBatches | None = None,
    largest: str | None = None,
    train: Training | None = None,
    strict: bool = False,
    math: Math = "standard",
) -> Bundle:
    """Compiles a program and opens the bundle.

    `program` is StableHLO text, or texts by entry point; a file of it or of an ONNX model, or a folder that ``save``
    wrote; or what `ingot.torch` or `ingot.jax` traced. The bundle is written to `output`, or else lives as long as it
    is used.
    `target` names processors, the best first, by commas; `state` a file of first values, or "zeros"; `shapes` the sizes
    that the program leaves open, of which several make an entry point each (`Session.programs`); `skip` passes that are
    left out. `freeze` makes constants of all state that has a first value and that no entry point writes, or of none;
    without it, of the weights of ONNX models. `quantize_weights`, "int8" or "int4", keeps constant weights of products
    as such integers, of which registers make floats. `memory_limit` is what a run's arena and the scratch of one
    thread may take, or "least": kernels run again for what would not fit, which changes no bit of any result.
    `micro_batches` is in how many parts, one after the other, the batch is computed, or "auto", as few as the limit
    needs: gradients are summed in another order, and rows must be proved not to depend on each other. `largest` names a
    size that the program leaves open: it is the largest that keeps the limit. `train` makes a training step of a model.
    `strict`: every processor gives the same bits. `math` says what convolutions may be made of: "exact", products as
    they are written; "fast", also sums that leave rounding where all terms are 0.

    Raises CompileError with what the compiler says: of a memory limit, what the least is that was reached.
    """
    with tempfile.TemporaryDirectory() as scratch:
        written = Path(output) if output is not None else Path(scratch) / "program.ingot"
        options = ["--target", target, *(("--state", os.fspath(state)) if state is not None else ())]
        options += [word for name in skip for word in ("--skip", name)]
        options += shape_options(shapes)
        if freeze is not None:
            options.append("--freeze" if freeze else "--no-freeze")
        if quantize_weights is not None:
            options += ["--quantize-weights", quantize_weights]
        if strict:
            options.append("--strict")
        options += ["--math", math]
        if memory_limit is None and isinstance(program, EntryPoints):
            memory_limit = program.memory_limits
        options += memory_options(memory_limit, micro_batches)
        if largest is not None:
            options += ["--largest", largest]
        if train is not None:
            options += train.options()
        tool.call("compile", source_of(program, Path(scratch) / "program"), "-o", written, *options)
        return Bundle(written)


def shape_options(shapes: Shapes | None) -> list[str]:
    """As words of a command line."""
    words = []
    for name, sizes in (shapes or {}).items():
        text = str(sizes) if isinstance(sizes, int | str) else ",".join(map(str, sizes))
        words += ["--shape", f"{name}={text}"]
    return words


def memory_options(memory_limit: MemoryLimit | None, micro_batches: MicroBatches | None = None) -> list[str]:
    """As words of a command line."""
    given = {"--memory-limit": memory_limit, "--micro-batches": micro_batches}
    return [word for option, value in given.items() for text in _by_entry(value) for word in (option, text)]


def _by_entry(value: int | str | Mapping[str, int | str] | None) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{entry}={number}" for entry, number in value.items()]
    return [] if value is None else [str(value)]


def source_of(program: Program, folder: Path) -> Path:
    """Where the program lies as a file or a folder."""
    if isinstance(program, EntryPoints):
        program.write(folder)
        return folder
    if isinstance(program, str) and "\n" in program:
        file = folder.with_suffix(".mlir")
        file.write_text(program)
        return file
    if isinstance(program, Mapping):
        folder.mkdir()
        for name, text in program.items():
            (folder / f"{name}.mlir").write_text(text)
        return folder
    return Path(program)
