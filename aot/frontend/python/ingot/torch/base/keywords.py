"""The arguments of a function by position, however its calls give them, and its numbers as tensors."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from ingot.torch.base.torch_internals import pytree

FLOATS = (float, np.float64, np.float32, np.float16)  # types of numbers that are inputs
BY_KEYWORD = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)


class ArgumentsRefused(Exception):
    """The function does not take the arguments of a call: called with them, it raises TypeError."""


class Keyworded:
    """A function whose first argument has those that are given by keyword alone."""

    def __init__(self, function: Callable[..., Any], signature: inspect.Signature) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        positional = [parameter for parameter in signature.parameters.values() if parameter.kind not in BY_KEYWORD]
        first = inspect.Parameter("keywords", inspect.Parameter.POSITIONAL_ONLY)
        self.__signature__ = inspect.Signature([first, *positional])

    def __call__(self, keywords: Mapping[str, Any], *args: Any) -> Any:
        """Calls the function."""
        return self.function(*args, **keywords)


class OfTensors:
    """A function of which some arguments, that are numbers, are given as tensors."""

    def __init__(self, function: Callable[..., Any], numbers: Sequence[int]) -> None:
        """`numbers` are places among the leaves of the arguments."""
        functools.update_wrapper(self, function)
        self.function, self.numbers = function, tuple(numbers)

    def __call__(self, *args: Any) -> Any:
        """Calls the function."""
        leaves, spec = pytree.tree_flatten(args)
        for i in self.numbers:
            leaves[i] = leaves[i].item()
        return self.function(*pytree.tree_unflatten(leaves, spec))


def with_tensors(args: tuple[Any, ...], integers: Container[int]) -> tuple[tuple[Any, ...], list[int]]:
    """Arguments with tensors in the place of floats and of some integers; and where these are among their leaves."""
    leaves, spec = pytree.tree_flatten(args)
    numbers = [i for i, leaf in enumerate(leaves) if type(leaf) in FLOATS or (type(leaf) is int and i in integers)]
    for i in numbers:
        leaves[i] = scalar(leaves[i])
    return (pytree.tree_unflatten(leaves, spec), numbers) if numbers else (args, [])


def scalar(value: Any) -> torch.Tensor:
    """A number as programs read it."""
    return torch.tensor(value, dtype=torch.int64 if type(value) is int else torch.float64)


class Positions:
    """A function of positions alone: itself, where all its arguments have one; and calls' arguments for it."""

    def __init__(self, function: Callable[..., Any], signature: inspect.Signature) -> None:
        self._bind, self._parameters = signature.bind, signature.parameters
        self.has_keywords = any(parameter.kind in BY_KEYWORD for parameter in signature.parameters.values())
        self.function: Callable[..., Any] = Keyworded(function, signature) if self.has_keywords else function
        self.signature = inspect.signature(self.function) if self.has_keywords else signature
        self._forms: dict[tuple[Any, ...], tuple[list[str], list[str]]] = {}

    def of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments of a call; raises ArgumentsRefused for those that the function does not take."""
        form = len(args), *kwargs
        if form not in self._forms:
            return self._bound(form, args, kwargs)
        by_position, by_keyword = self._forms[form]
        placed = *args, *map(kwargs.__getitem__, by_position)
        return ({name: kwargs[name] for name in by_keyword}, *placed) if self.has_keywords else placed

    def check(self, args: tuple[Any, ...]) -> None:
        """Raises ArgumentsRefused where the function of positions does not take the arguments."""
        _bound_by(self.signature.bind, args, {})

    def _bound(self, form: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The same as Python finds it; notes how, where no argument is left out before one that is given."""
        bound = _bound_by(self._bind, args, kwargs)
        if bound.kwargs and not self.has_keywords:
            last = max(i for i, name in enumerate(self._parameters) if name in bound.arguments)
            for name, parameter in [*self._parameters.items()][:last]:
                bound.arguments.setdefault(name, parameter.default)
        else:
            names = [*self._parameters][len(args) : len(bound.args)]
            self._forms[form] = names, [*bound.kwargs]
        return (bound.kwargs, *bound.args) if self.has_keywords else bound.args


def _bound_by(bind: Callable[..., inspect.BoundArguments], args: Any, kwargs: Any) -> inspect.BoundArguments:
    try:
        return bind(*args, **kwargs)
    except TypeError:
        raise ArgumentsRefused from None
