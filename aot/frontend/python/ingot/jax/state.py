"""State in files: a tensor for each leaf, by its dotted path."""

from __future__ import annotations

import os
from typing import Any

import jax
from safetensors.numpy import load_file, save_file

from ingot.folder import saved_tensor
from ingot.jax.leaves import abstract, from_numpy, in_file, named_leaves, to_numpy

ROOT = "state"


def save_state(state: Any, file: str | os.PathLike[str]) -> None:
    """Writes a state for ``ingot train --state``: random keys as their words, complex numbers as pairs."""
    types = named_leaves(abstract(state, ROOT), ROOT)
    save_file({name: to_numpy(leaf, types[name]) for name, leaf in named_leaves(state, ROOT).items()}, os.fspath(file))


def load_state(state: Any, file: str | os.PathLike[str]) -> Any:
    """A tree of the structure of `state` with the values that a bundle saved.

    Arrays, numbers and ``jax.ShapeDtypeStruct`` may stand in `state`; its own values are not read.

    Raises KeyError for a tensor that the file lacks and ValueError for another shape or dtype.
    """
    tensors = load_file(os.fspath(file))
    types = named_leaves(abstract(state, ROOT), ROOT)
    values = [from_numpy(saved_tensor(tensors, name, in_file(like)), like) for name, like in types.items()]
    return jax.tree.unflatten(jax.tree.structure(state), values)
