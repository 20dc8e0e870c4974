"""The memory that lazy tensors share."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import torch

from ingot.torch.base.torch_internals.ops import is_non_overlapping_and_dense_or_false, neg_view


class Memory:
    """Memory that a tensor was made with and that its views share.

    `whole` is the tensor that covers all of it, on PyTorch's device meta, where tensors have no bytes; `data` is the
    same with its bytes, where they are known. What a tape reads or makes has a number there; what it writes has its
    bytes when the tape has run.
    """

    __slots__ = ("__weakref__", "data", "is_written", "number", "tape", "whole")

    def __init__(self, whole: torch.Tensor, data: torch.Tensor | None = None) -> None:
        self.whole, self.data = whole, data
        self.tape: object = None  # that knows it
        self.number = 0
        self.is_written = False

    def place(self, tape: object, number: int) -> None:
        """Says where a tape has it."""
        self.tape, self.number, self.is_written = tape, number, False

    def known(self) -> torch.Tensor:
        """Its bytes.

        Raises RuntimeError where what computes them was run and failed.
        """
        if self.data is None:
            raise RuntimeError("the step that computes this tensor failed before; make the tensor again")
        return self.data


def packed(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor that covers its memory: itself, or a copy where it has gaps or shares elements."""
    covers = tensor.storage_offset() == 0 and is_non_overlapping_and_dense_or_false(tensor)
    return tensor if covers else tensor.contiguous()


def bare(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor without bytes that lies as a packed one does."""
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")


def view_like(memory: torch.Tensor, view: torch.Tensor) -> torch.Tensor:
    """What a view of one memory is in another memory."""
    seen = torch.empty(0, dtype=view.dtype, device=memory.device).set_(
        memory.untyped_storage(), view.storage_offset(), view.shape, view.stride()
    )
    if view.is_conj():
        seen = torch.conj(seen)
    return neg_view(seen) if view.is_neg() else seen


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """How a tensor lies, wherever it starts; there is one of each, but for those that were not met for long."""

    shape: torch.Size
    stride: tuple[int, ...]
    dtype: torch.dtype
    is_conj: bool
    is_neg: bool


_layout = functools.lru_cache(100_000)(Layout)


def layout_of(tensor: torch.Tensor) -> Layout:
    """The layout of a tensor."""
    return _layout(tensor.shape, tensor.stride(), tensor.dtype, tensor.is_conj(), tensor.is_neg())


def lies_alike(x: torch.Tensor, y: torch.Tensor) -> bool:
    """Whether two tensors have their elements at the same places of a memory."""
    if x is y:
        return True
    mine, other = ((t.shape, t.stride(), t.storage_offset(), t.dtype, t.is_conj(), t.is_neg()) for t in (x, y))
    return mine == other
