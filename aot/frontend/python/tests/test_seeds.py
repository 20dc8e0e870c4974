"""Random numbers of a compiled step follow PyTorch's generator, one of the user's, or a seed of the step's."""

from __future__ import annotations

import copy
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import ingot.torch

X = torch.ones(5, 4)
STEPS = 4


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))


class Training:
    def __init__(self, seed: int = 0, **options: Any) -> None:
        torch.manual_seed(seed)
        self.model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 1))
        with torch.no_grad():
            for parameter in self.model.parameters():  # the same for each seed
                parameter.fill_(0.1)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01)
        self.step = ingot.torch.compile(self.eager, self.model, self.optimizer, **options)

    def eager(self, x: torch.Tensor) -> torch.Tensor:
        self.optimizer.zero_grad()
        loss = self.model(x).square().mean()
        loss.backward()
        self.optimizer.step()
        return loss

    def losses(self, steps: int = STEPS) -> list[float]:
        return [self.step(X).item() for _ in range(steps)]


def masks(step: Callable[[], torch.Tensor], calls: int = 3) -> list[list[float]]:
    return [step().tolist() for _ in range(calls)]


def dropping(**options: Any) -> Callable[[], torch.Tensor]:
    return ingot.torch.compile(lambda: F.dropout(torch.ones(64)), nn.Identity(), training=False, **options)


def test_seeds_of_pytorch_seed_compiled_steps() -> None:
    one, two, again = (Training(seed).losses() for seed in (1, 2, 1))
    assert one == again != two
    assert len({*one}) == STEPS


def test_first_calls_draw_as_later_ones() -> None:
    """Comparing draws nothing, nor does it matter whether the trace was found."""
    before = [(Training(1, verify=verify).losses(1), torch.get_rng_state()) for verify in (True, True, False)]
    assert all(losses == before[0][0] and torch.equal(state, before[0][1]) for losses, state in before)


def test_training_that_is_resumed_goes_on_bit_for_bit() -> None:
    whole = Training(1)
    whole.losses()
    model, optimizer, random = copy.deepcopy(
        (whole.model.state_dict(), whole.optimizer.state_dict(), torch.get_rng_state())
    )
    rest = whole.losses()
    resumed = Training(5)
    resumed.model.load_state_dict(model)
    resumed.optimizer.load_state_dict(optimizer)
    torch.set_rng_state(random)
    assert resumed.losses() == rest


def test_a_seed_of_its_own_is_resumed_by_the_steps_state() -> None:
    whole = dropping(seed=7)
    masks(whole)
    state = whole.state_dict()
    rest = masks(whole)
    torch.manual_seed(5)
    resumed = dropping(seed=7)
    assert masks(resumed) != rest
    resumed.load_state_dict(state)
    assert masks(resumed) == rest
    assert state["rng.step"] == 3
    with pytest.raises(ValueError, match="compiled with seed="):
        dropping().load_state_dict(state)


def test_two_steps_draw_different_numbers() -> None:
    torch.manual_seed(1)
    one, two = dropping(), dropping()
    assert masks(one) != masks(two)


def test_what_draws_in_between_changes_what_follows() -> None:
    step = dropping()
    seen = []
    for others in (0, 1, 0):
        torch.manual_seed(1)
        step()
        torch.rand(others)
        seen.append(masks(step))
    assert seen[0] == seen[2] != seen[1]


def test_generators_of_the_users_are_followed() -> None:
    generator = torch.Generator().manual_seed(1)
    state = generator.get_state()
    step = ingot.torch.compile(lambda: torch.rand(4, generator=generator), nn.Identity(), training=False)
    one = masks(step)
    before = torch.get_rng_state()
    generator.manual_seed(2)
    two = masks(step)
    generator.set_state(state)
    assert masks(step) == one != two
    assert torch.equal(torch.get_rng_state(), before)
    generator.manual_seed(1)
    assert masks(ingot.torch.compile(step.function, nn.Identity(), training=False)) == one


@contextmanager
def beside_another_thread(has_thread: bool) -> Iterator[None]:
    is_over = threading.Event()
    other = threading.Thread(target=is_over.wait)
    if has_thread:
        other.start()
    try:
        yield
    finally:
        is_over.set()
        if has_thread:
            other.join()


@pytest.mark.parametrize("has_thread", [False, True])
def test_a_seed_given_to_the_default_generator_is_refused(has_thread: bool) -> None:
    model = nn.Linear(4, 3)

    def step(x: torch.Tensor) -> torch.Tensor:
        torch.default_generator.manual_seed(3)
        return model(x + torch.randn(4))

    refused = pytest.raises(
        ingot.torch.TraceError, match=r"torch\.default_generator is given a seed|generator is seeded"
    )
    with beside_another_thread(has_thread), refused:
        ingot.torch.compile(step, model)(torch.ones(2, 4))


@pytest.mark.parametrize("has_thread", [False, True])
def test_draws_of_libraries_from_numpys_generator_are_named(has_thread: bool) -> None:
    """Those by the generator itself, as SciPy's distributions have it; beside other threads calls are PyTorch's."""
    model = nn.Linear(4, 3)
    called = ingot.torch.compile(lambda x: model(x) * np.random.mtrand._rand.rand(), model)
    with beside_another_thread(has_thread), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            called(torch.ones(2, 4))
            said = "; ".join(str(warning.message) for warning in warned)
        except ingot.torch.TraceError as error:
            said = str(error)
    assert "`numpy.random`" in said
    assert called.programs == 0
