"""``jax.jit`` by ingot: a function of arrays runs as a bundle in this process."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax

from ingot import cache
from ingot.entry import Entry
from ingot.folder import output_name
from ingot.jax.leaves import abstract, from_numpy, named_leaves, to_numpy
from ingot.jax.program import BATCH, Program
from ingot.session import Session

ENTRY = "call"
OUTPUT = "output"


@dataclass(frozen=True)
class Run:
    """A function compiled for arguments of certain types: its entry point, and the tree that it returns."""

    entry: Entry
    results: dict[str, jax.ShapeDtypeStruct]
    structure: Any


def jit(
    function: Callable[..., Any] | None = None,
    *,
    static_argnums: int | tuple[int, ...] = (),
    threads: int = 1,
    target: str = "host",
    memory_limit: int | str | None = None,
) -> Callable[..., Any]:
    """In the place of ``jax.jit``: compiles once for each set of shapes, element types and static arguments.

    Arguments and results are trees of arrays and numbers. Random bits are JAX's own. What the function closes over is
    as it was when it was compiled, as with ``jax.jit``. Under JAX's own transformations it is the function itself.
    `memory_limit` is that of ``ingot.compile``, for a call.
    """
    if function is None:
        return functools.partial(
            jit, static_argnums=static_argnums, threads=threads, target=target, memory_limit=memory_limit
        )
    static = {static_argnums} if isinstance(static_argnums, int) else set(static_argnums)
    runs: dict[Any, Run] = {}

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        fixed = {i: value for i, value in enumerate(args) if i in static}
        given = [value for i, value in enumerate(args) if i not in static], kwargs
        if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(given)):
            return function(*args, **kwargs)
        like = abstract(given, BATCH)
        key = jax.tree.structure(given), tuple(jax.tree.leaves(like)), tuple(fixed.items())
        if key not in runs:
            runs[key] = _run(_with_fixed(function, fixed), like, threads, target, memory_limit)
        run = runs[key]
        types = named_leaves(like, BATCH)
        values = {name: to_numpy(leaf, types[name]) for name, leaf in named_leaves(given, BATCH).items()}
        outputs = run.entry(**{port.name: values[port.name] for port in run.entry.inputs})
        return jax.tree.unflatten(
            run.structure, [from_numpy(outputs[name], type_) for name, type_ in run.results.items()]
        )

    return call


def _with_fixed(function: Callable[..., Any], fixed: dict[int, Any]) -> Callable[[Any, Any], Any]:
    """The function of its other arguments, as an entry point without a state has it."""

    def of_batch(_: Any, batch: Any) -> Any:
        rest, kwargs = batch
        others = iter(rest)
        args = [fixed[i] if i in fixed else next(others) for i in range(len(rest) + len(fixed))]
        return function(*args, **kwargs)

    return of_batch


def _run(
    function: Callable[[Any, Any], Any], like: Any, threads: int, target: str, memory_limit: int | str | None
) -> Run:
    program = Program()
    program.add(ENTRY, function, {}, like, training=False)
    returned = abstract(jax.eval_shape(function, {}, like), OUTPUT)
    results = {output_name(path, OUTPUT): type_ for path, type_ in named_leaves(returned).items()}
    session = Session(cache.compiled(program.texts, target, memory_limit=memory_limit), threads)
    return Run(session.entries[ENTRY], results, jax.tree.structure(returned))
