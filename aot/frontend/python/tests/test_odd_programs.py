"""Odd programs trained by ingot and by PyTorch: results, state and what is raised agree, or a refusal says why."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import odd.arguments
import odd.callables
import odd.draws
import odd.gradients
import odd.hooks
import odd.kept_gradients
import odd.models
import odd.modes
import odd.modules
import odd.optimizers
import odd.python
import odd.rates
import odd.settings
import odd.surroundings
import odd.values
import odd.views
import odd.weights
import pytest
import torch
from odd import Step
from torch.utils import _pytree as pytree

import ingot.torch

MODULES: list[ModuleType] = [
    odd.arguments,
    odd.callables,
    odd.draws,
    odd.gradients,
    odd.hooks,
    odd.kept_gradients,
    odd.models,
    odd.modes,
    odd.modules,
    odd.optimizers,
    odd.python,
    odd.rates,
    odd.settings,
    odd.surroundings,
    odd.values,
    odd.views,
    odd.weights,
]
PROGRAMS = {
    name: program
    for module in MODULES
    for name, program in vars(module).items()
    if isinstance(program, FunctionType) and program.__module__ == module.__name__
    if list(signature(program).parameters) == ["step"]
}
QUICK = (
    "an_argument_is_written",
    "another_optimizer_is_wrapped",
    "argument_lies_in_the_model_later",
    "caught_inside",
    "data_is_set",
    "decorated_in_each_call",
    "global_counter_is_incremented",
    "gradients_are_added_and_cleared",
    "lengths_are_packed",
    "lists_have_other_lengths",
    "mode_of_the_caller_changes_functions",
    "momentum_is_toggled",
    "raised_inside_by_a_loss",
    "rate_falls_to_zero_and_rises",
    "result_is_a_list_of_ones_own",
    "state_dict_is_loaded",
    "step_ends_early_by_a_value",
    "stepped_by_pytorch_between",
    "values_are_swapped_by_data",
)
# What is refused, and what the message names.
REFUSED = {
    "a_loss_becomes_text": r"odd/values.py:\d+: a tensor has no value that could be printed .* return it",
    "an_argument_is_written": "writes one of its arguments",
    "argument_is_a_parameter": "an argument is the parameter '0.weight'; read the parameter in the function",
    "argument_lies_in_the_model": "in the memory of '0.weight', which the function changes; give a copy",
    "gradients_are_logged_between": "gradient of '0.weight' is asked for.*keep_gradients=True",
    "losses_are_collected_in_a_list": r"the second call changes `len\(history\)`",
    "memory_is_shared": "`0.weight` is in shared memory",
    "numbers_come_from_a_generator": r"the second call changes `scales: scale`.*pass it as an argument",
    "numbers_come_from_an_iterator": r"the second call changes `counter` from count\(2\) to count\(3\).*pass it",
    "one_gradient_is_of_two": "one tensor is the gradient of '5.weight' and of '6.weight'; give each its own",
    "python_random_decides": "other random numbers of `random`",
    "result_is_a_list_of_ones_own": "returns a Losses, which holds a tensor that it made; return tensors, or lists",
    "ring_is_written_by_a_number": r"odd/modules.py:\d+: an index that is computed needs .* index_copy_ to write",
    "step_is_a_generator": "returns a generator, whose code runs after the function; return a list",
    "step_is_awaited": "returns a coroutine, whose code runs after the function; .* await outside",
}
# What is done otherwise, and the warning that says so.
SAID = {"text_is_printed": r"odd/surroundings.py:\d+: prints while the function is traced, and a program never again"}
OF_BFLOAT16 = ("autocast_is_toggled",)
# Random numbers are others than PyTorch's: what the program itself returns is alike.
OF_OTHER_DRAWS = (
    "a_generator_draws",
    "draws_differ_from_call_to_call",
    "same_seeds_give_same_losses",
    "training_goes_on_from_a_checkpoint",
)


class Trained:
    """What a program returned, what the calls of its steps gave or raised, and the state that they left."""

    def __init__(self, program: Callable[[Step], Any], is_compiled: bool) -> None:
        self._is_compiled = is_compiled
        self._subjects: list[Any] = []
        self._with_gradients: list[Any] = []
        self.calls: list[Any] = []
        self.kept: list[Any] = []
        self.returned: Any = None
        self.error: Exception | None = None
        torch.manual_seed(3)
        try:
            self.returned = program(self._step)
        except Exception as error:
            self.error = error

    @property
    def state(self) -> Any:
        """The final state of models and optimizers, and the gradients that are kept."""
        states = [subject.state_dict() for tree in self._subjects for subject in pytree.tree_leaves(tree) if subject]
        models = [each for tree in self._with_gradients for each in pytree.tree_leaves(tree) if each]
        return states, [each.grad for model in models for each in model.parameters()]

    def _step(self, model: Any, optimizer: Any = None, **options: Any) -> Callable[[Any], Callable[..., Any]]:
        self._subjects += [model, optimizer, options.get("scheduler")]
        self._with_gradients += [model] if options.get("keep_gradients") else []
        compiled = ingot.torch.step(model, optimizer, **options) if self._is_compiled else lambda function: function
        return lambda function: self._recorded(compiled(function))

    def _recorded(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                returned = function(*args, **kwargs)
            except Exception as error:
                self.calls.append(repr(error))
                raise
            self.calls.append(pytree.tree_map_only(torch.Tensor, torch.clone, as_tree(returned)))
            if len(self.calls) % 2:
                self.kept.append(as_tree(returned))
            return returned

        return call


def as_tree(value: Any) -> Any:
    """A value as containers of tensors without history; each container as a list that begins with its type's name."""
    if isinstance(value, torch.Tensor):
        return value.detach()
    if isinstance(value, dict):
        return [type(value).__name__, *((key, as_tree(each)) for key, each in value.items())]
    if dataclasses.is_dataclass(value):
        return [type(value).__name__, as_tree(vars(value))]
    if isinstance(value, list | tuple):
        return [type(value).__name__, *map(as_tree, value)]
    return value


