"""A compiled function on JAX's arrays, which are read where they lie; results are arrays over the engine's memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax._src.lib import xla_client  # JAX's public functions take ten times as long to make an array

from ingot.arrays import BEYOND_NUMPY, NUMPY, Port
from ingot.entry import Entry
from ingot.jax.leaves import from_numpy, is_key, to_numpy


class Run:
    """A function compiled for arguments of certain types: its entry point, and the tree that it returns."""

    def __init__(
        self, entry: Entry, given: Sequence[jax.ShapeDtypeStruct], results: Sequence[jax.ShapeDtypeStruct], tree: Any
    ) -> None:
        """`given` are the types of all leaves of the arguments, of which the entry point reads some."""
        self._entry, self._tree = entry, tree
        numbers = [int(port.name.removeprefix("argument.")) for port in entry.inputs]
        self._reads = [(i, Input(port, given[i])) for i, port in zip(numbers, entry.inputs, strict=True)]
        places = {port.name: i for i, port in enumerate(entry.outputs)}
        made = [places[f"result.{i}"] for i in range(len(results))]
        self._makes = [(i, Result(entry.outputs[i], like)) for i, like in zip(made, results, strict=True)]

    def __call__(self, leaves: Sequence[Any]) -> Any:
        """Runs once on the leaves of the arguments."""
        blocks = self._entry.run(tuple([read(leaves[i]) for i, read in self._reads]))
        device = _device()
        with jax.ensure_compile_time_eval():  # where a function that calls this one is traced, too
            return jax.tree.unflatten(self._tree, [make(blocks[i], device) for i, make in self._makes])


class Input:
    """How the memory of a leaf is read."""

    def __init__(self, port: Port, like: jax.ShapeDtypeStruct) -> None:
        self._port, self._like = port, like
        self._is_plain = _is_plain(like)
        self._raw = BEYOND_NUMPY.get(port.element_name)

    def __call__(self, leaf: Any) -> Any:
        """The memory of a leaf, copied where it does not lie row by row."""
        if not self._is_plain or not isinstance(leaf, jax.Array):
            return NUMPY.memory(to_numpy(leaf, self._like), self._port)
        array: Any = np.asarray(leaf, order="C")
        return array if self._raw is None else array.view(self._raw)


class Result:
    """How a result becomes an array."""

    def __init__(self, port: Port, like: jax.ShapeDtypeStruct) -> None:
        self._port, self._like = port, like
        self._aval = jax.core.ShapedArray(like.shape, like.dtype, weak_type=like.weak_type) if _is_plain(like) else None

    def __call__(self, block: Any, device: Any) -> Any:
        """The array over the memory of a result."""
        array = NUMPY.array(block, self._port)
        if self._aval is None or device is None:
            return from_numpy(array, self._like)
        placed, sharding = device
        return xla_client.batched_device_put(self._aval, sharding, [array], [placed])


def _is_plain(like: jax.ShapeDtypeStruct) -> bool:
    """Whether a program has the same in the place of a leaf: neither random keys nor complex numbers."""
    return not is_key(like) and not np.issubdtype(like.dtype, np.complexfloating)


def _device() -> Any:
    """The processor on which JAX makes arrays, and its sharding; None if that is another kind of device."""
    device = jax.config.jax_default_device
    if device is None:
        device = jax.local_devices()[0]
    if getattr(device, "platform", "") != "cpu":
        return None
    return device, jax.sharding.SingleDeviceSharding(device)
