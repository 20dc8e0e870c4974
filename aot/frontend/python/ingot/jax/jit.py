"""``jax.jit`` by ingot: a function of arrays runs as a bundle in this process."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax._src.config import trace_context  # what of JAX's settings a trace depends on
from jax._src.core import trace_state_clean

from ingot import cache
from ingot.jax.leaves import checked, type_of
from ingot.jax.module import entry_text
from ingot.jax.run import Run
from ingot.jax.static import Static
from ingot.session import Session
from ingot.stablehlo import Port

ENTRY = "call"
# By what JAX traced, which is one for all `jit` of a function, and by threads, target and memory limit.
COMPILED: weakref.WeakKeyDictionary[Any, dict[tuple[Any, ...], Run]] = weakref.WeakKeyDictionary()
NUMBERS = (bool, int, float, complex)
# Options of jax.jit without an effect on results: what is donated stays as it is.
IGNORED = {"donate_argnums", "donate_argnames", "keep_unused", "inline"}


def jit(
    function: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Sequence[str] | None = None,
    threads: int = 1,
    target: str = "host",
    memory_limit: int | str | None = None,
    **ignored: Any,
) -> Callable[..., Any]:
    """In the place of ``jax.jit``: compiles whenever JAX would trace the function anew.

    That is for each set of shapes, element types (weak or not), static arguments and settings of JAX. Arguments and
    results are trees of arrays and numbers. Random bits are JAX's own. What the function closes over is as it was when
    it was traced, as with ``jax.jit``. Under JAX's transformations, and where ``jax.disable_jit`` says so, it is
    ``jax.jit`` itself; ``trace``, ``lower``, ``eval_shape`` and ``clear_cache`` are its methods. `memory_limit` is that
    of ``ingot.compile``, for a call.

    Options of ``jax.jit`` that have no meaning here, such as `in_shardings`, may be None.

    Raises TypeError where they are not.
    """
    for option, value in ignored.items():
        if option not in IGNORED and not _is_unspecified(option, value):
            raise TypeError(
                f"ingot.jax.jit does not take {option!r}: functions run on this machine's processor as `target` says; "
                "leave it out, or use jax.jit"
            )
    if function is None:
        return functools.partial(
            jit,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            threads=threads,
            target=target,
            memory_limit=memory_limit,
        )
    by_jax = jax.jit(function, static_argnums=static_argnums, static_argnames=static_argnames, keep_unused=True)
    static = Static.of(function, static_argnums, static_argnames)
    how = threads, target, memory_limit
    known: dict[Any, Callable[[], Any]] = {}  # what JAX traced, as long as it keeps that, by the types of arguments

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = jax.tree.flatten(static.others(args, kwargs))
        key = _key(leaves, tree, static.fixed(args, kwargs))
        jaxpr = known[key]() if key is not None and key in known else None
        if jaxpr is not None:
            return COMPILED[jaxpr][how](leaves)
        if jax.config.jax_disable_jit or any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
            return by_jax(*args, **kwargs)
        traced = by_jax.trace(*args, **kwargs)
        if len(traced.jaxpr.in_avals) != len(leaves):  # the function closes over what another function is traced with
            return by_jax(*args, **kwargs)
        runs = COMPILED.setdefault(traced.jaxpr, {})
        run = runs.get(how)
        if run is None:
            run = runs[how] = _run(traced, *how)
        if key is not None:
            known[key] = weakref.ref(traced.jaxpr)
        return run(leaves)

    for method in ("trace", "lower", "eval_shape", "clear_cache"):
        setattr(call, method, getattr(by_jax, method))
    return call


def _is_unspecified(option: str, value: Any) -> bool:
    """Whether an option of ``jax.jit`` is as if it were left out: its default or None, maybe for each argument."""
    parameter = inspect.signature(jax.jit).parameters.get(option)
    return parameter is not None and all(leaf is parameter.default for leaf in jax.tree.leaves(value))


def _run(traced: Any, threads: int, target: str, memory_limit: int | str | None) -> Run:
    arguments = dict(zip(("args", "kwargs"), traced.in_avals, strict=True))
    given = [checked(aval, root + path) for root, tree in arguments.items() for path, aval in _leaves(tree)]
    results = [checked(like, "result" + path) for path, like in _leaves(traced.out_info)]
    text = entry_text(
        traced.lower(lowering_platforms=("cpu",)),
        [(Port(f"argument.{i}"), type_of(like)) for i, like in enumerate(given)],
        [(Port(f"result.{i}"), type_of(like)) for i, like in enumerate(results)],
    )
    bundle = cache.compiled({ENTRY: text}, target, memory_limit=memory_limit)
    return Run(Session(bundle, threads).entries[ENTRY], given, results, traced.out_tree)


def _key(leaves: Sequence[Any], tree: Any, fixed: tuple[Any, ...]) -> Any:
    """The key of a call: another key makes JAX trace the function again. None if only JAX can tell.

    Only JAX can tell within another trace, of leaves that are no arrays or numbers, and of unhashable arguments.
    """
    if jax.config.jax_disable_jit or not trace_state_clean():
        return None
    kinds = tuple([_kind(leaf) for leaf in leaves])
    key = tree, fixed, trace_context(), kinds
    try:
        hash(key)
    except TypeError:
        return None
    return None if None in kinds else key


def _kind(leaf: Any) -> Any:
    """A leaf's part of the key: its type and shape. None if only JAX can tell."""
    kind = type(leaf)
    if kind in _arrays():
        return leaf.aval
    if kind is np.ndarray or issubclass(kind, np.generic):
        return np.ndarray, leaf.shape, leaf.dtype
    return kind if kind in NUMBERS else None


@functools.cache
def _arrays() -> tuple[type, ...]:
    """The classes of JAX's arrays with values, and of its random keys."""
    return type(jax.numpy.zeros(())), type(jax.random.key(0))


def _leaves(tree: Any) -> list[tuple[str, Any]]:
    return [(jax.tree_util.keystr(path), leaf) for path, leaf in jax.tree_util.tree_leaves_with_path(tree)]
