"""A program: entry points lowered from a user's functions, and the state that they share."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np
from jax import jit as jax_jit
from safetensors.numpy import save_file

from ingot.folder import EntryPoints, input_row, output_name
from ingot.jax.leaves import abstract, named_leaves, to_numpy, type_of
from ingot.jax.module import entry_text
from ingot.jax.state import ROOT
from ingot.stablehlo import Port, TensorType

BATCH = "batch"


class Program(EntryPoints):
    """Entry points that share a state by the names of its leaves: ``state.params.w``, whatever parameters are called.

    `state` has the values that are saved, by name; an entry point that is added later has the last word.
    """

    def __init__(self) -> None:
        super().__init__()
        self.state: dict[str, np.ndarray] = {}

    def add(
        self, name: str, function: Callable[[Any, Any], Any], state: Any, batch: Any, *, training: bool = True
    ) -> None:
        """Lowers ``function(state, batch) -> (new_state, outputs)`` into an entry point; it does not run.

        Without `training` the state is only read: ``function(state, batch) -> outputs``. `state` and `batch` are any
        trees of arrays and numbers; a ``jax.ShapeDtypeStruct`` will do in `batch`. Inputs are called ``batch.x`` by
        their paths, and Python's numbers among them have their value as default. Outputs are ``loss`` (or ``output``
        where not training), or named by their paths.

        Raises TypeError for leaves that are no arrays or of element types that are not supported, and ValueError for
        another state than was given, by path, and for callbacks.
        """
        like_state, like_batch = abstract(state, ROOT), abstract(batch, BATCH)
        old, inputs = named_leaves(like_state, ROOT), named_leaves(like_batch, BATCH)
        values = {path: to_numpy(leaf, old[path]) for path, leaf in named_leaves(state, ROOT).items()}
        self._refuse_other_types(values)
        only = "loss" if training else "output"

        traced = jax_jit(function, donate_argnums=0 if training else (), keep_unused=True).trace(like_state, like_batch)
        new_state, outputs = _pair(traced.out_info) if training else ({}, traced.out_info)
        new = named_leaves(abstract(new_state, ROOT), ROOT)
        if training:
            _refuse_another_state(new, old)
        results = {output_name(path, only): like for path, like in named_leaves(abstract(outputs, only)).items()}

        numbers = {p: leaf for p, leaf in named_leaves(batch, BATCH).items() if isinstance(leaf, (bool, int, float))}
        takes = [(Port(path, default=numbers.get(path)), type_of(like)) for path, like in inputs.items()]
        self.texts[name] = entry_text(
            traced.lower(lowering_platforms=("cpu",)),
            [*_ports(old, is_state=True), *takes],
            [*_ports(new, is_state=True), *_ports(results)],
        )
        self.inputs[name] = [input_row(port.name, type_, port.default) for port, type_ in takes]
        self.state |= values

    def save_state(self, file: str | os.PathLike[str]) -> None:
        """Writes the state that was given, by name."""
        save_file(self.state, os.fspath(file))

    def _refuse_other_types(self, values: dict[str, np.ndarray]) -> None:
        for path, value in values.items():
            known = self.state.get(path, value)
            if (known.dtype, known.shape) != (value.dtype, value.shape):
                raise ValueError(
                    f"{path} is {value.dtype} {value.shape}, but {known.dtype} {known.shape} in another entry point, "
                    "and they share it; call one of them otherwise"
                )


def _ports(leaves: Mapping[str, jax.ShapeDtypeStruct], *, is_state: bool = False) -> list[tuple[Port, TensorType]]:
    return [(Port(name, is_state), type_of(like)) for name, like in leaves.items()]


def _pair(returned: Any) -> tuple[Any, Any]:
    if not isinstance(returned, (tuple, list)) or len(returned) != 2:
        raise ValueError(
            "a training function must return (new_state, outputs); say training=False for one that only reads its state"
        )
    return returned[0], returned[1]


def _refuse_another_state(new: Mapping[str, jax.ShapeDtypeStruct], old: Mapping[str, jax.ShapeDtypeStruct]) -> None:
    """A state replaces the one before, so it has the same leaves, of the same types."""
    for path, like in old.items():
        if path not in new:
            raise ValueError(f"the state that the function returns lacks {path}; return it, changed or not")
        if type_of(new[path]) != type_of(like):
            raise ValueError(f"{path} is {type_of(like)}, but the function returns {type_of(new[path])} in its place")
    for path in new:
        if path not in old:
            raise ValueError(f"the function returns {path}, which the state that it is given lacks; add a first value")
