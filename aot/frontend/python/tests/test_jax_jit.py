"""`ingot.jax.jit` in the place of `jax.jit`."""

from __future__ import annotations

import copy
import gc
import inspect
import operator
import pickle
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src.lax.lax import _convert_element_type as weakly_typed

import ingot.jax
from ingot import cache
from ingot.jax import private


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


def test_static_arguments_are_jaxs() -> None:
    def scaled(x: Any, n: Any = 2, *, mode: str = "times") -> Any:
        return x * n if mode == "times" else x[: int(n)]

    x = jnp.arange(3.0)
    by_name: list[tuple[Any, dict[str, Any]]] = [((x,), {"n": 2, "mode": "cut"}), ((x,), {"n": 3})]
    by_place: list[tuple[Any, dict[str, Any]]] = [((x, n), {"mode": "times"}) for n in (2, 1, True, 1.0)]
    hows: list[tuple[dict[str, Any], Any]] = [
        ({"static_argnames": ("n", "mode")}, by_name + by_place),
        ({"static_argnums": 1, "static_argnames": "mode"}, by_place),
        ({"static_argnums": (1,)}, [((x, 2), {}), ((x,), {"n": 3})]),
    ]
    for how, calls in hows:
        mine, reference = ingot.jax.jit(scaled, **how), jax.jit(scaled, **how)
        for args, kwargs in calls:
            close(mine(*args, **kwargs), reference(*args, **kwargs))
    last = ingot.jax.jit(lambda x, kind: x + len(type(kind).__name__), static_argnums=-1)
    close([last(x, kind) for kind in (1, True, 1.0)], [x + 3, x + 4, x + 5])
    with pytest.raises(ValueError, match="Non-hashable static arguments"):
        last(x, [1])


def test_options_of_jax_have_no_effect_or_are_refused() -> None:
    kept = jnp.ones(2)
    step = ingot.jax.jit(lambda state, x: state + x, donate_argnums=0, keep_unused=True, inline=True)
    close(step(kept, 1.0), kept + 1)
    nowhere: dict[str, Any] = {name: None for name in ("in_shardings", "out_shardings", "device", "backend")}
    default = inspect.signature(jax.jit).parameters["in_shardings"].default
    for how in (nowhere, {"in_shardings": default}, {"in_shardings": (None, {"x": default})}, {"compiler_options": {}}):
        close(ingot.jax.jit(jnp.tanh, **how)(kept), jnp.tanh(kept))
    cpu = jax.sharding.SingleDeviceSharding(jax.devices("cpu")[0])
    hows: list[tuple[str, Any]] = [("in_shardings", (None, cpu)), ("backend", "gpu"), ("in_shading", None)]
    for option, value in hows:
        with pytest.raises(TypeError, match=f"does not take '{option}'"):
            ingot.jax.jit(jnp.tanh, **{option: value})


@pytest.mark.parametrize("promotion", ["standard", "strict"])
@pytest.mark.parametrize("dtype", ["float32", "int32", "complex64", "float64", "bfloat16", "uint8"])
@pytest.mark.parametrize("shape", [(), (2, 3), (0,)])
def test_weak_types_are_of_any_width(shape: tuple[int, ...], dtype: str, promotion: Any) -> None:
    with jax.enable_x64(True), jax.numpy_dtype_promotion(promotion):
        x = jnp.ones(shape, dtype)
        given, expected = (jit(lambda x: weakly_typed(x, x.dtype, True))(x) for jit in (ingot.jax.jit, jax.jit))
        assert given.aval == expected.aval and given.weak_type
        close(given, expected)


