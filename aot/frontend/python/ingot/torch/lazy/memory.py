"""Memory, which a tensor and its views share, and layouts, which say where in it a tensor has its elements."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import torch

from ingot.torch.base.torch_internals.ops import is_non_overlapping_and_dense_or_false, neg_view

UNKNOWN = -1  # the number of what no tape knows


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Where a tensor has its elements in a memory; equal layouts are one object while they are in use."""

    shape: torch.Size
    stride: tuple[int, ...]
    offset: int  # in elements
    dtype: torch.dtype
    is_conj: bool
    is_neg: bool

    def bare(self, device: str = "meta") -> torch.Tensor:
        """A new tensor of this shape and these strides; on PyTorch's device meta it has no bytes."""
        with torch.inference_mode(False):  # it may be kept
            return torch.empty_strided(self.shape, self.stride, dtype=self.dtype, device=device)

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

    now = peak = 0

    def add(self, count: int) -> None:
        """Counts bytes more, or less."""
        self.now += count
        if self.now > self.peak:
            self.peak = self.now


USAGE = Usage()


class Bytes:
    """A tensor of the processor, which is counted as long as a memory has it."""

    def __init__(self, data: torch.Tensor) -> None:
        self.data = data
        self._count = data.nbytes
        USAGE.add(self._count)

    def __del__(self) -> None:
        USAGE.add(-self._count)


class Memory:
    """Memory that a tensor was made with and that its views share.

    `layout` is that of the tensor that covers all of it. What a tape reads or makes has a number there; what it writes
    has its bytes when the tape has run.
    """

    number = UNKNOWN  # in the last tape that knows it; each tape begins to count where the one before ended
    written = UNKNOWN  # its number when a tape wrote it last
    awaited: Callable[[], None] | None = None  # waits for the run that makes the bytes, and fills them in
    _bytes: Bytes | None = None  # where they are known
    _whole: torch.Tensor | None = None

    def __init__(self, layout: Layout, data: torch.Tensor | None = None) -> None:
        self.layout = layout
        if data is not None:
            self._bytes = Bytes(data)

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
        self.layout = layout_of(data)
        self.fill(data)

    def fill(self, data: torch.Tensor | None) -> None:
        """Has these bytes from now on, or none."""
        self._bytes = None  # those before are not in use when these are counted
        self._bytes = None if data is None else Bytes(data)

    def known(self) -> torch.Tensor:
        """Its bytes, once what runs has made them.

        Raises the error of that run, and RuntimeError where it has failed before.
        """
        if self.awaited is not None:
            self.awaited()
        if self._bytes is None:
            raise RuntimeError("the step that computes this tensor failed before; make the tensor again")
        return self._bytes.data


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
