"""What programs of JAX are called, hold and take, and what is said where they cannot be."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from jax_agreement import Bundle
from safetensors.numpy import load_file, save_file
from tool import call

import ingot.jax


class Pair(NamedTuple):
    """A state of a NamedTuple."""

    first: Any
    second: Any


@jax.tree_util.register_dataclass
@dataclass
class Whole:
    """A state of a dataclass."""

    step: Any
    parts: Any


def state() -> Any:
    """Every kind of node and of leaf."""
    return Whole(
        step=7,
        parts={
            "pair": Pair(jnp.arange(3, dtype=jnp.bfloat16), [np.ones((2, 2), np.float16), np.float32(2)]),
            "keys": (jax.random.split(jax.random.key(1), 4), jax.random.key(2, impl="rbg"), jax.random.PRNGKey(3)),
            "layer/0": {"w": np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)), "none": None},
            "mask": np.array([True, False]),
            "wave": np.array([[1 + 2j], [-3j]], np.complex64),
        },
    )


NAMES = {
    "state.step": "int32",
    "state.parts.pair.first": "bfloat16",
    "state.parts.pair.second.0": "float16",
    "state.parts.pair.second.1": "float32",
    "state.parts.keys.0": "uint32",
    "state.parts.keys.1": "uint32",
    "state.parts.keys.2": "uint32",
    "state.parts.layer/0.w": "float32",
    "state.parts.mask": "bool",
    "state.parts.wave": "float32",
}


def advance(carry: Any, _: Any) -> Any:
    """Counts, and leaves the rest."""
    return Whole(carry.step + 1, carry.parts), {}


def inspected(file: Path) -> dict[str, Any]:
    return json.loads(call("inspect", file, "--json"))


def words(key: Any) -> np.ndarray:
    return np.asarray(jax.random.key_data(key))


def test_state_is_named_as_in_what_jax_prints(tmp_path: Path) -> None:
    """Whatever the function calls its parameters, and also where JAX's own text is compiled."""
    program = ingot.jax.Program()
    program.add("advance", advance, state(), {})
    assert {name: value.dtype.name for name, value in program.state.items()} == NAMES

    def step(state: Any, batch: Any) -> Any:
        return advance(state, batch)

    lowered = jax.jit(step, donate_argnums=0, keep_unused=True).lower(state(), {})
    (tmp_path / "raw.mlir").write_text(lowered.as_text(debug_info=True))
    call("compile", tmp_path / "raw.mlir", "-o", tmp_path / "raw.ingot")
    assert {s["name"] for s in inspected(tmp_path / "raw.ingot")["state"]} == NAMES.keys()


def test_state_comes_back(tmp_path: Path) -> None:
    program = ingot.jax.Program()
    program.add("advance", advance, state(), {})
    Bundle(program, tmp_path).run({}, "advance")
    before = state()
    for like in (before, jax.eval_shape(state)):
        after = ingot.jax.load_state(like, tmp_path / "last.safetensors")
        assert jax.tree.structure(after) == jax.tree.structure(before)
        assert after.step == 8
        for mine, theirs in zip(after.parts["keys"][:2], before.parts["keys"][:2], strict=True):
            assert mine.dtype == theirs.dtype
            assert np.array_equal(words(mine), words(theirs))
        for part in ("pair", "layer/0", "mask", "wave"):
            pairs = zip(jax.tree.leaves(after.parts[part]), jax.tree.leaves(before.parts[part]), strict=True)
            assert all(mine.dtype == theirs.dtype and np.array_equal(mine, theirs) for mine, theirs in pairs)


def train(state: Any, batch: Any) -> Any:
    """A step whose state has a slot that only training reads, and one that it only writes."""
    slope = 0.5 * state["slope"] + batch["x"].mean(0)
    loss = (state["w"] ** 2).sum()
    return {"w": state["w"] - batch["lr"] * slope, "slope": slope, "last": loss}, {"loss": loss}


def predict(params: Any, x: Any) -> Any:
    return {"sum": x @ params["w"], "pair": (x[0], x[1])}


def first_state() -> Any:
    return {"w": np.arange(3, dtype=np.float32), "slope": np.zeros(3, np.float32), "last": np.float32(0)}


