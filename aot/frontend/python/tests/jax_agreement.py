"""Whole trainings of JAX, and the same by a bundle, for the judge in ingot/judge.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np
from safetensors.numpy import load_file, save_file
from tool import Compiled

import ingot.jax
from ingot.judge import ONE_ULP, SHAKES, Agreement, Run, judge

Tensors = dict[str, np.ndarray]


class Bundle(Compiled[np.ndarray]):
    """A saved and compiled program in a folder."""

    def write(self, tensors: Tensors, file: Path) -> None:
        save_file({name: np.array(array, order="C") for name, array in tensors.items()}, file)

    def read(self, file: Path) -> Tensors:
        return load_file(file)

    def from_numpy(self, array: np.ndarray) -> np.ndarray:
        return array


@dataclass
class Training:
    """A training function, its first state and its batches, a dictionary of arrays with the step in front.

    `settings` are numbers in the batch that stay as they are. Random bits and bf16 have no f64: JAX's own steps in f32
    are their reference then.
    """

    step: Callable[[Any, Any], tuple[Any, Any]]
    state: Any
    batches: Tensors
    settings: dict[str, float]
    has_f64: bool = True

    def batch(self, i: int) -> dict[str, Any]:
        return {name: rows[i] for name, rows in self.batches.items()} | self.settings

    @property
    def steps(self) -> int:
        return len(next(iter(self.batches.values())))


def run_jax(training: Training, *, wide: bool = False, shake: int | None = None) -> tuple[list[float], Any]:
    """JAX's own steps: losses and the last state; `shake` is the seed of what moves every f32 value before each."""
    change = widened if wide else (lambda tree: tree)
    random = np.random.default_rng(shake)
    with jax.enable_x64(wide):
        step, losses, state = jax.jit(training.step), [], change(training.state)
        for i in range(training.steps):
            batch = change(training.batch(i))
            if shake is not None:
                state, batch = shaken((state, batch), random)
            state, outputs = step(state, batch)
            losses.append(float(outputs["loss"]))
    return losses, state


def widened(tree: Any) -> Any:
    """F32 arrays as f64."""
    return jax.tree.map(lambda a: np.asarray(a, np.float64) if is_f32(a) else a, tree)


def shaken(tree: Any, random: np.random.Generator) -> Any:
    """F32 values moved by about one unit in the last place; others as they are."""

    def shaken_leaf(array: Any) -> Any:
        if not is_f32(array):
            return array
        return np.asarray(array * (1 + ONE_ULP * random.standard_normal(array.shape)), np.float32)

    return jax.tree.map(shaken_leaf, tree)


def is_f32(leaf: Any) -> bool:
    return getattr(leaf, "dtype", None) == np.float32


def tensors(state: Any, folder: Path) -> Tensors:
    """The leaves of a state by name, as they are saved."""
    ingot.jax.save_state(state, folder / "tensors.safetensors")
    return load_file(folder / "tensors.safetensors")


def run_bundle(training: Training, folder: Path) -> tuple[list[float], Tensors]:
    """The same steps, lowered, compiled and run by ingot."""
    program = ingot.jax.Program()
    program.add("train_step", training.step, training.state, training.batch(0))
    rows = {f"batch.{name}": array for name, array in training.batches.items()}
    log, final = Bundle(program, folder).train(rows)
    return [row["loss"] for row in log], final


def agreement(training: Training, folder: Path) -> Agreement:
    """Runs JAX in f64 (or f32), in shaken f32, and the bundle. Integers and random keys must be the same."""

    def saved(run: tuple[list[float], Any]) -> Run:
        return run[0], tensors(run[1], folder)

    reference = saved(run_jax(training, wide=training.has_f64))
    plain = saved(run_jax(training))
    runs = [plain, *(saved(run_jax(training, shake=seed)) for seed in range(SHAKES))]
    mine = run_bundle(training, folder)
    assert mine[1].keys() == plain[1].keys()
    for name, value in plain[1].items():
        assert (mine[1][name].dtype, mine[1][name].shape) == (value.dtype, value.shape), name
        if np.issubdtype(value.dtype, np.integer):
            assert np.array_equal(mine[1][name], value), name
    return judge(reference, runs, mine, distance)


def distance(a: np.ndarray, reference: np.ndarray) -> float:
    """Relative L2 distance; absolute where the reference is zero."""
    a, reference = a.astype(np.float64), reference.astype(np.float64)
    norm = float(np.linalg.norm(reference))
    return float(np.linalg.norm(a - reference)) / (norm if norm > 0 else 1)
