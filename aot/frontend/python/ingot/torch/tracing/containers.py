"""Dicts, lists and objects among the arguments: takes their tensors, and writes a call's changes back to them."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

from ingot.torch.base.torch_internals import pytree
from ingot.torch.python_state.snapshot import PLAIN
from ingot.torch.tracing.left_out import NotTaken, Unusable, left_out

NUMBERS = (torch.SymInt, torch.SymFloat, torch.SymBool)
PARTS = (torch.nn.Module, torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler, type)
FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, functools.partial)
MAKING = (object.__new__, types.SimpleNamespace.__new__)  # constructors of empty objects
ABSENT = object()


class ByIdentity:
    """Replaces a model, an optimizer, a class or a function: a program is for this object, and another is traced."""

    def __init__(self, value: Any) -> None:
        self.value = value
        is_method = isinstance(value, types.MethodType)  # a new object each time that code asks for it
        self.key = (id(value.__self__), id(value.__func__)) if is_method else id(value)


class Record:
    """Replaces an object whose only data is its attribute dict: the attributes are leaves, as entries of a dict are."""

    def __init__(self, kind: type, values: Mapping[str, Any]) -> None:
        self.kind, self.values = kind, dict(values)

    def made(self) -> Any:
        """A new object of the class with these attributes."""
        kind: Any = self.kind
        new = kind.__new__(kind)
        vars(new).update({name: _with_objects(value) for name, value in self.values.items()})
        return new


class Changed:
    """The return value of a function, together with its changes to the arguments."""

    def __init__(self, result: Any, values: Sequence[Any], places: tuple[tuple[int, Any], ...], gone: Any) -> None:
        """`places` has the container's number and the key of each new value, `gone` of each removed one."""
        self.result, self.values, self.places, self.gone = result, [*values], places, gone

    def write(self, args: tuple[Any, ...]) -> Any:
        """Makes the same changes to a call's arguments; returns what the function returned."""
        containers: list[Any] = [x if isinstance(x, (dict, list)) else vars(x) for x in containers_of(args)]
        for i, key in reversed(self.gone):
            del containers[i][key]
        for (i, key), value in zip(self.places, self.values, strict=True):
            if isinstance(containers[i], list) and key == len(containers[i]):
                containers[i].append(value)
            else:
                containers[i][key] = value
        return self.result


class OfContainers:
    """Calls a function with the objects that records replace, and returns its changes to the arguments."""

    def __init__(self, function: Callable[..., Any], kinds: tuple[type, ...], fixed: tuple[Any, ...]) -> None:
        """The guard reaches what the call uses through this object: `kinds` has the objects' classes."""
        functools.update_wrapper(self, function)
        self.function, self.kinds, self.fixed = function, kinds, fixed

    def __call__(self, *args: Any) -> Any:
        """Calls the function; returns Changed if it changed arguments."""
        given = tuple(map(_with_objects, args))
        containers = [*containers_of(given)]
        before = [_values(container) for container in containers]
        result = self.function(*given)
        after = [_values(container) for container in containers]
        pairs = [*enumerate(zip(before, after, strict=True))]
        gone = tuple((i, key) for i, (old, new) in pairs for key in old if key not in new)
        places = tuple((i, key) for i, (old, new) in pairs for key in new if new[key] is not old.get(key, ABSENT))
        return Changed(result, [after[i][key] for i, key in places], places, gone) if places or gone else result


def with_records(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments with their objects replaced by records, and models and functions by ByIdentity."""
    return tuple(_with_records(value, ()) for value in args)


def of_containers(function: Callable[..., Any], args: tuple[Any, ...]) -> Callable[..., Any]:
    """Wraps a function in OfContainers, if the arguments need that."""
    containers = [*containers_of(args)]
    kinds = tuple(container.kind for container in containers if type(container) is Record)
    leaves = pytree.tree_leaves(args)
    fixed = tuple(leaf.value for leaf in leaves if type(leaf) is ByIdentity)
    is_plain = not (containers or fixed or left_out(args))
    return function if is_plain else OfContainers(function, kinds, fixed)


def containers_of(tree: Any, around: tuple[int, ...] = ()) -> Iterator[Any]:
    """The dicts, lists, objects and records in a tree, parents first; a cycle is not followed."""
    if type(tree) is Unusable:
        return
    if isinstance(tree, tuple):
        for value in tree:
            yield from containers_of(value, around)
    elif id(tree) not in around and (isinstance(tree, (dict, list, Record)) or _is_object(tree)):
        yield tree
        for value in _values(tree).values():
            yield from containers_of(value, (*around, id(tree)))


def _is_object(value: Any) -> bool:
    """Whether a record can replace the value."""
    kind: Any = type(value)
    if kind.__new__ not in MAKING or isinstance(value, (*PARTS, *NUMBERS)) or kind in pytree.SUPPORTED_NODES:
        return False
    has_slots = any(vars(base).get("__slots__") for base in kind.__mro__)
    return isinstance(getattr(value, "__dict__", None), dict) and not has_slots


def _with_records(tree: Any, around: tuple[int, ...]) -> Any:
    """Replaces objects by records, cycles and values of other types by NotTaken."""

    def taken(leaf: Any) -> Any:
        if isinstance(leaf, (*PARTS, *FUNCTIONS)):
            return ByIdentity(leaf)
        if _is_object(leaf) and id(leaf) not in around:
            return Record(type(leaf), {k: _with_records(x, (*around, id(leaf))) for k, x in vars(leaf).items()})
        return leaf if isinstance(leaf, (torch.Tensor, *PLAIN)) else NotTaken(leaf)

    return pytree.tree_map(taken, tree)


def _with_objects(tree: Any) -> Any:
    def made(leaf: Any) -> Any:
        if type(leaf) is NotTaken:
            return Unusable(leaf) if leaf.is_traced else leaf.value
        if type(leaf) is ByIdentity:
            return leaf.value
        return leaf.made() if type(leaf) is Record else leaf

    return pytree.tree_map(made, tree, is_leaf=lambda value: type(value) is Record)


def _values(container: Any) -> dict[Any, Any]:
    """The entries of a container, by key, position or attribute name."""
    if isinstance(container, list):
        return dict(enumerate(container))
    if isinstance(container, dict):
        return dict(container)
    return container.values if isinstance(container, Record) else dict(vars(container))


def _register(kind: type, parts: Callable[[Any], tuple[dict[str, Any], Any]], made: Callable[[Any, Any], Any]) -> None:
    """Registers a class with pytree: `parts` returns the children of an object by name, and its fixed context."""

    def flatten(value: Any) -> tuple[list[Any], Any]:
        named, fixed = parts(value)
        return [*named.values()], fixed

    def flatten_with_keys(value: Any) -> tuple[list[tuple[Any, Any]], Any]:
        named, fixed = parts(value)
        return [(pytree.GetAttrKey(name), part) for name, part in named.items()], fixed

    pytree.register_pytree_node(kind, flatten, made, flatten_with_keys_fn=flatten_with_keys)


_register(
    Record,
    lambda x: (x.values, (x.kind, (*x.values,))),
    lambda values, fixed: Record(fixed[0], dict(zip(fixed[1], values, strict=True))),
)
_register(
    Changed,
    lambda x: ({"result": x.result, "changed": x.values}, (x.places, x.gone)),
    lambda values, fixed: Changed(values[0], values[1], *fixed),
)
