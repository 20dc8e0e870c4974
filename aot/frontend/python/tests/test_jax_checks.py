"""Checks as equinox's `error_if` makes them, in functions that `ingot.jax.jit` compiles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import checkify

import ingot.jax


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path))


def error_if(x: jax.Array, pred: jax.Array, *messages: str, index: Any = 0) -> jax.Array:
    """As that of equinox, by the callbacks that it makes."""

    def raises(i: Any) -> Any:
        raise ArithmeticError(messages[i.item()])

    def tpu_msg(out: Any, i: Any) -> Any:
        raise AssertionError

    raises.__module__ = tpu_msg.__module__ = "equinox._errors"

    @jax.custom_jvp
    def check(x: jax.Array, pred: jax.Array, index: jax.Array) -> Any:
        def failed() -> Any:
            out = jax.pure_callback(raises, x, index)
            return jax.pure_callback(tpu_msg, x, out, index)

        return jax.lax.cond(pred, failed, lambda: x)

    check.defjvp(lambda primals, tangents: (check(*primals), tangents[0]))
    return check(x, pred, jnp.int32(index))


def checked(x: jax.Array, n: Any) -> Any:
    x = error_if(x, x.min() < 0, "negative")
    doubled = jax.lax.fori_loop(0, 4, lambda _, y: error_if(y * 2, (y > 100).any(), "large"), x)
    return {"doubled": doubled, "named": error_if(x, n > 0, "no", "one", "two", index=n)}


def test_checks_raise_what_they_say() -> None:
    step = ingot.jax.jit(checked)
    for _ in range(2):
        given = step(jnp.ones(3), 0)
        np.testing.assert_array_equal(given["doubled"], jnp.full(3, 16.0))
    for x, n, message in ((-1.0, 0, "negative"), (20.0, 0, "large"), (1.0, 1, "one"), (1.0, 2, "two")):
        with pytest.raises(jax.errors.JaxRuntimeError, match=f"ArithmeticError: {message}"):
            jax.block_until_ready(step(jnp.full(3, x), n))
    np.testing.assert_array_equal(step(jnp.ones(3), 0)["named"], jnp.ones(3))


def test_checks_are_those_of_each_jit() -> None:
    """JAX traces a function once, and what it calls."""
    inner = jax.jit(lambda x: error_if(x, x.min() < 0, "negative"))
    outer = lambda x: inner(x) * 2  # noqa: E731
    for threads in (1, 2):
        with pytest.raises(jax.errors.JaxRuntimeError, match="ArithmeticError: negative"):
            jax.block_until_ready(ingot.jax.jit(outer, threads=threads)(jnp.full(3, -1.0)))


def test_checks_hold_within_gradients() -> None:
    loss = ingot.jax.jit(jax.value_and_grad(lambda x: jnp.sum(error_if(x * 2, x.sum() > 9, "much") ** 2)))
    np.testing.assert_allclose(loss(jnp.ones(3))[1], jnp.full(3, 8.0))
    with pytest.raises(jax.errors.JaxRuntimeError, match="ArithmeticError: much"):
        jax.block_until_ready(loss(jnp.full(3, 4.0)))


def test_a_check_of_what_is_unused_is_none() -> None:
    def unused(x: jax.Array) -> jax.Array:
        error_if(x, x.sum() > 0, "unused")
        return x + 1

    np.testing.assert_array_equal(ingot.jax.jit(unused)(jnp.ones(2)), jnp.full(2, 2.0))


def test_other_callbacks_beside_checks_are_refused() -> None:
    def printed(x: jax.Array) -> jax.Array:
        jax.debug.print("{}", x)
        return error_if(x, x.sum() < 0, "negative")

    with pytest.raises(ValueError, match=r"test_jax_checks.py:\d+: jax.debug.print"):
        ingot.jax.jit(printed)(jnp.ones(2))
    with pytest.raises(ValueError, match="checkify"):
        ingot.jax.jit(lambda x: checkify.check(x.sum() > 0, "no") or error_if(x, x.sum() < 0, "negative"))(jnp.ones(2))
