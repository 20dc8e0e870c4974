"""Tensors of the device ``ingot``: ops on them are recorded, and run when somebody looks."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, ClassVar

import torch

from ingot.torch.base.torch_internals.devices import rebuild_parameter, rebuild_tensor
from ingot.torch.base.torch_internals.fake_tensors import wrapper
from ingot.torch.base.torch_internals.modes import no_dispatch, no_torch_function
from ingot.torch.base.torch_internals.ops import set_conj, set_neg
from ingot.torch.lazy.memory import Memory, bare, packed, view_like
from ingot.torch.lazy.recorder import alone, run

DEVICE = "ingot"


class LazyTensor(torch.Tensor):  # type: ignore[misc]  # torch is not checked
    """A view of a memory; `seen` is that view on PyTorch's device meta, where tensors have no bytes."""

    memory: Memory
    seen: torch.Tensor
    value: tuple[Any, int] | None  # the tape that knows it, and its number there
    dispatch: ClassVar[Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]]

    __torch_function__ = no_torch_function

    @staticmethod
    def __new__(cls, memory: Memory, seen: torch.Tensor) -> LazyTensor:
        """A tensor that views a memory as `seen` does the memory's own tensor without bytes."""
        tensor: LazyTensor = wrapper(
            cls, seen, storage_offset=seen.storage_offset(), dtype=seen.dtype, device=torch.device(DEVICE, 0)
        )
        set_conj(tensor, seen.is_conj())
        set_neg(tensor, seen.is_neg())
        tensor.memory, tensor.seen, tensor.value = memory, seen, None
        return tensor

    def __init__(self, memory: Memory, seen: torch.Tensor) -> None:
        pass

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Every op that PyTorch would run, after autograd has seen it."""
        with alone():
            return cls.dispatch(func, args, kwargs or {})

    def become(self, other: LazyTensor) -> LazyTensor:
        """Is from now on what another tensor is."""
        with no_dispatch():  # PyTorch's own account of shape and strides
            torch.Tensor.data.__set__(self, other)
        self.memory, self.seen, self.value = other.memory, other.seen, other.value
        return self

    @property
    def bytes(self) -> torch.Tensor:
        """The tensor in PyTorch's memory, over the memory's own; what is recorded runs before."""
        with alone():
            run()
            return view_like(self.memory.known(), self.seen)

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        """As PyTorch prints tensors of other devices."""
        text = repr(self.detach().cpu()).removesuffix(")")
        if self.grad_fn is not None:
            autograd = f", grad_fn=<{type(self.grad_fn).__name__}>"
        else:
            autograd = ", requires_grad=True" if self.requires_grad else ""
        what = f"{text}, device='{self.device}'{autograd})"
        return f"Parameter containing:\n{what}" if isinstance(self, torch.nn.Parameter) else what

    def __format__(self, spec: str) -> str:
        """A tensor of no dimension is formatted as its number."""
        return format(self.item(), spec) if self.dim() == 0 else object.__format__(self, spec)

    def tolist(self) -> Any:
        """The values as Python's numbers, in lists."""
        return self.detach().cpu().tolist()

    def numpy(self, *, force: bool = False) -> Any:
        """An array with the values, where it is asked for with `force`, as of every tensor of another device."""
        if not force:
            raise TypeError(f"can't convert {self.device} tensor to numpy; use Tensor.cpu() before")
        return self.detach().cpu().numpy()

    def __array__(self, dtype: Any = None) -> Any:
        return self.numpy()

    @property
    def data(self) -> torch.Tensor:
        """The same values, without autograd."""
        return torch.Tensor.data.__get__(self)

    @data.setter
    def data(self, new: torch.Tensor) -> None:
        if not isinstance(new, LazyTensor):
            raise TypeError(
                f".data of a tensor of {self.device} is set to one of {new.device}; use new.to('{self.device}')"
            )
        self.become(new)

    def __tensor_flatten__(self) -> tuple[list[str], None]:
        """What PyTorch asks for where it exchanges parameters, so that ``module.to(device)`` keeps their identity."""
        return ["bytes"], None

    @staticmethod
    def __tensor_unflatten__(inner: dict[str, torch.Tensor], _: None, size: Any, stride: Any) -> LazyTensor:
        """A tensor of what it was made of."""
        return on_device(inner["bytes"])

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Is saved with its bytes; what is loaded is on this device again, unless ``map_location`` says otherwise."""
        if isinstance(self, torch.nn.Parameter):
            return rebuild_parameter, (self.detach(), self.requires_grad, OrderedDict())
        parts = (self.detach().cpu(), self.dtype, str(self.device), self.requires_grad)
        return rebuild_tensor, parts


def of_memory(whole: torch.Tensor, data: torch.Tensor | None = None) -> LazyTensor:
    """A tensor that covers memory of its own, which `whole` stands for on PyTorch's device meta; its bytes."""
    return LazyTensor(Memory(whole, data), whole)


def on_device(data: torch.Tensor) -> LazyTensor:
    """A tensor of the device over the bytes of one of the processor's, which must not change any more."""
    whole = packed(data.resolve_conj().resolve_neg())
    return of_memory(bare(whole), whole)
