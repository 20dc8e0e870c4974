"""``jax.jit`` by ingot: a function of arrays runs as a bundle in this process."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import types
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax import jit as jax_jit  # a program may put ingot's in the place of `jax.jit`

from ingot.jax.call import How, call
from ingot.jax.checks import has_checks, raise_error, traced_with_error
from ingot.jax.private import trace_state_clean

# Options of jax.jit without an effect on results: what is donated stays as it is.
IGNORED = {"donate_argnums", "donate_argnames", "keep_unused", "inline"}
# Compiled functions: one for each function and set of options, shared by every `jit` of it.
SHARED: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()


def jit(
    function: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Sequence[str] | None = None,
    threads: int = 1,
    target: str = "host",
    memory_limit: int | str | None = None,
    **options: Any,
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
    for option, value in options.items():
        if option not in IGNORED and not _is_unspecified(option, value):
            raise TypeError(
                f"ingot.jax.jit does not take {option!r}: functions run on this machine's processor as `target` says; "
                "leave it out, or use jax.jit"
            )
    static = {"static_argnums": _tuple(static_argnums), "static_argnames": _tuple(static_argnames)}
    how = How(threads, target, memory_limit)
    this = functools.partial(jit, **static, **vars(how), **options)
    if function is None:
        return this
    by_jax = jax_jit(function, **static, **options)
    try:
        by_ingot = _by_ingot(function, weakref.ref(function), static, how)
    except TypeError:  # no weak references, of which JAX says so when it is called
        return by_jax  # type: ignore[no-any-return]
    return Jitted(function, by_jax, by_ingot, this)


class Jitted:
    """A function that JAX dispatches, to ingot outside of JAX's transformations."""

    # Slots, since functools.wraps copies only what is in __dict__.
    __slots__ = ("__dict__", "__weakref__", "_by_ingot", "_by_jax", "_made")

    def __init__(self, function: Callable[..., Any], by_jax: Any, by_ingot: Any, jit: Callable[..., Any]) -> None:
        self._by_jax, self._by_ingot, self._made = by_jax, by_ingot, (jit, (function,))
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function, compiled or, within a transformation of JAX, by JAX."""
        return self._by_ingot(*args, **kwargs) if trace_state_clean() else self._by_jax(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<ingot.jax.jit of {getattr(self, '__wrapped__', None)!r}>"

    def __reduce__(self) -> Any:
        name = getattr(self, "__qualname__", "")
        is_global = getattr(sys.modules.get(self.__module__), name, None) is self
        return name if is_global else self._made

    @property
    def trace(self) -> Any:
        """JAX's trace of the function."""
        return self._by_jax.trace

    @property
    def lower(self) -> Any:
        """JAX's lowering of the function."""
        return self._by_jax.lower

    @property
    def eval_shape(self) -> Any:
        """The types of what the function returns."""
        return self._by_jax.eval_shape

    def clear_cache(self) -> None:
        """Forgets what was traced and compiled."""
        self._by_jax.clear_cache()
        self._by_ingot.clear_cache()


def _by_ingot(function: Callable[..., Any], get: weakref.ref[Any], static: dict[str, Any], how: How) -> Any:
    """The function that JAX traces and calls where it transforms nothing."""
    try:
        shared = SHARED.setdefault(function, {})
    except TypeError:  # not hashable
        return _calls(function, get, static, how)
    key = (*static.values(), how)
    if key not in shared:
        shared[key] = _calls(function, get, static, how)
    return shared[key]


def _calls(function: Callable[..., Any], get: Callable[[], Any], static: dict[str, Any], how: How) -> Any:
    """The function by `how`, for JAX to trace. It holds `get`, which gives the function, and not the function."""

    def compiled(*args: Any, **kwargs: Any) -> Any:
        if jax.config.jax_disable_jit:
            return get()(*args, **kwargs)
        by_jax = jax_jit(get(), **static, keep_unused=True)
        traced = by_jax.trace(*args, **kwargs)
        leaves = [leaf for leaf in jax.tree.leaves((args, kwargs)) if isinstance(leaf, jax.core.Tracer)]
        if len(traced.jaxpr.in_avals) != len(leaves):  # it reads a tracer that escaped, of which JAX tells
            return by_jax(*args, **kwargs)
        if not has_checks(traced.jaxpr.jaxpr):
            return call(traced, leaves, how)
        error, results = call(traced_with_error(traced, leaves), leaves, how)
        raise_error(error)
        return jax.tree.unflatten(traced.out_tree, results)

    compiled.__name__ = getattr(function, "__name__", compiled.__name__)
    with contextlib.suppress(TypeError, ValueError):  # Python knows no signature
        compiled.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return jax_jit(compiled, **static)


def _tuple(given: Any) -> Any:
    return given if given is None or isinstance(given, (int, str)) else tuple(given)


def _is_unspecified(option: str, value: Any) -> bool:
    """Whether an option of ``jax.jit`` is as if it were left out: its default or None, maybe for each argument."""
    parameter = inspect.signature(jax_jit).parameters.get(option)
    return parameter is not None and all(leaf is parameter.default for leaf in jax.tree.leaves(value))
