"""The tensors among a call's arguments, found at once where these are built as the traced call's were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch

from ingot.torch.base.keywords import FLOATS, scalar
from ingot.torch.base.torch_internals import pytree
from ingot.torch.python_state.snapshot import PLAIN
from ingot.torch.tracing.containers import ByIdentity, Record
from ingot.torch.tracing.left_out import NotTaken

Tensors = tuple[torch.Tensor, ...]
Matcher = Callable[[Any, list[Any]], bool]  # of a value, whose tensors it adds to a list
ATOMS = (type(None), bool, int, float, str)  # whose objects never change


class Apart:
    """Takes arguments apart that are tuples, lists, dicts and objects, of tensors and plain values as an example's."""

    def __init__(self, example: Sequence[Any], numbers: Sequence[int] = ()) -> None:
        """`numbers` are places among the example's leaves: they may be other ones, and are taken as tensors."""
        self._is_flat = all(isinstance(value, torch.Tensor) for value in example)
        leaves, spec = pytree.tree_flatten(tuple(example))
        for i in numbers:
            leaves[i] = _Number(type(leaves[i]))
        self._match = _matcher(pytree.tree_unflatten(leaves, spec))

    def __call__(self, args: tuple[Any, ...]) -> Tensors | None:
        """Their tensors in order; None where they are built in another way. What is no tensor may be among them."""
        if self._is_flat:
            return args
        found: list[Any] = []
        return tuple(found) if self._match(args, found) else None


class _Number(NamedTuple):
    """Stands for a number that is read, in an example."""

    kind: type


def _matcher(example: Any) -> Matcher:
    """Takes values apart that are built as an example is."""
    kind = type(example)
    if kind is _Number:
        return _number_of(example.kind)
    if isinstance(example, torch.Tensor):
        return _take
    if kind is tuple or kind is list:
        return _sequence_of(kind, [_matcher(value) for value in example])
    if kind is dict:
        return _dict_of([(key, _matcher(value)) for key, value in example.items()])
    if kind is Record:
        return _object_of(example.kind, [(name, _matcher(value)) for name, value in example.values.items()])
    if kind is ByIdentity:
        return lambda value, found: ByIdentity(value).key == example.key
    if kind is NotTaken:
        return lambda value, found: type(value) is example.kind
    return _like(kind, example) if isinstance(example, PLAIN) else lambda value, found: False


def _take(value: Any, found: list[Any]) -> bool:
    found.append(value)
    return True


def _number_of(kind: type) -> Matcher:
    kinds = FLOATS if kind in FLOATS else (int,)

    def take(value: Any, found: list[Any]) -> bool:
        if type(value) not in kinds:
            return False
        found.append(scalar(value))
        return True

    return take


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


def _object_of(kind: type, parts: list[tuple[str, Matcher]]) -> Matcher:
    match_values = _dict_of(parts)

    def match(value: Any, found: list[Any]) -> bool:
        return type(value) is kind and match_values(vars(value), found)

    return match


def _like(kind: type, example: Any) -> Matcher:
    text = repr(example)

    def match(value: Any, found: list[Any]) -> bool:
        return (value is example and kind in ATOMS) or (type(value) is kind and repr(value) == text)

    return match
