"""Tensors that become others in place: ``resize_``, ``set_``, and results given as ``out``, which PyTorch resizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ingot.torch.base.torch_internals.ops import OpOverload
from ingot.torch.lazy.memory import Memory, layout, layout_of
from ingot.torch.lazy.plans import Args, Kwargs
from ingot.torch.lazy.recorder import RECORDER
from ingot.torch.lazy.tape import found, mapped
from ingot.torch.lazy.tensor import DEVICE, LazyTensor, tensor_of


def resize(tensor: LazyTensor, size: Sequence[int], *, memory_format: torch.memory_format | None = None) -> LazyTensor:
    """``tensor.resize_(size)``; what memory gains is zero."""
    if tuple(size) == tuple(tensor.shape):
        return tensor
    like = torch.empty(size, device="meta", memory_format=memory_format or torch.contiguous_format)
    offset, memory = tensor.form.offset, tensor.memory
    if offset + like.numel() > memory.layout.shape.numel():
        _grow(memory, offset + like.numel())
    form = layout(like.shape, like.stride(), offset, memory.layout.dtype, False, False)
    return tensor.become(tensor_of(memory, form))


class DeviceStorage(torch.UntypedStorage):  # type: ignore[misc]  # torch is not checked
    """Bytes of a file, of which PyTorch makes tensors of the device: those of one type share their memory."""

    host: torch.UntypedStorage
    memories: dict[torch.dtype, Memory]

    @property
    def device(self) -> torch.device:
        """The device."""
        return torch.device(DEVICE, 0)

    def memory(self, dtype: torch.dtype) -> Memory:
        """The bytes as elements of a type."""
        if dtype not in self.memories:
            count = self.host.nbytes() // dtype.itemsize
            data = torch.empty(0, dtype=dtype).set_(self.host, 0, (count,), (1,))
            self.memories[dtype] = Memory(layout_of(data), data)
        return self.memories[dtype]


def set_to(tensor: LazyTensor, source: Any, *place: Any) -> LazyTensor:
    """``tensor.set_(source)``."""
    if isinstance(source, DeviceStorage):
        offset, shape, stride = place
        form = layout(torch.Size(shape), tuple(stride), offset, tensor.dtype, False, False)
        return tensor.become(tensor_of(source.memory(tensor.dtype), form))
    if place or not isinstance(source, LazyTensor):
        raise NotImplementedError(
            f"set_ of a tensor of {tensor.device} takes a tensor of the device and nothing else; "
            "use x.set_(source.as_strided(size, stride, offset))"
        )
    return tensor.become(source)


def fit_outputs(op: OpOverload, args: Args, kwargs: Kwargs) -> None:
    """Gives the tensors that an op is told to write to its results' shapes."""
    outputs = {argument.name: kwargs.get(argument.name) for argument in op._schema.arguments if argument.is_out}
    if found(outputs, LazyTensor):
        shaped = mapped(outputs, lambda x: torch.empty_like(x.seen), LazyTensor)
        seen_args, seen_kwargs = mapped((args, kwargs), lambda x: x.seen, LazyTensor)
        op(*seen_args, **seen_kwargs | shaped)
        for output, like in zip(found(outputs), found(shaped), strict=True):
            resize(output, like.shape)


def _grow(memory: Memory, count: int) -> None:
    """Makes a memory, with all views of it, one of so many elements."""
    RECORDER.run()
    data = memory.known()
    longer = torch.zeros(count, dtype=data.dtype)
    longer[: data.numel()] = data.as_strided((data.numel(),), (1,), 0)
    memory.grow(longer)