@pytest.mark.parametrize("value", [2, 2.5, 2j, True, np.float32(2), jnp.int8(2)])
def test_results_give_way_to_other_types_as_jaxs_do(value: Any) -> None:
    for function in (lambda x: x * 2, lambda x: jnp.ones(2, jnp.int8) + x, lambda x: {"x": x, "n": 3}):
        given, expected = ingot.jax.jit(function)(value), jax.jit(function)(value)
        close(given, expected)
        for mine, reference in zip(jax.tree.leaves(given), jax.tree.leaves(expected), strict=True):
            assert mine.weak_type == reference.weak_type
            assert (mine * jnp.ones(2, jnp.bfloat16)).dtype == (reference * jnp.ones(2, jnp.bfloat16)).dtype


def test_settings_of_jax_that_change_between_calls_count() -> None:
    def random_doubles(given: Any) -> Any:
        x = jnp.asarray(given)
        return x.astype(float) / 3 + jnp.linspace(0, 1, 4), jax.random.normal(jax.random.key(1), (4,)), x + 3

    mine, reference = ingot.jax.jit(random_doubles), jax.jit(random_doubles)
    for wide, partitionable in ((False, True), (True, True), (False, False), (True, False), (False, True)):
        with jax.enable_x64(wide), jax.threefry_partitionable(partitionable):
            close(mine(jnp.float32(2)), reference(jnp.float32(2)))
            close(mine(2), reference(2))
    with jax.numpy_rank_promotion("raise"), pytest.raises(ValueError, match="rank_promotion"):
        ingot.jax.jit(lambda x: x + jnp.ones((2, 2)))(jnp.ones(2))
    seen: list[Any] = []
    eager = ingot.jax.jit(lambda x: seen.append(x) or x * 2)
    with jax.disable_jit():
        assert eager(jnp.float32(3)) == 6 and float(seen[0]) == 3


def test_what_an_outer_function_is_traced_with_may_be_closed_over() -> None:
    def outer(w: jax.Array) -> jax.Array:
        return (ingot.jax.jit(lambda: w * 2)() + ingot.jax.jit(lambda x: x + 1.5)(2)).sum()

    w = jnp.arange(3.0)
    close(jax.grad(outer)(w), jnp.full(3, 2.0))
    close(jax.jit(outer)(w), outer(w))
    close(jax.vmap(outer)(w), 2 * w + 3.5)
    close(outer(w), jnp.float32(6 + 3 * 3.5))


def test_names_of_leaves_are_free() -> None:
    tree = {
        'a "quoted"': jnp.ones(2),
        "": jnp.zeros(1),
        "line\n": jnp.ones(3),
        "a.b": jnp.ones(1),
        "a": {"b": jnp.ones(4)},
    }
    close(ingot.jax.jit(lambda t: jax.tree.map(lambda x: x + 1, t))(tree), jax.tree.map(lambda x: x + 1, tree))


def test_references_of_the_caller_are_refused() -> None:
    total = jax.new_ref(jnp.zeros(2))

    def added(x: jax.Array) -> jax.Array:
        total[...] += x
        return total[...]

    with pytest.raises(ValueError, match=r"uses a jax\.Ref that was made outside"):
        ingot.jax.jit(added)(jnp.ones(2))
    with pytest.raises(ValueError, match=r"uses a jax\.Ref that was made outside"):
        ingot.jax.jit(lambda ref, x: ref[...] + x)(total, jnp.ones(2))


def test_traces_again_where_jax_does() -> None:
    factor = [1.0]
    scale = ingot.jax.jit(lambda x: x * factor[0])
    x = jnp.ones(2)
    scale(x)
    factor[0] = 2.0
    close([scale(x)], [x])
    scale.clear_cache()
    close([scale(x)], [x * 2])
    assert scale.eval_shape(x).shape == (2,) and "stablehlo.multiply" in scale.lower(x).as_text()


def of_leaves(tree: dict[str, Any], key: Any, power: int = 1) -> Any:
    drawn = jax.random.uniform(key, (2,))
    return {name: x * 2 + drawn.sum() for name, x in tree.items()} | {"key": jax.random.split(key)[0], "power": power}