def test_entry_points_share_the_state(tmp_path: Path) -> None:
    """Training is seen by prediction, whose state has its own parameter's name, and lacks what it does not read."""
    xs = np.random.default_rng(0).standard_normal((4, 2, 3)).astype(np.float32)
    program = ingot.jax.Program()
    program.add("train_step", train, first_state(), {"x": xs[0], "lr": 0.25})
    program.add("predict", predict, first_state(), jax.ShapeDtypeStruct((2, 3), np.float32), training=False)
    bundle = Bundle(program, tmp_path)
    assert "slope" not in program.texts["predict"]
    entries = {e["name"]: e for e in inspected(tmp_path / "bundle.ingot")["entries"]}
    lr = {"name": "batch.lr", "dtype": "f32", "shape": [], "default": 0.25}
    assert program.inputs["train_step"] == [lr, {"name": "batch.x", "dtype": "f32", "shape": [2, 3]}]
    assert {i["name"]: i.get("default") for i in entries["train_step"]["inputs"]} == {"batch.lr": 0.25, "batch.x": None}
    assert [o["name"] for o in entries["predict"]["outputs"]] == ["pair.0", "pair.1", "sum"]

    log, final = bundle.train({"batch.x": xs})
    expected = first_state()
    for x, row in zip(xs, log, strict=True):
        expected, outputs = train(expected, {"x": x, "lr": 0.25})
        assert row["loss"] == pytest.approx(float(outputs["loss"]), rel=1e-5)
    for name, value in expected.items():
        np.testing.assert_allclose(final[f"state.{name}"], value, rtol=1e-5)

    loaded = ingot.jax.load_state(first_state(), tmp_path / "final.safetensors")
    ingot.jax.save_state(loaded, tmp_path / "again.safetensors")
    again = load_file(tmp_path / "again.safetensors")
    assert again.keys() == final.keys()
    assert all(np.array_equal(again[name], value) for name, value in final.items())
    program.state |= final
    outputs, _ = Bundle(program, tmp_path / "trained").run({"batch": xs[0]}, "predict")
    np.testing.assert_allclose(outputs["sum"], xs[0] @ expected["w"], rtol=1e-5)


def test_random_keys_in_the_batch(tmp_path: Path) -> None:
    keys = jax.random.split(jax.random.key(5), 2)
    program = ingot.jax.Program()
    program.add("draw", lambda s, b: jax.vmap(jax.random.bits)(b), (), keys, training=False)
    assert program.inputs["draw"] == [{"name": "batch", "dtype": "ui32", "shape": [2, 2]}]
    outputs, _ = Bundle(program, tmp_path).run({"batch": words(keys)}, "draw")
    assert np.array_equal(outputs["output"], jax.vmap(jax.random.bits)(keys))


@pytest.mark.parametrize(("module", "frameworks"), [("ingot.folder", "set()"), ("ingot.jax", "{'jax'}")])
def test_no_framework_is_imported_unasked(module: str, frameworks: str) -> None:
    program = f"import sys, {module}; assert {{'jax', 'torch'}} & set(sys.modules) == {frameworks}"
    subprocess.run([sys.executable, "-c", program], check=True, cwd=Path(ingot.jax.__file__).parents[2])


def test_outputs_without_a_path() -> None:
    program = ingot.jax.Program()
    program.add("loss", lambda s, b: (s, s.sum()), jnp.ones(2), ())
    program.add("output", lambda s, b: s.sum(), jnp.ones(2), (), training=False)
    program.add("output0", lambda s, b: (s, s), jnp.ones(2), (), training=False)
    for name, text in program.texts.items():
        assert f'ingot.name = "{name}"' in text
        assert 'ingot.state = "state"' in text


def test_a_large_constant_is_spoken_of() -> None:
    table = jnp.arange(600 * 600, dtype=jnp.float32).reshape(600, 600)
    program = ingot.jax.Program()
    with pytest.warns(UserWarning, match=r"test_jax_program.py:\d+: a constant of 1.4 MiB, tensor<600x600xf32>"):
        program.add("f", lambda s, b: s + table[b], jnp.ones(600), 3, training=False)


