"""Odd programs trained by ingot and by PyTorch: results, state and what is raised agree, or a refusal says why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import odd.arguments
import odd.models
import odd.optimizers
import odd.python
import odd.settings
import pytest
import torch
from odd import Step
from torch.utils import _pytree as pytree

import ingot.torch

MODULES: list[ModuleType] = [odd.arguments, odd.models, odd.optimizers, odd.python, odd.settings]
PROGRAMS = {
    name: program
    for module in MODULES
    for name, program in vars(module).items()
    if getattr(program, "__module__", "") == module.__name__ and not isinstance(program, type)
}
QUICK = (
    "an_argument_is_written",
    "another_optimizer_is_wrapped",
    "caught_inside",
    "data_is_set",
    "decorated_in_each_call",
    "global_counter_is_incremented",
    "gradients_are_added_and_cleared",
    "lengths_are_packed",
    "lists_have_other_lengths",
    "momentum_is_toggled",
    "rate_falls_to_zero_and_rises",
    "raised_inside_by_a_loss",
    "state_dict_is_loaded",
    "stepped_by_pytorch_between",
)
# What is refused, and what the message names.
REFUSED = {
    "an_argument_is_written": "writes one of its arguments",
    "gradients_are_logged_between": "gradient of '0.weight' is asked for.*keep_gradients=True",
    "losses_are_collected_in_a_list": r"the second call changes `len\(history\)`",
    "memory_is_shared": "`0.weight` is in shared memory",
    "python_random_decides": "other random numbers of `random`",
}
OF_BFLOAT16 = ("autocast_is_toggled",)


class Trained:
    """What the calls of a program's steps gave or raised, and the state that they left."""

    def __init__(self, program: Callable[[Step], None], is_compiled: bool) -> None:
        self._is_compiled = is_compiled
        self._subjects: list[Any] = []
        self.calls: list[Any] = []
        self.error: Exception | None = None
        torch.manual_seed(3)
        try:
            program(self._step)
        except Exception as error:
            self.error = error

    @property
    def state(self) -> Any:
        """The final state of models and optimizers."""
        return [subject.state_dict() for tree in self._subjects for subject in pytree.tree_leaves(tree) if subject]

    def _step(self, model: Any, optimizer: Any = None, **options: Any) -> Callable[[Any], Callable[..., Any]]:
        self._subjects += [model, optimizer]
        compiled = ingot.torch.step(model, optimizer, **options) if self._is_compiled else lambda function: function
        return lambda function: self._recorded(compiled(function))

    def _recorded(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                returned = function(*args, **kwargs)
            except Exception as error:
                self.calls.append(type(error))
                raise
            self.calls.append(pytree.tree_map_only(torch.Tensor, lambda x: x.detach().clone(), returned))
            return returned

        return call


def check_alike(name: str, mine: Trained, plain: Trained) -> None:
    assert repr(mine.error) == repr(plain.error)
    far = {"rtol": 0.02, "atol": 2e-3} if name in OF_BFLOAT16 else {"rtol": 2e-3, "atol": 1e-5}
    for what, other in ((mine.calls, plain.calls), (mine.state, plain.state)):
        leaves, spec = pytree.tree_flatten(what)
        expected, expected_spec = pytree.tree_flatten(other)
        assert spec == expected_spec
        for leaf, expected_leaf in zip(leaves, expected, strict=True):
            assert type(leaf) is type(expected_leaf)
            if isinstance(leaf, torch.Tensor | int | float) and not isinstance(leaf, bool):
                torch.testing.assert_close(leaf, expected_leaf, equal_nan=True, **far)
            else:
                assert leaf == expected_leaf


def marked(name: str) -> Any:
    return pytest.param(name, marks=[] if name in QUICK else [pytest.mark.nightly])


@pytest.mark.parametrize("name", [marked(name) for name in PROGRAMS])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_odd_programs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path))
    plain, mine = (Trained(PROGRAMS[name], is_compiled) for is_compiled in (False, True))
    if name in REFUSED:
        with pytest.raises(ingot.torch.TraceError, match=REFUSED[name]):
            raise mine.error or AssertionError(f"{name} is not refused")
        assert plain.error is None
    else:
        check_alike(name, mine, plain)
