"""Dicts, lists and objects among a function's arguments: what is in them, and what a call changes there."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

from ingot.torch.base.errors import LeftToPyTorch
from ingot.torch.base.torch_internals import pytree
from ingot.torch.python_state.snapshot import PLAIN

OTHERS = (torch.nn.Module, torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler, type)  # no record stands for
ABSENT = object()


class Record:
    """Stands for an object that has attributes in a dict and nothing else: they are taken as entries of a dict are."""

    def __init__(self, kind: type, values: Mapping[str, Any]) -> None:
        self.kind, self.values = kind, dict(values)

    def made(self) -> Any:
        """An object like it."""
        new: Any = object.__new__(self.kind)
        vars(new).update({name: _with_objects(value) for name, value in self.values.items()})
        return new


class NotTaken:
    """Stands for a value in an object that is neither a tensor nor known by its value: code may not use it."""

    def __init__(self, kind: type) -> None:
        vars(self)["kind"] = kind

    def __getattr__(self, name: str) -> Any:
        """Raises LeftToPyTorch, as all that code does with it."""
        kind = vars(self)["kind"].__name__
        what = f"an argument holds a {kind}, which a program cannot take"
        raise LeftToPyTorch(what, fix="give what the function reads of it as tensors")

    def _refuse(self, *_: Any) -> Any:
        return self.used

    __bool__ = __len__ = __iter__ = __getitem__ = __call__ = __enter__ = __exit__ = __setattr__ = _refuse


class Changed:
    """What a function returned that changed its arguments, and what it changed there."""

    def __init__(self, result: Any, values: Sequence[Any], places: tuple[tuple[int, Any], ...], gone: Any) -> None:
        """`places` are containers, by their number among the arguments', with a key; `gone` those that were removed."""
        self.result, self.values, self.places, self.gone = result, [*values], places, gone

    def write(self, args: tuple[Any, ...]) -> Any:
        """Changes a call's arguments likewise; gives what the function returned."""
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
    """A function that is given records in the place of objects, and whose changes of arguments are returned."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, *args: Any) -> Any:
        """Calls the function; gives Changed where it changed arguments."""
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
    """Arguments with records in the place of objects."""
    return tuple(_with_records(value, ()) for value in args)


def has_containers(args: tuple[Any, ...]) -> bool:
    """Whether a function could change what is in its arguments."""
    return next(containers_of(args), None) is not None


def containers_of(tree: Any) -> Iterator[Any]:
    """The dicts, lists, objects and records in a tree, each before what is in it."""
    if isinstance(tree, tuple):
        for value in tree:
            yield from containers_of(value)
    elif isinstance(tree, (dict, list, Record)) or _is_object(tree):
        yield tree
        for value in _values(tree).values():
            yield from containers_of(value)


def _is_object(value: Any) -> bool:
    """Whether a record can stand for it."""
    kind: Any = type(value)
    if kind.__new__ is not object.__new__ or isinstance(value, OTHERS) or kind in pytree.SUPPORTED_NODES:
        return False
    has_slots = any(vars(base).get("__slots__") for base in kind.__mro__)
    return isinstance(getattr(value, "__dict__", None), dict) and not has_slots


def _with_records(tree: Any, around: tuple[int, ...]) -> Any:
    """Those in an object are not taken where they are `around` it, or where nobody knows their values."""

    def taken(leaf: Any) -> Any:
        if _is_object(leaf) and id(leaf) not in around:
            return Record(type(leaf), {k: _with_records(x, (*around, id(leaf))) for k, x in vars(leaf).items()})
        return NotTaken(type(leaf)) if around and not isinstance(leaf, (torch.Tensor, *OTHERS, *PLAIN)) else leaf

    return pytree.tree_map(taken, tree)


def _with_objects(tree: Any) -> Any:
    def made(leaf: Any) -> Any:
        return leaf.made() if isinstance(leaf, Record) else leaf

    return pytree.tree_map(made, tree, is_leaf=lambda value: isinstance(value, Record))


def _values(container: Any) -> dict[Any, Any]:
    """What is in a dict, a list, an object or a record, by keys, positions and names."""
    if isinstance(container, list):
        return dict(enumerate(container))
    if isinstance(container, dict):
        return dict(container)
    return container.values if isinstance(container, Record) else dict(vars(container))


def _register(kind: type, parts: Callable[[Any], tuple[dict[str, Any], Any]], made: Callable[[Any, Any], Any]) -> None:
    """Lets PyTorch's trees go into a class: `parts` gives what is in an object by name, and what is fixed in it."""

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
