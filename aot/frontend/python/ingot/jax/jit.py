"""``jax.jit`` by ingot: a function of arrays runs as a bundle in this process."""

from __future__ import annotations

import contextlib
import functools
import inspect
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax

from ingot.jax.call import How, call
from ingot.jax.private import trace_state_clean

# Options of jax.jit without an effect on results: what is donated stays as it is.
IGNORED = {"donate_argnums", "donate_argnames", "keep_unused", "inline"}
# What is compiled of a function is one for all `jit` of it that are alike.
SHARED: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()


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
    static = {"static_argnums": _tuple(static_argnums), "static_argnames": _tuple(static_argnames)}
    how = How(threads, target, memory_limit)
    if function is None:
        return functools.partial(jit, **static, **vars(how))
    by_jax = jax.jit(function, **static, keep_unused=True)
    by_ingot = _by_ingot(function, static, how)

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        return by_ingot(*args, **kwargs) if trace_state_clean() else by_jax(*args, **kwargs)

    def clear_cache() -> None:
        by_jax.clear_cache()
        by_ingot.clear_cache()

    for method in ("trace", "lower", "eval_shape"):
        setattr(called, method, getattr(by_jax, method))
    called.clear_cache = clear_cache  # type: ignore[attr-defined]
    return called


def _by_ingot(function: Callable[..., Any], static: dict[str, Any], how: How) -> Any:
    """What JAX calls outside of its transformations."""
    try:
        shared = SHARED.setdefault(function, {})
    except TypeError:  # not hashable, or without weak references
        return _calls(function, lambda: function, static, how)
    key = (*static.values(), how)
    if key not in shared:
        shared[key] = _calls(function, weakref.ref(function), static, how)
    return shared[key]


def _calls(function: Callable[..., Any], get: Callable[[], Any], static: dict[str, Any], how: How) -> Any:
    """The function by `how`, for JAX to trace. It holds `get`, which gives the function, and not the function."""

    def compiled(*args: Any, **kwargs: Any) -> Any:
        if jax.config.jax_disable_jit:
            return get()(*args, **kwargs)
        traced = jax.jit(get(), **static, keep_unused=True).trace(*args, **kwargs)
        leaves = [leaf for leaf in jax.tree.leaves((args, kwargs)) if isinstance(leaf, jax.core.Tracer)]
        return call(traced, leaves, how)

    compiled.__name__ = getattr(function, "__name__", compiled.__name__)
    with contextlib.suppress(TypeError, ValueError):  # Python knows no signature
        compiled.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return jax.jit(compiled, **static)


def _tuple(given: Any) -> Any:
    return given if given is None or isinstance(given, (int, str)) else tuple(given)


def _is_unspecified(option: str, value: Any) -> bool:
    """Whether an option of ``jax.jit`` is as if it were left out: its default or None, maybe for each argument."""
    parameter = inspect.signature(jax.jit).parameters.get(option)
    return parameter is not None and all(leaf is parameter.default for leaf in jax.tree.leaves(value))
