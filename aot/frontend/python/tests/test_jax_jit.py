"""`ingot.jax.jit` in the place of `jax.jit`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ingot.jax
from ingot import cache


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path))


def close(given: Any, expected: Any) -> None:
    assert jax.tree.structure(given) == jax.tree.structure(expected)
    for mine, reference in zip(jax.tree.leaves(given), jax.tree.leaves(expected), strict=True):
        assert isinstance(mine, jax.Array) and mine.dtype == reference.dtype
        if jnp.issubdtype(mine.dtype, jax.dtypes.prng_key):
            mine, reference = jax.random.key_data(mine), jax.random.key_data(reference)
        np.testing.assert_allclose(mine, reference, rtol=1e-5, atol=1e-6)


def train_step(state: Any, x: jax.Array, rate: float = 0.1) -> Any:
    def loss_of(params: Any) -> jax.Array:
        noise = jax.random.normal(state["key"], x.shape)
        return jnp.mean((jnp.tanh((x + noise) @ params["w"]) + params["b"]) ** 2)

    loss, grads = jax.value_and_grad(loss_of)(state["params"])
    params = jax.tree.map(lambda p, g: p - rate * g, state["params"], grads)
    return {"params": params, "key": jax.random.split(state["key"])[0]}, {"loss": loss}


def first_state() -> Any:
    return {"params": {"w": jnp.full((3, 2), 0.5, jnp.float32), "b": jnp.zeros(2)}, "key": jax.random.key(1)}


def test_trains_as_jax_does(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []
    right = cache.compiled
    monkeypatch.setattr(cache, "compiled", lambda *args, **how: compiled.append(args) or right(*args, **how))
    mine, reference = ingot.jax.jit(train_step), jax.jit(train_step)
    states = [first_state(), first_state()]
    for i in range(4):
        x = jax.random.normal(jax.random.key(i), (5, 3))
        given, expected = mine(states[0], x, rate=0.1), reference(states[1], x, rate=0.1)
        close(given, expected)
        states = [given[0], expected[0]]
    assert len(compiled) == 1
    mine(states[0], jnp.ones((2, 3)))
    assert len(compiled) == 2


def test_trees_static_arguments_and_types() -> None:
    @ingot.jax.jit(static_argnums=1)
    def power(x: Any, n: int) -> Any:
        return [x["a"] ** n, (x["wave"] * 2, x["half"] + 1)]

    x = {"a": np.arange(3.0, dtype=np.float32), "wave": jnp.array([1 + 2j]), "half": jnp.ones(4, jnp.bfloat16)}
    for n in (2, 3):
        close(power(x, n), [x["a"] ** n, (x["wave"] * 2, x["half"] + 1)])


def test_is_the_function_under_jaxs_own_transformations() -> None:
    double = ingot.jax.jit(lambda x: x * 2)
    assert jax.grad(lambda x: double(x) ** 2)(3.0) == 24


def test_a_memory_limit_is_met_or_refused() -> None:
    close(ingot.jax.jit(jnp.tanh, memory_limit="1MiB")(jnp.ones(4)), jnp.tanh(jnp.ones(4)))
    limited = ingot.jax.jit(lambda x: jnp.sort(x @ x) @ x, memory_limit=1)
    with pytest.raises(RuntimeError, match=r"@call takes \d+ bytes at least"):
        limited(jnp.ones((8, 8)))
