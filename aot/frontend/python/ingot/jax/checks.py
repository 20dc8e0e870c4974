"""The checks of equinox, `error_if`, which are callbacks: a program returns which one fails, and JAX calls it then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import jit as jax_jit
from jax.experimental import checkify, io_callback
from jax.extend.core import jaxpr_as_fun, jaxprs_in_params

from ingot.jax.private import CHECK_RULES, FailedCheckError, assert_func, failures, pure_callback, without_unused

MODULE = "equinox._errors"
ENABLED: Any = frozenset({MODULE})  # by which checkify keeps apart what it made for this module and for others


def has_checks(jaxpr: Any) -> bool:
    """Whether there are checks in what JAX traced, and no other effects, which are refused."""
    return not jaxpr.effects and any(
        _is_check(eqn.primitive, eqn.params) or any(map(has_checks, jaxprs_in_params(eqn.params))) for eqn in jaxpr.eqns
    )


def traced_with_error(traced: Any, leaves: Sequence[Any]) -> Any:
    """The function of the leaves of its arguments that returns an error and what it returned before, as JAX traced it.

    A check of a value that nothing uses is none, as in equinox.
    """
    function = jaxpr_as_fun(without_unused(traced.jaxpr))
    return jax_jit(checkify.checkify(lambda *flat: function(*flat), ENABLED), keep_unused=True).trace(*leaves)


def raise_error(error: Any) -> None:
    """Has JAX call what raises the error, if there is one when the call runs."""
    for fails, check in failures(error):
        call = lambda index, raises=check.fmt_string: io_callback(raises, None, index)  # noqa: E731
        jax.lax.cond(fails, call, lambda index: None, *check.args)


def _is_check(primitive: Any, params: dict[str, Any]) -> bool:
    if primitive is not pure_callback:
        return False
    return getattr(params["callback"].callback_func, "__module__", None) == MODULE


def _rule(error: Any, enabled: Any, *args: Any, **params: Any) -> tuple[Any, list[Any]]:
    """In the place of a check that fails: an error, whose text is what raises it, and anything as its result."""
    if enabled != ENABLED or not _is_check(pure_callback, params):
        return error, pure_callback.bind(*args, **params)
    raises = params["callback"].callback_func
    if raises.__name__ == "raises":  # else it is for devices where nothing can be raised
        error = assert_func(error, jnp.bool_(True), FailedCheckError("", raises, *args))
    return error, [jnp.zeros(like.shape, like.dtype) for like in params["result_avals"]]


CHECK_RULES[pure_callback] = _rule
