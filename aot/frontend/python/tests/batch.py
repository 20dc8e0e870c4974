"""Many small programs in one bundle, which is compiled at once: a process for each would take longer than the programs.

Entry points share state by name, so models and optimizers of a batch are given names: ``Program({name: model})``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from tool import call

import ingot.torch

Tensors = dict[str, torch.Tensor]


class Batch:
    """Programs of one entry point each, called as the program."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.inputs: dict[str, list[str]] = {}
        self.failures: dict[str, Exception] = {}
        self._state: Tensors = {}

    def add(self, name: str, make: Callable[[str], ingot.torch.Program]) -> None:
        """Traces a program whose entry point has the given name; what it raises is raised where the program is run."""
        try:
            program = make(name)
        except Exception as error:
            self.failures[name] = error
            return
        (self.folder / f"{name}.mlir").write_text(program.texts[name])
        self.inputs[name] = [i["name"] for i in program.inputs[name]]
        file = self.folder / "one.safetensors"
        program.save_state(file)
        self._state |= load_file(file)

    def compile(self) -> None:
        """Makes the bundle; programs that cannot be compiled are sought one by one, and left out."""
        save_file(self._state, self.folder / "state.safetensors")
        try:
            self._compile(list(self.inputs))
        except RuntimeError:
            for name in list(self.inputs):
                try:
                    self._compile([name])
                except RuntimeError as error:
                    self.failures[name] = error
                    del self.inputs[name]
            self._compile(list(self.inputs))

    def _compile(self, names: list[str]) -> None:
        if names:
            call("compile", *(f"{n}={self.folder / n}.mlir" for n in names), "-o", self.folder / "bundle.ingot")

    def run(self, name: str, arguments: tuple[torch.Tensor, ...]) -> tuple[Tensors, Tensors]:
        """Runs a program once on its arguments, from the first state; gives its outputs and the state afterwards."""
        if name in self.failures:
            raise self.failures[name]
        given = dict(zip(self.inputs[name], arguments, strict=True))
        folder = self.folder / f"{name}.run"
        folder.mkdir()
        file, last = folder / "inputs.safetensors", folder / "last.safetensors"
        if given:
            save_file({k: v.contiguous().clone() for k, v in given.items()}, file)
        call(
            *("run", self.folder / "bundle.ingot", name),
            *(word for key in given for word in ("--input", f"{key}=@{file}:{key}")),
            *(("--state", self.folder / "state.safetensors", "--save-state", last) if self._state else ()),
            *("--save-outputs", folder / "outputs"),
        )
        outputs = {f.stem: torch.from_numpy(np.load(f)) for f in (folder / "outputs").glob("*.npy")}
        return outputs, load_file(last) if self._state else {}
