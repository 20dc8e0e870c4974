"""The folder that a program is saved in, the same for every framework."""

from __future__ import annotations

import json
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ingot.stablehlo import TensorType

INPUTS = "inputs.json"


class EntryPoints(ABC):
    """Entry points by name: the text of each, and what is said of its inputs."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.inputs: dict[str, list[dict[str, Any]]] = {}
        self.memory_limits: dict[str, int | str] = {}  # what ingot.compile keeps for entry points, unless it is told

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes ``<entry>.mlir`` for every entry point, ``state.safetensors`` and ``inputs.json``.

        Entry points of a program that was saved there before go. Warns of memory limits, which the folder has not.

        Raises ValueError where there is no entry point.
        """
        if self.memory_limits:
            words = " ".join(f"--memory-limit {name}={limit}" for name, limit in self.memory_limits.items())
            warnings.warn(f"memory limits are not saved: ingot compile {os.fspath(folder)} {words}", stacklevel=3)
        self.write(folder)

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Writes what `save` does."""
        if not self.texts:
            raise ValueError("the program has no entry point; add a function first")
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        for name in saved_entries(path):
            (path / f"{name}.mlir").unlink(missing_ok=True)
        for name, text in self.texts.items():
            (path / f"{name}.mlir").write_text(text)
        (path / INPUTS).write_text(json.dumps(self.inputs, indent=2) + "\n")
        self.save_state(path / "state.safetensors")

    @abstractmethod
    def save_state(self, file: str | os.PathLike[str]) -> None:
        """Writes the state that the entry points share, by name."""


def saved_entries(folder: Path) -> list[str]:
    """The names of the entry points that a folder has; none where no program was saved."""
    file = folder / INPUTS
    return list(json.loads(file.read_text())) if file.exists() else []


def input_row(name: str, tensor: TensorType, default: float | None = None) -> dict[str, Any]:
    """What ``inputs.json`` says of an input: what the host gives."""
    row = {"name": name, "dtype": tensor.stored.dtype, "shape": list(tensor.stored.shape)}
    return row if default is None else row | {"default": default}


def dotted(path: Iterable[Any]) -> str:
    """The name of a leaf: the keys of its path in a tree, PyTorch's or JAX's, with dots between."""
    return ".".join(str(getattr(key, "key", getattr(key, "name", getattr(key, "idx", key)))) for key in path)


def output_name(path: str, only: str) -> str:
    """What a result is called: by its dotted path; `only` where it has none, ``output0`` in a tuple."""
    if not path:
        return only
    return f"output{path}" if path[0].isdigit() else path


def saved_tensor(tensors: Mapping[str, Any], name: str, like: Any) -> Any:
    """The tensor of that name in a file.

    Raises KeyError where there is none, ValueError where it is not of the type of `like`.
    """
    if name not in tensors:
        raise KeyError(f"the state lacks {name!r}; was it saved by a program of this state?")
    given = tensors[name]
    if given.shape != like.shape or given.dtype != like.dtype:
        raise ValueError(
            f"{name!r} is {given.dtype} {tuple(given.shape)} in the file, but {like.dtype} {tuple(like.shape)} here"
        )
    return given
