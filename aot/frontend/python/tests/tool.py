"""Programs compiled and run by the `ingot` tool: INGOT names it, else it is the package's, or the release build's."""

from __future__ import annotations

import json
import os
import subprocess
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
from safetensors import safe_open

from ingot.folder import EntryPoints
from ingot.tool import program

ROOT = Path(__file__).parents[4]
TOOL = Path(program())
os.environ.setdefault("INGOT_TARGETS", "host")  # what is compiled here is run here

Tensor = TypeVar("Tensor")


def call(*arguments: object) -> str:
    done = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ingot {arguments[0]}: {done.stderr or done.stdout}")
    return done.stdout


class Compiled(ABC, Generic[Tensor]):
    """A program saved in a folder, and compiled with the tool's `options`."""

    def __init__(self, program: EntryPoints, folder: Path, *options: str):
        self.folder = folder
        self.program = program
        program.save(folder)
        start = time.perf_counter()
        call("compile", folder, "-o", folder / "bundle.ingot", *options)
        self.compile_s = time.perf_counter() - start
        with safe_open(folder / "state.safetensors", "np") as file:
            self.has_state = bool(file.keys())

    @abstractmethod
    def write(self, tensors: dict[str, Tensor], file: Path) -> None: ...

    @abstractmethod
    def read(self, file: Path) -> dict[str, Tensor]: ...

    @abstractmethod
    def from_numpy(self, array: np.ndarray) -> Tensor: ...

    def train(
        self, batches: dict[str, Tensor], entry: str = "train_step"
    ) -> tuple[list[dict[str, float]], dict[str, Tensor]]:
        """Runs one step for each row of the batches; gives the scalar outputs and the last state."""
        self.write(batches, self.folder / "batches.safetensors")
        call(
            "train",
            self.folder / "bundle.ingot",
            *("--entry", entry),
            *("--data", self.folder / "batches.safetensors"),
            *("--log", self.folder / "log.jsonl"),
            *("--save", self.folder / "final.safetensors"),
        )
        lines = (self.folder / "log.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines], self.read(self.folder / "final.safetensors")

    def run(self, inputs: dict[str, Tensor], entry: str) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """Runs an entry point once; gives its outputs and the state afterwards."""
        file, last = self.folder / "inputs.safetensors", self.folder / "last.safetensors"
        made = self.folder / f"{entry}.outputs"
        if inputs:
            self.write(inputs, file)
        given = [word for name in inputs for word in ("--input", f"{name}=@{file}:{name}")]
        call(
            *("run", self.folder / "bundle.ingot", entry, *given),
            *(("--save-state", last) if self.has_state else ()),
            *("--save-outputs", made),
        )
        outputs = {f.stem: self.from_numpy(np.load(f)) for f in made.glob("*.npy")}
        return outputs, self.read(last) if self.has_state else {}