def check_alike(name: str, mine: Trained, plain: Trained) -> None:
    assert repr(mine.error) == repr(plain.error)
    far = {"rtol": 0.02, "atol": 2e-3} if name in OF_BFLOAT16 else {"rtol": 2e-3, "atol": 1e-5}
    for what in ("returned",) if name in OF_OTHER_DRAWS else ("calls", "kept", "state", "returned"):
        leaves, spec = pytree.tree_flatten(getattr(mine, what))
        expected, expected_spec = pytree.tree_flatten(getattr(plain, what))
        assert spec == expected_spec
        for leaf, expected_leaf in zip(leaves, expected, strict=True):
            assert type(leaf) is type(expected_leaf)
            if isinstance(leaf, torch.Tensor | int | float) and not isinstance(leaf, bool):
                torch.testing.assert_close(leaf, expected_leaf, equal_nan=True, check_stride=what != "state", **far)
            else:
                assert leaf == expected_leaf


def marked(name: str) -> Any:
    return pytest.param(name, marks=[] if name in QUICK else [pytest.mark.nightly])


@pytest.mark.parametrize("name", [marked(name) for name in PROGRAMS])
def test_odd_programs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path))
    plain, mine = (Trained(PROGRAMS[name], is_compiled) for is_compiled in (False, True))
    if name in REFUSED:
        with pytest.raises(ingot.torch.TraceError, match=REFUSED[name]):
            raise mine.error or AssertionError(f"{name} is not refused")
        assert plain.error is None
    else:
        check_alike(name, mine, plain)
    warned = [str(each.message) for each in recwarn if re.search(SAID.get(name, "$^"), str(each.message))]
    assert len(warned) == (name in SAID)
