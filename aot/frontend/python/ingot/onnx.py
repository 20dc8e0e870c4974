"""ONNX models: from a file, or from what the package onnx holds in memory.

>>> bundle = ingot.onnx.compile("model.onnx", shapes={"batch": 1})
>>> ingot.Session(bundle).entries["predict"](x=image)["logits"]
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Protocol, TypeAlias

import ingot.compiler
from ingot import tool
from ingot.compiler import Math, MemoryLimit, Shapes, Training, shape_options
from ingot.session import Bundle


class ModelProto(Protocol):
    """What onnx.load gives."""

    def SerializeToString(self) -> bytes:
        """The bytes of a file."""


Model: TypeAlias = str | os.PathLike[str] | ModelProto


def compile(
    model: Model,
    output: str | os.PathLike[str] | None = None,
    *,
    target: str = "host",
    shapes: Shapes | None = None,
    freeze: bool = True,
    quantize_weights: str | None = None,
    math: Math = "standard",
    memory_limit: MemoryLimit | None = None,
    largest: str | None = None,
    train: Training | None = None,
    strict: bool = False,
) -> Bundle:
    """Compiles a model, whose entry point is ``predict``, with its weights: constants, or else state.

    `output` and what follows it are those of `ingot.compile`.

    Raises CompileError with what the compiler says.
    """
    with tempfile.TemporaryDirectory() as scratch:
        return ingot.compiler.compile(
            _file(model, scratch),
            output,
            target=target,
            shapes=shapes,
            freeze=freeze,
            quantize_weights=quantize_weights,
            math=math,
            memory_limit=memory_limit,
            largest=largest,
            train=train,
            strict=strict,
        )


def export(model: Model, state: str | os.PathLike[str], output: str | os.PathLike[str]) -> None:
    """Writes the model with the weights that a state file has, as `Session.save` writes it.

    Raises CompileError with what the compiler says.
    """
    with tempfile.TemporaryDirectory() as scratch:
        tool.call("export", _file(model, scratch), "--state", state, "-o", output)


def import_model(model: Model, *, shapes: Shapes | None = None) -> str:
    """The model as StableHLO text; its weights are state.

    Raises CompileError with what the compiler says.
    """
    with tempfile.TemporaryDirectory() as scratch:
        return tool.call("import", _file(model, scratch), *shape_options(shapes))


def _file(model: Model, folder: str) -> Path:
    """Where the model lies."""
    if isinstance(model, (str, os.PathLike)):
        return Path(model)
    file = Path(folder) / "model.onnx"
    file.write_bytes(model.SerializeToString())
    return file
