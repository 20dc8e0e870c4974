"""A program: entry points traced from a user's functions, and the state that they share."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import torch
from safetensors.torch import load_file, save_file
from torch.utils import _pytree as pytree

from ingot.folder import EntryPoints, dotted, input_row, output_name
from ingot.stablehlo import Port, TensorType
from ingot.torch.dtypes import type_of
from ingot.torch.emit import SEED, STEP, emit
from ingot.torch.hyperparameters import hyperparameters
from ingot.torch.state import State
from ingot.torch.trace import trace

Model: TypeAlias = torch.nn.Module | Mapping[str, torch.nn.Module]
Optimizer: TypeAlias = torch.optim.Optimizer | Mapping[str, torch.optim.Optimizer] | None


class Program(EntryPoints):
    """Entry points that share the state of a model and its optimizer.

    Several models or optimizers are given as mappings; their keys stand before the names of their state. Dropout and
    other random ops are keyed by `seed` and by how many steps were run: the state has ``rng.seed`` and ``rng.step``.
    """

    def __init__(self, model: Model, optimizer: Optimizer = None, *, seed: int = 0):
        super().__init__()
        self.state = _state(model, optimizer)
        self.seed = seed
        self._is_random = False

    def add(
        self,
        name: str,
        function: Callable[..., Any],
        example_args: Sequence[Any],
        *,
        training: bool = True,
        capture: bool = False,
    ) -> None:
        """Traces `function` into an entry point; it does not run, and state and gradients stay as they are.

        Its inputs are the tensors of `example_args`, of their shapes and dtypes, called as the function's parameters,
        then the optimizer's changeable numbers (``lr``, ...; f64 scalars). Everything else in `example_args` is fixed.
        Its outputs are the tensors that the function returns: ``loss`` (or ``output`` where not training), or named by
        the keys of a dict. With `training` models are in the mode that they are in, and gradients are on; without, in
        ``eval()`` and ``no_grad()``. `capture` makes other tensors that the function reads constants.

        Raises TraceError with the place in the user's source.
        """
        changeable = hyperparameters(self.state.optimizers) if training else []
        traced = trace(function, example_args, self.state, changeable, training=training, capture=capture)
        inputs = _named_leaves(_bound(function, example_args))
        numbers = [Port(h.name, default=h.default) for h in changeable]
        state = [Port(variable, is_state=True) for variable in self.state.tensors]
        outputs = [Port(output) for output, _ in _named_outputs(traced.outputs, "loss" if training else "output")]
        self.texts[name], is_random = emit(
            traced.graph,
            name,
            [*state, *numbers, *(Port(path) for path, _ in inputs)],
            [*outputs, *state],
        )
        self._is_random |= is_random
        self.inputs[name] = [
            *(input_row(path, type_of(leaf)) for path, leaf in inputs),
            *(input_row(h.name, TensorType("f64"), h.default) for h in changeable),
        ]

    def save_state(self, file: str | os.PathLike[str]) -> None:
        """Writes the state as it is now, by name."""
        tensors = {name: tensor.detach().clone().contiguous() for name, tensor in self.state.tensors.items()}
        if self._is_random:
            tensors |= {SEED: torch.tensor(self.seed), STEP: torch.tensor(0)}
        save_file(tensors, os.fspath(file))


def load_state(model: Model, optimizer: Optimizer, file: str | os.PathLike[str]) -> None:
    """Copies the state that a bundle saved into a model and its optimizer.

    Raises KeyError for state that the file lacks and ValueError for another shape or dtype; nothing is copied then.
    """
    _state(model, optimizer).load(load_file(os.fspath(file)))


def _state(model: Model, optimizer: Optimizer) -> State:
    models = {"": model} if isinstance(model, torch.nn.Module) else model
    if optimizer is None:
        return State(models, {})
    return State(models, {"optimizer": optimizer} if isinstance(optimizer, torch.optim.Optimizer) else optimizer)


def _bound(function: Callable[..., Any], example_args: Sequence[Any]) -> dict[str, Any]:
    """The arguments by the names of the function's parameters."""
    called = function.forward if isinstance(function, torch.nn.Module) else function
    return dict(inspect.signature(called).bind(*example_args).arguments)


def _named_leaves(tree: Any) -> list[tuple[str, torch.Tensor]]:
    """The tensors of a tree and their dotted paths."""
    leaves, _ = pytree.tree_flatten_with_path(tree)
    return [(dotted(path), leaf) for path, leaf in leaves if isinstance(leaf, torch.Tensor)]


def _named_outputs(outputs: Any, only: str) -> list[tuple[str, torch.Tensor]]:
    """The tensors that a function returned, by name; one without a path is called `only`."""
    return [(output_name(path, only), leaf) for path, leaf in _named_leaves(outputs)]
