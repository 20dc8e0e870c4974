"""What a function returned, as its calls give it: tensors of their own, or in memory that is something else's.

In PyTorch a returned parameter is the parameter, and what is written to a view is seen in what it views; and gradients
flow on into what makes outputs, which ends in a program: there whoever asks for them is told.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Container,
    ItemsView,
    Iterator,
    KeysView,
    Mapping,
    Sequence,
    ValuesView,
)
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Literal, TypeAlias

import torch

from ingot.torch.base.errors import TraceError
from ingot.torch.base.places import user_place
from ingot.torch.base.torch_internals import is_open, pytree
from ingot.torch.base.torch_internals.fake_tensors import FakeTensor

Whole: TypeAlias = Literal["state", "argument", "output"]  # what may be shared
SharedMemory: TypeAlias = tuple[Whole, str, torch.Tensor]  # whose, and what it was when the function was traced


@dataclass(frozen=True)
class Shared:
    """Memory of a whole tensor, which lies by `strides`: all of it, or a view from `offset` on."""

    whole: Whole
    name: str  # of the state or the output; of an argument, its number among tensors
    strides: tuple[int, ...]
    is_whole: bool
    view_shape: tuple[int, ...]
    view_strides: tuple[int, ...]
    offset: int

    def of(self, whole: torch.Tensor) -> torch.Tensor | None:
        """The output in a tensor's memory; None if that lies otherwise than when it was traced."""
        if whole.stride() != self.strides:
            return None
        if self.is_whole:
            return whole
        return whole.detach().as_strided(self.view_shape, self.view_strides, whole.storage_offset() + self.offset)


@dataclass(frozen=True)
class Output:
    """A tensor, or a number, among what a function returned. Its gradient ends there where it `ends_gradients`."""

    name: str
    is_complex: bool
    ends_gradients: bool = False
    shared: Shared | None = None
    is_number: bool = False


def shared_by(
    outputs: Any, state: Mapping[str, torch.Tensor], arguments: Sequence[torch.Tensor]
) -> dict[int, SharedMemory]:
    """By the identities of outputs, whose memory they have; of each other's, that of the first that has all of it."""
    wholes: dict[int, SharedMemory] = {}
    for i, argument in enumerate(arguments):
        wholes.setdefault(_memory(argument), ("argument", str(i), argument))
    for name, tensor in state.items():
        wholes[_memory(tensor)] = ("state", name, tensor)
    leaves = [leaf for leaf in pytree.tree_leaves(outputs) if isinstance(leaf, torch.Tensor) and not is_open(leaf)]
    found = {id(leaf): wholes[_memory(leaf)] for leaf in leaves if _memory(leaf) in wholes}
    own = {_memory(leaf): leaf for leaf in reversed(leaves) if id(leaf) not in found and _is_all(leaf)}
    for leaf in leaves:
        base = own.get(_memory(leaf), leaf)
        if id(leaf) not in found and base is not leaf:
            found[id(leaf)] = ("output", "", base)
    return found


def output_for(
    tensor: torch.Tensor,
    names: Mapping[int, str],
    shared: Mapping[int, SharedMemory],
    numbers: Container[int],
    *,
    ends_gradients: bool,
) -> Output:
    """What stands for an output; `names` are of the identities of all, `shared` of those in memory of others.

    Python's `numbers` are among them, by their identities.
    """
    kept = None
    if id(tensor) in shared:
        whole, name, of = shared[id(tensor)]
        if of.dtype == tensor.dtype and not tensor.is_conj() and not tensor.is_neg():
            offset = tensor.storage_offset() - of.storage_offset()
            shape, strides = tuple(tensor.shape), tensor.stride()
            kept = Shared(whole, name or names[id(of)], of.stride(), tensor is of, shape, strides, offset)
    ends = tensor.requires_grad and ends_gradients
    return Output(names[id(tensor)], tensor.is_complex(), ends, kept, id(tensor) in numbers)


def refuse_unfinished(outputs: Any) -> None:
    """Raises TraceError for an iterator or a coroutine, whose code would run after the function."""
    for leaf in pytree.tree_leaves(outputs):
        if isinstance(leaf, Iterator | Awaitable | AsyncIterator):
            what = f"the function returns a {type(leaf).__name__}, whose code runs after the function"
            raise TraceError(what, fix="return a list of what it gives, and await outside of the function")


def refuse_objects_of_tensors(outputs: Any) -> None:
    """Raises TraceError for what is no container of PyTorch's pytree, and holds tensors that the function made."""
    for leaf in pytree.tree_leaves(outputs):
        kind = type(leaf).__name__
        for how, value in _held(leaf):
            if any(isinstance(held, FakeTensor) for held in pytree.tree_leaves(value)):
                what = f"the function returns a {kind}, {how} a tensor that it made"
                raise TraceError(what, fix="return tensors, or lists, tuples and dicts of them: vars(output)")


def _held(leaf: Any) -> Iterator[tuple[str, Any]]:
    """The attributes and elements of an object, or the variables of a function, each after a text for errors."""
    if isinstance(leaf, torch.Tensor | str | bytes):
        return
    for attribute, value in getattr(leaf, "__dict__", {}).items():
        yield f"whose `{attribute}` is", value
    if isinstance(leaf, dict):
        yield "which holds", [*leaf.values()]
    elif isinstance(leaf, list | tuple | set | frozenset | deque | KeysView | ValuesView | ItemsView):
        yield "which holds", [*leaf]
    if isinstance(leaf, FunctionType):
        yield "which closes over", [*inspect.getclosurevars(leaf).nonlocals.values()]


def output_of(written: Mapping[str, Any]) -> Output:
    """One that was written as a dict."""
    shared = written["shared"]
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in (shared or {}).items()}
    return Output(**{**written, "shared": Shared(**values) if shared else None})


def _memory(tensor: torch.Tensor) -> int:
    address: int = tensor.untyped_storage()._cdata
    return address


def _is_all(tensor: torch.Tensor) -> bool:
    storage_bytes: int = tensor.untyped_storage().nbytes()
    return bool(tensor.is_contiguous() and tensor.nbytes == storage_bytes)


class _Ended(torch.autograd.Function):  # type: ignore[misc]  # torch is not checked
    @staticmethod
    def forward(ctx: Any, value: torch.Tensor, end: torch.Tensor) -> torch.Tensor:
        return value.view_as(value)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        what = "the gradient of what a compiled function returns is asked for, and ends there"
        fix = "call backward() in the function, or compile a part of a program: ingot.torch.partial"
        raise TraceError(what, user_place(), fix)


_END = torch.empty(0, requires_grad=True)


def ended(value: torch.Tensor) -> torch.Tensor:
    """A tensor that requires a gradient, which raises TraceError where it is asked for."""
    marked: torch.Tensor = _Ended.apply(value, _END)
    return marked
