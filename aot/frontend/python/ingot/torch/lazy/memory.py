"""The memory that lazy tensors share, and where in it a tensor has its elements."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import torch

from ingot.torch.base.torch_internals.ops import is_non_overlapping_and_dense_or_false, neg_view

UNKNOWN = -1  # the number of no tape


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Where a tensor has its elements in a memory; equal layouts are one object while they are in use."""

    shape: torch.Size
    stride: tuple[int, ...]
    offset: int  # in elements
    dtype: torch.dtype
    is_conj: bool
    is_neg: bool

    def bare(self) -> torch.Tensor:
        """A new tensor of this shape and these strides on PyTorch's device meta, where tensors have no bytes."""
        with torch.inference_mode(False):  # it may be kept
            return torch.empty_strided(self.shape, self.stride, dtype=self.dtype, device="meta")

    @property
    def nbytes(self) -> int:
        """Bytes of its elements."""
        return int(self.shape.numel() * self.dtype.itemsize)


layout = functools.lru_cache(100_000)(Layout)


def layout_of(tensor: torch.Tensor) -> Layout:
    """The layout of a tensor."""
    return layout(
        tensor.shape, tensor.stride(), tensor.storage_offset(), tensor.dtype, tensor.is_conj(), tensor.is_neg()
    )


class Usage:
    """Bytes of the memory whose values are known, and the most there have been, with those of programs as they run."""

    def __init__(self) -> None:
        self.now = self.peak = 0

    def add(self, count: int) -> None:
        """Counts bytes more, or less."""
        self.now += count
        if self.now > self.peak:
            self.peak = self.now

    def note(self, count: int) -> None:
        """So many bytes were in use at once."""
        self.peak = max(self.peak, count)


USAGE = Usage()


class Memory:
    """Memory that a tensor was made with and that its views share.

    `layout` is that of the tensor that covers all of it; `data` has its bytes, where they are known. What a tape reads
    or makes has a number there; what it writes has its bytes when the tape has run.
    """

    __slots__ = ("__weakref__", "_whole", "awaited", "data", "is_written", "layout", "number", "tape_id")

    def __init__(self, layout: Layout, data: torch.Tensor | None = None) -> None:
        self.layout = layout
        self.data: torch.Tensor | None = None
        self.awaited: Callable[[], None] | None = None  # waits for the run that makes the bytes, and fills them in
        if data is not None:
            self.fill(data)
        self.tape_id = UNKNOWN  # of the tape that has the number
        self.number = 0
        self.is_written = False  # by that tape
        self._whole: torch.Tensor | None = None

    @property
    def whole(self) -> torch.Tensor:
        """The tensor that covers it, on PyTorch's device meta; all views that PyTorch is shown share its storage."""
        if self._whole is None:
            self._whole = self.layout.bare()
        return self._whole

    def grow(self, data: torch.Tensor) -> None:
        """Becomes longer memory of one dimension, with all views of it."""
        storage = self.whole.untyped_storage()
        storage.resize_(data.numel() * data.dtype.itemsize)
        self._whole = torch.empty(0, dtype=data.dtype, device="meta").set_(storage, 0, data.shape, data.stride())
        self.forget()
        self.layout = layout_of(data)
        self.fill(data)

    def fill(self, data: torch.Tensor) -> None:
        """Has these bytes from now on."""
        self.forget()
        self.data = data
        USAGE.add(self.layout.nbytes)

    def forget(self) -> None:
        """Has no bytes."""
        if self.data is not None:
            self.data = None
            USAGE.add(-self.layout.nbytes)

    def __del__(self) -> None:
        self.forget()

    def known(self) -> torch.Tensor:
        """Its bytes, once what runs has made them.

        Raises the error of that run, and RuntimeError where it has failed before.
        """
        if self.awaited is not None:
            self.awaited()
        if self.data is None:
            raise RuntimeError("the step that computes this tensor failed before; make the tensor again")
        return self.data


def packed(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor that covers its memory: itself, or a copy where it has gaps or shares elements."""
    if tensor.storage_offset() == 0 and (tensor.is_contiguous() or is_non_overlapping_and_dense_or_false(tensor)):
        return tensor
    return tensor.contiguous()


def view_like(memory: torch.Tensor, view: Layout) -> torch.Tensor:
    """A view of a tensor's memory."""
    seen = torch.empty(0, dtype=view.dtype, device=memory.device).set_(
        memory.untyped_storage(), view.offset, view.shape, view.stride
    )
    if view.is_conj:
        seen = torch.conj(seen)
    return neg_view(seen) if view.is_neg else seen
