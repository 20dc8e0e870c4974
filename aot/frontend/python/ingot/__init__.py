"""Ahead-of-time compiled machine learning: the compiler, the engine, and programs from PyTorch and JAX.

>>> bundle = ingot.compile("step.mlir")
>>> session = ingot.Session(bundle, threads=2)
>>> session.entries["train_step"](x=images, y=labels)["loss"]
>>> session.state["fc1.weight"]

``ingot.torch`` traces PyTorch, ``ingot.jax`` has JAX lower itself, ``ingot.onnx`` reads models. Each is imported when
it is first asked for; a framework only by the module that is named after it.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ingot._engine import EngineError, Error, __version__
    from ingot.compiler import Lora, Training, compile
    from ingot.quantizer import Quantized, quantize
    from ingot.session import Bundle, Session
    from ingot.tool import CompileError

__all__ = [
    "Bundle",
    "CompileError",
    "EngineError",
    "Error",
    "Lora",
    "Quantized",
    "Session",
    "Training",
    "__version__",
    "compile",
    "quantize",
]

# In the sources the engine's module is not beside this file, but in the build tree.
__path__.append(str(Path(__file__).parents[4] / "build/release/engine/python"))

MODULES = ("jax", "onnx", "torch")
# Where each lies: loaded when it is first asked for.
PLACES = {
    "Lora": "compiler",
    "Training": "compiler",
    "compile": "compiler",
    "Quantized": "quantizer",
    "quantize": "quantizer",
    "Bundle": "session",
    "Session": "session",
    "CompileError": "tool",
    "EngineError": "_engine",
    "Error": "_engine",
    "__version__": "_engine",
}


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return importlib.import_module(f"ingot.{name}")
    if name not in PLACES:
        raise AttributeError(f"module 'ingot' has no attribute {name!r}")
    return getattr(importlib.import_module(f"ingot.{PLACES[name]}"), name)