ALIKE: dict[str, tuple[Any, Any]] = {
    "arrays": (lambda: jnp.ones(3), lambda: jnp.arange(3.0)),
    "NumPy's": (lambda: np.ones(3, np.float32), lambda: np.zeros(3, np.float32)),
    "numbers": (lambda: 2.0, lambda: 3.0),
    "NumPy's numbers": (lambda: np.float32(2), lambda: np.float32(3)),
    "bf16": (lambda: jnp.ones(3, jnp.bfloat16), lambda: jnp.zeros(3, jnp.bfloat16)),
}
KEYS = jax.random.key, jax.random.PRNGKey


@pytest.mark.parametrize("new_key", KEYS, ids=["key", "PRNGKey"])
@pytest.mark.parametrize("name", ALIKE)
def test_calls_alike_are_traced_once(name: str, new_key: Any) -> None:
    reference, traces = jax.jit(of_leaves, static_argnums=2), []

    def counted(*args: Any) -> Any:
        traces.append(args)
        return of_leaves(*args)

    mine = ingot.jax.jit(counted, static_argnums=2)
    for seed, value in enumerate(ALIKE[name]):
        given = {"a": value(), "b": jnp.ones(2)}, new_key(seed), 3
        close(as_words(mine(*given)), as_words(reference(*given)))
    assert len(traces) == 1
    other = {"a": jnp.ones((3, 1)), "b": jnp.ones(2)}, new_key(0), 3
    close(as_words(mine(*other)), as_words(reference(*other)))
    close(as_words(mine(*other[:2], 4)), as_words(reference(*other[:2], 4)))
    assert len(traces) == 3
    mine.clear_cache()
    mine(*other)
    assert len(traces) == 4


def test_results_of_earlier_calls_stay() -> None:
    double = ingot.jax.jit(lambda x: x * 2, donate_argnums=0)
    results = [jnp.ones((64, 64))]
    for _ in range(8):
        results.append(double(results[-1]))
    close(results, [jnp.full((64, 64), 2.0**n) for n in range(9)])


def test_a_call_outlives_its_function() -> None:
    x = jnp.full((400, 400), 1e-3)
    given = [ingot.jax.jit(lambda x, n=n: x @ x @ x @ x + n)(x) for n in range(3)]
    jax.clear_caches()
    gc.collect()
    close(given, [x @ x @ x @ x + n for n in range(3)])


def test_many_threads_call_one_function() -> None:
    step = ingot.jax.jit(lambda x: jnp.tanh(x @ x) + x.sum())
    arguments = [jax.random.normal(jax.random.key(i), (50, 50)) / 50 for i in range(16)]
    with ThreadPoolExecutor(4) as pool:
        given = list(pool.map(step, arguments))
    close(given, [jnp.tanh(x @ x) + x.sum() for x in arguments])


def test_stands_in_the_place_of_jaxs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jax, "jit", ingot.jax.jit)
    close(jax.jit(lambda x: x * 4)(jnp.ones(2)), jnp.full(2, 4.0))


def test_stages_and_refusals_of_jax_are_jaxs() -> None:
    def scaled(x: Any, n: Any, key: Any) -> Any:
        return x * n

    lowered = ingot.jax.jit(scaled, donate_argnums=0).lower(jnp.ones(2), 2.0, jnp.ones(3))
    assert [leaf.donated for leaf in jax.tree.leaves(lowered.args_info)] == [True, False, False]
    hows: list[tuple[dict[str, Any], str]] = [
        ({"static_argnums": 3}, "static_argnums"),
        ({"donate_argnames": "z"}, "donate_argnames"),
        ({"static_argnums": 0, "donate_argnums": 0}, "cannot intersect"),
    ]
    for how, match in hows:
        with pytest.raises(ValueError, match=match):
            ingot.jax.jit(scaled, **how)
    with pytest.raises(TypeError, match=r"args\[0\] is AbstractToken"):
        ingot.jax.jit(lambda token: token)(jax.lax.create_token())


