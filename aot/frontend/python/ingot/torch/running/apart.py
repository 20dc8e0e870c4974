"""The tensors among a call's arguments, found at once where these are built as the traced call's were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ingot.torch.base.keywords import scalar
from ingot.torch.python_state.snapshot import PLAIN

Tensors = tuple[torch.Tensor, ...]
Matcher = Callable[[Any, list[Any]], bool]  # of a value, whose tensors it adds to a list
ATOMS = (type(None), bool, int, float, str)  # whose objects never change


class Apart:
    """Takes arguments apart that are tuples, lists and dicts of tensors, and of plain values as an example's."""

    def __init__(self, example: Sequence[Any], are_floats_read: bool = False) -> None:
        """Floats may be other ones, and are taken as tensors, where they are read."""
        self._is_flat = all(isinstance(value, torch.Tensor) for value in example)
        self._match = _matcher(tuple(example), _take_float if are_floats_read else None)

    def __call__(self, args: tuple[Any, ...]) -> Tensors | None:
        """Their tensors in order; None where they are built in another way. What is no tensor may be among them."""
        if self._is_flat:
            return args
        found: list[Any] = []
        return tuple(found) if self._match(args, found) else None


def _matcher(example: Any, of_float: Matcher | None) -> Matcher:
    """Takes values apart that are built as an example is, and floats by a matcher of their own if there is one."""
    kind = type(example)
    if isinstance(example, torch.Tensor):
        return _take
    if kind is tuple or kind is list:
        return _sequence_of(kind, [_matcher(value, of_float) for value in example])
    if kind is dict:
        return _dict_of([(key, _matcher(value, of_float)) for key, value in example.items()])
    if kind is float and of_float:
        return of_float
    return _like(kind, example) if isinstance(example, PLAIN) else lambda value, found: False


def _take(value: Any, found: list[Any]) -> bool:
    found.append(value)
    return True


def _take_float(value: Any, found: list[Any]) -> bool:
    if type(value) is not float:
        return False
    found.append(scalar(value))
    return True


def _sequence_of(kind: Any, parts: list[Matcher]) -> Matcher:
    def match(value: Any, found: list[Any]) -> bool:
        is_alike = type(value) is kind and len(value) == len(parts)
        return is_alike and all([part(element, found) for part, element in zip(parts, value, strict=True)])

    return match


def _dict_of(parts: list[tuple[Any, Matcher]]) -> Matcher:
    keys = [key for key, _ in parts]

    def match(value: Any, found: list[Any]) -> bool:
        return type(value) is dict and [*value] == keys and all([part(value[key], found) for key, part in parts])

    return match


def _like(kind: type, example: Any) -> Matcher:
    text = repr(example)

    def match(value: Any, found: list[Any]) -> bool:
        return (value is example and kind in ATOMS) or (type(value) is kind and repr(value) == text)

    return match
