"""Tensors that are neither argument nor state, and whose values a program keeps."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import torch

from ingot.torch.base.errors import TraceError
from ingot.torch.base.places import place_of, to_be_state
from ingot.torch.base.torch_internals import pytree, without_functions
from ingot.torch.base.torch_internals.fake_tensors import FakeTensor
from ingot.torch.base.torch_internals.ops import OpOverload
from ingot.torch.tracing.state import State


def attributes(state: State) -> set[int]:
    """Tensors that are plain attributes of modules, by identity: tables that a module made for itself."""
    modules = [module for model in state.models.values() for module in model.modules()]
    values = [value for module in modules for value in vars(module).values()]
    return {id(value) for value in values if isinstance(value, torch.Tensor)}


def cached(reached: Iterable[Any]) -> set[int]:
    """Tensors that functions and properties with a cache, among what is reached, gave before, by identity."""
    given = [value for holder in reached for value in _cached_by(holder)]
    return {id(x) for x in pytree.tree_leaves(given) if isinstance(x, torch.Tensor)}


def caches_of(reached: Iterable[Any], constants: Iterable[torch.Tensor]) -> Callable[[], bool]:
    """A function that tells whether caches still hold the constants that they held."""
    known = {id(constant) for constant in constants}
    caches = [holder for holder in reached if isinstance(holder, functools._lru_cache_wrapper)]
    held = [(cache, mine) for cache in caches if (mine := cached([cache]) & known)]
    return lambda: all(mine <= cached([cache]) for cache, mine in held)


def written_among(constants: Iterable[torch.Tensor]) -> Callable[[], torch.Tensor | None]:
    """A function that gives a constant whose values are not what they were, whoever wrote its memory.

    Versions do not tell: numpy, ``.data`` and other processes write without one. It reads them all at memory speed.
    """
    with without_functions():
        held = [(x, _where(x), view := _bytes_of(x), view.clone()) for x in constants if not isinstance(x, FakeTensor)]

    def written() -> torch.Tensor | None:
        with without_functions():
            for tensor, where, view, before in held:
                now = view if view.data_ptr() == where[0] else _bytes_of(tensor)
                if _where(tensor) != where or not torch.equal(now, before):
                    return tensor
        return None

    return written


def _where(tensor: torch.Tensor) -> tuple[Any, ...]:
    """Its memory, and how that is read."""
    return tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride()


def _bytes_of(tensor: torch.Tensor) -> torch.Tensor:
    """The bytes of its values in order: a view where they lie in memory so."""
    return tensor.detach().resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8)


def _cached_by(holder: Any) -> Iterator[Any]:
    if isinstance(holder, functools._lru_cache_wrapper):
        yield from gc.get_referents(holder)
    elif isinstance(held := getattr(holder, "__dict__", None), dict) and not isinstance(holder, type):
        classes = type(holder).__mro__
        names = {name for c in classes for name, of in vars(c).items() if isinstance(of, functools.cached_property)}
        yield from (held[name] for name in names if name in held)


def refuse_written(graph: torch.fx.GraphModule, paths: Mapping[int, tuple[str, Any]], inputs: int) -> None:
    """Raises TraceError where a function writes what a program would keep as it is: also its last `inputs`."""
    placeholders = graph.graph.find_nodes(op="placeholder")
    given = placeholders[len(placeholders) - inputs :]
    for node in graph.graph.nodes:
        for written in _written(node):
            root = _viewed(written)
            if root.op == "get_attr":
                constant = getattr(graph, str(root.target))
                path, _ = paths.get(id(constant), ("a tensor", None))
                what = f"writes `{path}`, which is neither an argument nor state"
                raise TraceError(what, place_of(node), to_be_state(path, constant), 1)
            if root in given:
                what = "writes one of its arguments, which the caller would see in PyTorch and not of a program"
                raise TraceError(what, place_of(node), "write a copy: x = x.clone(), or make a new tensor of it")


def _written(node: torch.fx.Node) -> Iterator[torch.fx.Node]:
    """The operands that an op changes."""
    if isinstance(node.target, OpOverload):
        for argument, value in zip(node.target._schema.arguments, node.args, strict=False):
            if argument.alias_info and argument.alias_info.is_write:
                yield from [value] if isinstance(value, torch.fx.Node) else value


def _viewed(node: torch.fx.Node) -> torch.fx.Node:
    """What a view, or the result of an op that changes its operand, is a view of."""
    while isinstance(node.target, OpOverload) and node.args:
        first = node.target._schema.arguments[0]
        if first.alias_info is None or not isinstance(node.args[0], torch.fx.Node):
            break
        node = node.args[0]
    return node