def test_functions_of_jitted_ones_are_others() -> None:
    cube = ingot.jax.jit(lambda x: x**3)
    close(ingot.jax.jit(jax.grad(cube))(4.0), jnp.float32(48))
    close(ingot.jax.jit(jax.vmap(cube))(jnp.ones(2)), jnp.ones(2))

    class Scale:
        factor = 3.0

        @ingot.jax.jit(static_argnums=0)
        def times(self, x: Any) -> Any:
            return x * self.factor

    close(Scale().times(jnp.ones(2)), jnp.full(2, 3.0))


@ingot.jax.jit
def quadrupled(x: jax.Array) -> jax.Array:
    return x * 4


def test_is_pickled_and_copied_as_a_function() -> None:
    assert pickle.loads(pickle.dumps(quadrupled)) is quadrupled
    assert copy.deepcopy(quadrupled) is quadrupled
    other = pickle.loads(pickle.dumps(ingot.jax.jit(operator.neg, threads=2)))
    close(other(jnp.ones(2)), -jnp.ones(2))


def test_only_what_is_read_is_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    right, texts = cache.compiled, []

    def compiled(given: dict[str, str], *args: Any, **how: Any) -> Any:
        texts.extend(given.values())
        return right(given, *args, **how)

    monkeypatch.setattr(cache, "compiled", compiled)
    close(ingot.jax.jit(lambda a, b, c: b + 1)(jnp.ones(5), jnp.ones(2), 3.0), jnp.full(2, 2.0))
    assert re.findall(r"argument\.\d", texts[0]) == ["argument.1"]


def test_jax_has_the_private_names() -> None:
    """Fails where a version of JAX lacks one, or means something else by it."""
    seen = []
    jax.eval_shape(lambda x: seen.append(private.trace_state_clean()) or x, 1.0)
    assert private.trace_state_clean() and seen == [False]
    assert private.weakly_typed(jnp.ones(2), np.dtype(np.float32), weak_type=True).weak_type


def test_a_function_is_compiled_once_for_all_that_jit_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def function(x: jax.Array) -> jax.Array:
        return x * 5

    close(ingot.jax.jit(function)(jnp.ones(2)), jnp.full(2, 5.0))
    with monkeypatch.context() as patched:
        patched.setattr(cache, "compiled", Mock(side_effect=AssertionError))
        close(ingot.jax.jit(function)(jnp.ones(2)), jnp.full(2, 5.0))
        with pytest.raises(AssertionError):
            ingot.jax.jit(function, threads=2)(jnp.ones(2))


def as_words(tree: Any) -> Any:
    """Random keys of the new style as their words."""
    is_key = lambda x: jax.dtypes.issubdtype(getattr(x, "dtype", None), jax.dtypes.prng_key)  # noqa: E731
    return jax.tree.map(lambda x: jax.random.key_data(x) if is_key(x) else x, tree)


def test_refusals_name_the_users_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def printed(x: jax.Array) -> jax.Array:
        jax.debug.print("{}", x)
        return x

    line = printed.__code__.co_firstlineno + 1
    with pytest.raises(ValueError, match=rf"(?m){__file__}:{line}: jax.debug.print .* host should see$"):
        ingot.jax.jit(printed)(jnp.ones(2))
    monkeypatch.setitem(sys.modules, "equinox", Mock())
    with pytest.raises(ValueError, match="EQX_ON_ERROR=off"):
        ingot.jax.jit(printed)(jnp.ones(2))
    here = inspect.currentframe()
    assert here
    with pytest.raises(RuntimeError, match=rf"{__file__}:{here.f_lineno + 1}:\d+: .* is not known here"):
        ingot.jax.jit(jnp.linalg.eigvals)(jnp.ones((2, 2)))


def test_a_program_without_functions_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has no entry point; add a function"):
        ingot.jax.Program().save(tmp_path / "net")
    assert not (tmp_path / "net").exists()
