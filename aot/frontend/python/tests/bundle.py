"""Programs compiled and run by the `ingot` tool: INGOT names it, else it is this repository's release build."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file

import ingot.torch

ROOT = Path(__file__).parents[4]
TOOL = Path(os.environ.get("INGOT", ROOT / "build/release/apps/ingot/ingot"))


def call(*arguments: object) -> str:
    done = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ingot {arguments[0]}: {done.stderr or done.stdout}")
    return done.stdout


class Bundle:
    """A saved and compiled program in a folder."""

    def __init__(self, program: ingot.torch.Program, folder: Path):
        self.folder = folder
        self.program = program
        program.save(folder)
        entries = [f"{name}={folder / name}.mlir" for name in program.texts]
        call("compile", *entries, "-o", folder / "bundle.ingot")

    def train(
        self, batches: dict[str, torch.Tensor], entry: str = "train_step"
    ) -> tuple[list[dict[str, float]], dict[str, torch.Tensor]]:
        """Runs one step for each row of the batches; gives the scalar outputs and the last state."""
        save_file({k: v.contiguous() for k, v in batches.items()}, self.folder / "batches.safetensors")
        call(
            "train",
            self.folder / "bundle.ingot",
            *("--entry", entry),
            *("--data", self.folder / "batches.safetensors"),
            *("--state", self.folder / "state.safetensors"),
            *("--log", self.folder / "log.jsonl"),
            *("--save", self.folder / "final.safetensors"),
            *self.defaults(entry, batches),
        )
        lines = (self.folder / "log.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines], load_file(self.folder / "final.safetensors")

    def run(
        self, inputs: dict[str, torch.Tensor], entry: str
    ) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
        """Runs an entry point once; gives its outputs and the state afterwards."""
        file, last = self.folder / "inputs.safetensors", self.folder / "last.safetensors"
        if inputs:
            save_file({k: v.contiguous() for k, v in inputs.items()}, file)
        given = [word for name in inputs for word in ("--input", f"{name}=@{file}:{name}")]
        state = self.folder / "state.safetensors"
        has_state = bool(self.program.state.tensors)
        call(
            *("run", self.folder / "bundle.ingot", entry, *given),
            *(("--state", state, "--save-state", last) if has_state else ()),
            *("--save-outputs", self.folder / "outputs"),
        )
        outputs = {f.stem: torch.from_numpy(np.load(f)) for f in (self.folder / "outputs").glob("*.npy")}
        return outputs, load_file(last) if has_state else {}

    def defaults(self, entry: str, given: dict[str, torch.Tensor]) -> list[str]:
        """--set NAME=NUMBER for the inputs that have a default and are not given."""
        inputs = json.loads((self.folder / "inputs.json").read_text())[entry]
        rest = [i for i in inputs if "default" in i and i["name"] not in given]
        return [word for i in rest for word in ("--set", f"{i['name']}={i['default']!r}")]


def distance(a: torch.Tensor, reference: torch.Tensor) -> float:
    """Relative L2 distance; absolute where the reference is zero."""
    a, reference = a.double(), reference.double()
    norm = reference.norm().item()
    return (a - reference).norm().item() / (norm if norm > 0 else 1)
