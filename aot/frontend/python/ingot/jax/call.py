"""A compiled function as a custom call of XLA: JAX's own dispatch reads the arguments and makes the results."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ingot import _engine, cache
from ingot.jax.leaves import checked, type_of
from ingot.jax.module import entry_text
from ingot.stablehlo import Port

ENTRY = "call"
TARGET = "ingot_call"


@dataclass(frozen=True)
class How:
    """How functions are compiled, and run."""

    threads: int
    target: str
    memory_limit: int | str | None


class Number(np.uint64):
    """The number of a bundle, which stays open for as long as JAX keeps what it traced with it."""

    bundle: _engine.Bundle

    @staticmethod
    def of(bundle: _engine.Bundle) -> Number:
        """The number of `bundle`."""
        number = Number(bundle.number())
        number.bundle = bundle
        return number


def call(traced: Any, leaves: Sequence[Any], how: How) -> Any:
    """The tree of results of a function that JAX traced, of the leaves of its arguments: what ``jax.jit`` traces.

    Raises TypeError and ValueError, by name, for what a program cannot hold.
    """
    arguments = dict(zip(("args", "kwargs"), traced.in_avals, strict=True))
    given = [checked(aval, root + path) for root, tree in arguments.items() for path, aval in _leaves(tree)]
    results = [checked(like, "result" + path) for path, like in _leaves(traced.out_info)]
    text = entry_text(
        traced.lower(lowering_platforms=("cpu",)),
        [(Port(f"argument.{i}"), type_of(like)) for i, like in enumerate(given)],
        [(Port(f"result.{i}"), type_of(like)) for i, like in enumerate(results)],
        keeps_unread_inputs=False,
    )
    bundle = cache.compiled({ENTRY: text}, how.target, memory_limit=how.memory_limit).native
    ((_, inputs, _, outputs),) = bundle.entries()
    reads, makes = _places(inputs), _places(outputs)
    _register()
    made = jax.ffi.ffi_call(TARGET, [results[i] for i in makes])(
        *[leaves[i] for i in reads], bundle=Number.of(bundle), threads=np.uint32(how.threads)
    )
    by_place = dict(zip(makes, made, strict=True))
    return jax.tree.unflatten(traced.out_tree, [by_place[i] for i in range(len(results))])


def _places(ports: Sequence[Any]) -> list[int]:
    """Which arguments or results an entry point's ports are, by their names."""
    return [int(name.rpartition(".")[2]) for name, *_ in ports]


@functools.cache
def _register() -> None:
    """Tells XLA of the engine."""
    state, handlers = _engine.xla_call()
    jax.ffi.register_ffi_type(f"{TARGET}_state", state)
    jax.ffi.register_ffi_target(TARGET, handlers)


def _leaves(tree: Any) -> list[tuple[str, Any]]:
    return [(jax.tree_util.keystr(path), leaf) for path, leaf in jax.tree_util.tree_leaves_with_path(tree)]