def test_constants_of_every_kind_are_written() -> None:
    constants = [np.arange(3), np.arange(3) * 1j, np.arange(3) > 1, np.arange(3, dtype=jnp.bfloat16), np.arange(0)]
    program = ingot.jax.Program()
    program.add("f", lambda s, b: [b + jnp.sum(c) for c in map(jnp.asarray, constants)], (), 1.0, training=False)
    assert program.texts["f"].count("stablehlo.constant") >= len(constants)


W = {"w": jnp.ones(3)}
OPEN = jax.ShapeDtypeStruct(jax.export.symbolic_shape("rows, 3"), np.float32)


def prints(state: Any, batch: Any) -> Any:
    jax.debug.print("{}", batch)
    return state, batch


def prints_in_order(state: Any, batch: Any) -> Any:
    jax.debug.print("{}", batch, ordered=True)
    return state, batch


REFUSED: list[tuple[Callable[[Any, Any], Any], Any, Any, type[Exception], str]] = [
    (lambda s, b: s, W, 0.0, ValueError, r"must return \(new_state, outputs\); say training=False"),
    (lambda s, b: ({}, b), W, 0.0, ValueError, "the function returns lacks state.w"),
    (lambda s, b: (s | {"v": b}, b), W, 0.0, ValueError, "returns state.v, which the state that it is given lacks"),
    (lambda s, b: ({"w": s["w"][:2]}, b), W, 0.0, ValueError, "state.w is tensor<3xf32>, but .* tensor<2xf32>"),
    (
        lambda s, b: (jax.tree.map(lambda w: w.astype(jnp.bfloat16), s), b),
        W,
        0.0,
        ValueError,
        "state.w is tensor<3xf32>, but the function returns tensor<3xbf16> in its place",
    ),
    (lambda s, b: (s, b), W | {"name": "adam"}, 0.0, TypeError, "state.name is a str, no array"),
    (
        lambda s, b: (s, b),
        W,
        {"a": jnp.ones(2, jnp.float8_e4m3fn)},
        TypeError,
        "batch.a is float8_e4m3fn",
    ),
    (lambda s, b: (s, b.astype(jnp.int4)), W, jnp.ones(2), TypeError, "loss is int4, which is not supported"),
    (lambda s, b: (s, b), {"a": {"b": 1.0}, "a.b": 2.0}, 0.0, ValueError, "two leaves are called 'state.a.b'"),
    (lambda s, b: (s, b), {"w": jax.ShapeDtypeStruct((3,), np.float32)}, 0.0, TypeError, "its values are needed"),
    (lambda s, b: (s, b), W, OPEN, TypeError, r"batch leaves sizes open, \(rows, 3\); give each a number"),
    (prints, W, 0.0, ValueError, r"test_jax_program.py:\d+: jax.debug.print and other callbacks"),
    (prints_in_order, W, 0.0, ValueError, r"test_jax_program.py:\d+: jax.debug.print and other callbacks"),
]


@pytest.mark.parametrize(("function", "state", "batch", "kind", "message"), REFUSED, ids=[case[-1] for case in REFUSED])
def test_what_is_refused(function: Any, state: Any, batch: Any, kind: type[Exception], message: str) -> None:
    program = ingot.jax.Program()
    with pytest.raises(kind) as caught:
        program.add("f", function, state, batch)
    assert re.search(message, str(caught.value)), caught.value
    assert not program.texts
    assert not program.state


def test_entry_points_agree_on_what_they_share() -> None:
    program = ingot.jax.Program()
    program.add("f", lambda s, b: s["w"], W, (), training=False)
    with pytest.raises(ValueError, match=r"state.w is float32 \(2,\), but float32 \(3,\) in another entry point"):
        program.add("g", lambda s, b: s["w"], {"w": jnp.ones(2)}, (), training=False)


def test_another_state_is_not_loaded(tmp_path: Path) -> None:
    file = tmp_path / "state.safetensors"
    save_file({"state.v": np.ones(3, np.float32)}, file)
    with pytest.raises(KeyError, match=r"the state lacks 'state.w'"):
        ingot.jax.load_state(W, file)
    save_file({"state.w": np.ones(2, np.float32)}, file)
    with pytest.raises(ValueError, match=r"'state.w' is float32 \(2,\) in the file, but float32 \(3,\) here"):
        ingot.jax.load_state(W, file)
