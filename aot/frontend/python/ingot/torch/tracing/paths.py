"""What an entry point's inputs and outputs are called: by their paths in what a function takes and returns."""

from __future__ import annotations

import inspect
import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

from ingot.folder import dotted, output_name
from ingot.torch.base.torch_internals import pytree

# What a function may return beside tensors: it is known when the function is traced, and no output.
FIXED = (type(None), bool, int, float, complex, str)


def bound(function: Callable[..., Any], example_args: Sequence[Any]) -> dict[str, Any]:
    """The arguments by the names of the function's parameters."""
    called = function.forward if isinstance(function, torch.nn.Module) else function
    return dict(inspect.signature(called).bind(*example_args).arguments)


def leaves(tree: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a tree and their dotted paths."""
    for path, leaf in pytree.tree_flatten_with_path(tree, is_leaf=_is_mapping)[0]:
        name = ".".join(filter(None, (before, dotted(path))))
        if _is_mapping(leaf):
            yield from leaves(dict(leaf), name)
        else:
            yield name, leaf


def named_leaves(tree: Any) -> list[tuple[str, torch.Tensor]]:
    """The tensors of a tree and their dotted paths."""
    return [(name, leaf) for name, leaf in leaves(tree) if isinstance(leaf, torch.Tensor)]


def apart_from(others: set[str], named: list[tuple[str, torch.Tensor]]) -> list[tuple[str, torch.Tensor]]:
    """Tensors by names that are not those of others: ``weight_1`` for an argument where a model has a ``weight``."""
    taken = others | {name for name, _ in named}
    found = []
    for name, leaf in named:
        free = (f"{name}_{i}" for i in itertools.count(1) if f"{name}_{i}" not in taken)
        found.append((next(free) if name in others else name, leaf))
    return found


def _is_mapping(tree: Any) -> bool:
    """Whether a tree is a library's own mapping, which may have been registered without its keys."""
    return isinstance(tree, Mapping) and type(tree) is not dict and type(tree) in pytree.SUPPORTED_NODES


def only(training: bool) -> str:
    """What a function's only result is called."""
    return "loss" if training else "output"


def named_outputs(outputs: Any, only: str) -> list[tuple[str, torch.Tensor]]:
    """The tensors that a function returned, by name; one without a path is called `only`."""
    for path, leaf in leaves(outputs):
        if not isinstance(leaf, (torch.Tensor, *FIXED)):
            what = f"the output {output_name(path, only)!r} is left out: it is no tensor ({type(leaf).__name__})"
            warnings.warn(what, stacklevel=5)
    return [(output_name(path, only), leaf) for path, leaf in named_leaves(outputs)]
