"""Windows that reach outside of a tensor, and matrices without elements: what JAX gives, `ingot.jax.jit` gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import ingot.jax

STARTS = jnp.array([[3], [0], [-1], [2], [9]])
ALONG = lax.ScatterDimensionNumbers((1,), (), (0,))
ROWS = lax.GatherDimensionNumbers((1,), (), (0,))
X = jnp.arange(1.0, 5.0)
IMAGE = jax.random.normal(jax.random.key(0), (2, 5, 6))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path))


def check(function: Callable[..., Any], *args: Any) -> None:
    given, expected = ingot.jax.jit(function)(*args), jax.jit(function)(*args)
    assert jax.tree.structure(given) == jax.tree.structure(expected)
    for mine, reference in zip(jax.tree.leaves(given), jax.tree.leaves(expected), strict=True):
        assert mine.dtype == reference.dtype
        np.testing.assert_allclose(mine, reference, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("mode", ["fill", "clip"])
@pytest.mark.parametrize("scatter", [lax.scatter_add, lax.scatter, lax.scatter_max, lax.scatter_mul])
def test_scatters_take_whole_windows(scatter: Callable[..., Any], mode: str) -> None:
    check(lambda x, i, u: scatter(x, i, u, ALONG, mode=mode), X, STARTS, jnp.arange(10.0).reshape(5, 2))
    whole = jnp.arange(20.0).reshape(5, 4)
    check(lambda x, i, u: scatter(x, i, u, ALONG, mode=mode), X, STARTS.astype(jnp.int8), whole)
    planes = lax.ScatterDimensionNumbers((1, 2), (), (1, 0))
    starts = jnp.array([[4, 5], [0, 0], [3, 4], [-1, 2], [4, 3]])
    check(lambda x, i, u: scatter(x, i, u, planes, mode=mode), jnp.ones((6, 5)), starts, jnp.ones((5, 3, 2)) * 2)


def test_scatters_of_one_window() -> None:
    numbers = lax.ScatterDimensionNumbers((0,), (), (0,))
    for start in (-1, 1, 2, 4):
        check(lambda x, i, u: lax.scatter_add(x, i, u, numbers), X, jnp.array([start]), jnp.ones(3))


@pytest.mark.parametrize("mode", ["fill", "clip"])
def test_gradients_of_gathers(mode: str) -> None:
    def taken(x: jax.Array) -> jax.Array:
        return (lax.gather(x, STARTS, ROWS, (2,), mode=mode, fill_value=7.0) ** 3).sum()

    check(jax.grad(taken), X)
    check(jax.hessian(taken), X)


@pytest.mark.parametrize("padding", ["SAME", [(2, 3)], [(-1, 2)]])
@pytest.mark.parametrize("op", [lax.add, lax.mul, lax.max, lambda a, b: a + b + a * b])
def test_windows_start_once(op: Callable[..., Any], padding: Any) -> None:
    check(lambda x: lax.reduce_window(x, 1.0, op, (3,), (1,), padding), X)
    check(lambda x, i: lax.reduce_window(x, i, op, (2,), (1,), padding, window_dilation=(2,)), X, 2.5)
    if padding != "SAME":
        check(lambda x: lax.reduce_window(x, 2.5, op, (3,), (1,), padding, base_dilation=(2,)), X)


def test_windows_of_several_arrays() -> None:
    def both(a: Any, b: Any) -> Any:
        return a[0] + b[0], a[1] * b[1]

    check(lambda x: lax.reduce_window((x, 2 * x), (1.0, 2.0), both, (3,), (1,), "SAME"), X)
    check(jax.vmap(lambda x: lax.reduce_window(x, 1, lax.add, (2, 2), (1, 1), "SAME")), IMAGE.astype(jnp.int32))


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3)])
def test_matrices_without_elements(shape: tuple[int, ...]) -> None:
    x = jnp.ones(shape)
    for function in (jnp.linalg.cholesky, jnp.linalg.inv, jnp.linalg.qr, jnp.linalg.eigh, jnp.linalg.svd):
        check(function, x)
    check(lambda x: (jnp.linalg.slogdet(x), lax.linalg.lu(x), jnp.linalg.solve(x, x)), x)
    check(jax.grad(lambda x: jnp.linalg.inv(x).sum() + jnp.linalg.cholesky(x).sum()), x)


def test_matrices_without_columns() -> None:
    check(lambda x: (lax.linalg.lu(x), lax.linalg.lu(x.T), jnp.linalg.qr(x)), jnp.ones((3, 0)))
