"""The only names of JAX that this package uses and JAX does not publish; a test tells which one is gone."""

from typing import Any

import jax
from jax._src.callback import pure_callback_p as pure_callback
from jax._src.checkify import FailedCheckError, assert_func
from jax._src.checkify import error_checks as CHECK_RULES
from jax._src.core import trace_state_clean
from jax._src.interpreters.partial_eval import dce_jaxpr
from jax._src.lax.lax import _convert_element_type as weakly_typed

__all__ = [
    "CHECK_RULES",
    "FailedCheckError",
    "assert_func",
    "failures",
    "pure_callback",
    "trace_state_clean",
    "weakly_typed",
    "without_unused",
]


def failures(error: Any) -> list[tuple[Any, Any]]:
    """The checks of an error of checkify: whether each is the one that fails, and its FailedCheckError."""
    return [
        (failed & (error._code[effect] == code), jax.tree.unflatten(made, error._payload[effect]))
        for effect, failed in error._pred.items()
        for code, made in error._metadata.items()
    ]


def without_unused(jaxpr: Any) -> Any:
    """The same function without what none of its results needs; all its arguments stay."""
    kept, _ = dce_jaxpr(jaxpr.jaxpr, [True] * len(jaxpr.jaxpr.outvars), instantiate=True)
    return jaxpr.replace(jaxpr=kept)
