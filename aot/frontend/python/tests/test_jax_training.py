"""Five steps of a compiled bundle beside five of JAX, by the judge in ingot/judge.py."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import jax
import numpy as np
import pytest
from jax_agreement import Training, agreement, run_bundle, run_jax, tensors
from jax_models import MODELS, STEPS, make

import ingot.jax


@pytest.mark.parametrize("name", MODELS)
def test_training_agrees_with_jax(name: str, tmp_path: Path) -> None:
    training = make(name)
    found = agreement(training, tmp_path)
    print(name, found)
    assert found.holds, found
    loaded = ingot.jax.load_state(training.state, tmp_path / "final.safetensors")
    assert jax.tree.structure(loaded) == jax.tree.structure(training.state)
    final = tensors(loaded, tmp_path)
    before = tensors(training.state, tmp_path)
    assert all(not np.array_equal(value, before[path]) for path, value in final.items())


def test_training_goes_on_in_either(tmp_path: Path) -> None:
    """Two steps in JAX, two in a bundle and one in JAX are five in JAX."""
    whole = make("adam_with_schedule")
    _, reference = run_jax(whole)

    def part(first: int, last: int, state: object) -> Training:
        return replace(whole, state=state, batches={name: rows[first:last] for name, rows in whole.batches.items()})

    _, state = run_jax(part(0, 2, whole.state))
    run_bundle(part(2, 4, state), tmp_path)
    state = ingot.jax.load_state(state, tmp_path / "final.safetensors")
    _, state = run_jax(part(4, STEPS, state))
    for mine, theirs in zip(jax.tree.leaves(state), jax.tree.leaves(reference), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-6)
