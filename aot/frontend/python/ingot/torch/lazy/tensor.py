"""Tensors of the device ``ingot``: ops on them are recorded, and run when somebody looks."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import torch

from ingot.torch.base.torch_internals.devices import rebuild_parameter, rebuild_tensor
from ingot.torch.base.torch_internals.fake_tensors import make_wrapper
from ingot.torch.base.torch_internals.modes import no_dispatch, no_torch_function
from ingot.torch.base.torch_internals.ops import set_conj, set_neg
from ingot.torch.lazy.memory import UNKNOWN, Layout, Memory, layout_of, packed, view_like
from ingot.torch.lazy.recorder import RECORDER, alone

DEVICE = "ingot"
_DEVICE = torch.device("privateuseone", 0)
Device: TypeAlias = torch.device | str | int | None
OWN = {"memory", "form", "number", "_seen"}  # attributes of lazy tensors


class LazyTensor(torch.Tensor):  # type: ignore[misc]  # torch is not checked
    """A view of a memory, whose elements are where `form` says; `tensor_of` makes one."""

    memory: Memory
    form: Layout
    number: int = UNKNOWN  # in the last tape that knows it
    ways: ClassVar[dict[Any, Callable[[tuple[Any, ...], dict[str, Any]], Any]]]  # how ops are done
    _seen: torch.Tensor | None = None

    __torch_function__ = no_torch_function

    @property
    def seen(self) -> torch.Tensor:
        """The same view on PyTorch's device meta, where tensors have no bytes."""
        if self._seen is None:
            whole = self.memory.whole
            with torch.inference_mode(False):
                self._seen = whole if self.form is self.memory.layout else view_like(whole, self.form)
        return self._seen

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Every op that PyTorch would run, after autograd has seen it."""
        with alone():
            return cls.ways[func](args, kwargs or {})

    def become(self, other: LazyTensor) -> LazyTensor:
        """Is from now on what another tensor is."""
        with no_dispatch():  # PyTorch's own account of shape and strides
            torch.Tensor.data.__set__(self, other)
        self.memory, self.form, self.number, self._seen = other.memory, other.form, other.number, other._seen
        return self

    @property
    def bytes(self) -> torch.Tensor:
        """The tensor in PyTorch's memory, over the memory's own; what is recorded runs before."""
        with alone():
            RECORDER.run()
            return view_like(self.memory.known(), self.form)

    def on_host(self) -> torch.Tensor:
        """The same to read only: what is recorded runs where the values depend on it."""
        with alone():
            if self.memory.written >= RECORDER.tape.first:
                RECORDER.run()
            return view_like(self.memory.known(), self.form)

    def untyped_storage(self) -> torch.UntypedStorage:
        """The memory that has the values now, which is the processor's; another one when they have changed."""
        return self.on_host().untyped_storage()

    def data_ptr(self) -> int:
        """The address of the first element in that memory."""
        return int(self.on_host().data_ptr())

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

    def __dlpack__(self, **_: Any) -> Any:
        raise BufferError(f"memory of {self.device} is not shared by DLPack, as each step may move it; use x.cpu()")

    __dlpack_device__ = __dlpack__

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

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A copy in memory of its own, which copies of other views of this memory share."""
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
                "moment; use x.detach()"
            )
        if id(self) in memo:
            return memo[id(self)]
        place = id(self.memory)
        with torch.no_grad():
            if place not in memo:
                memo[place] = tensor_of(self.memory, self.memory.layout).clone().memory
            copied = tensor_of(memo[place], self.form)
            if isinstance(self, torch.nn.Parameter):  # PyTorch copies neither its gradient nor attributes of users
                memo[id(self)] = torch.nn.Parameter(copied, self.requires_grad)
                return memo[id(self)]
            memo[id(self)] = copied.requires_grad_(self.requires_grad)
        copied.grad = copy.deepcopy(self.grad, memo)
        of_users = {name: value for name, value in self.__dict__.items() if name not in OWN}
        copied.__dict__.update(copy.deepcopy(of_users, memo))
        return copied

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Is saved with its bytes; what is loaded is on this device again, unless ``map_location`` says otherwise."""
        if isinstance(self, torch.nn.Parameter):
            return rebuild_parameter, (self.detach(), self.requires_grad, OrderedDict())
        parts = (self.detach().cpu(), self.dtype, str(self.device), self.requires_grad)
        return rebuild_tensor, parts


def checked(device: Device) -> None:
    """Raises RuntimeError for another device than the only one."""
    named = torch.device(device) if isinstance(device, str) else device
    index, kind = (named.index, named.type) if isinstance(named, torch.device) else (named, DEVICE)
    if index not in (None, 0) or kind != DEVICE:
        raise RuntimeError(f"there is no device {device} here: the only one is {DEVICE}:0")


def tensor_of(memory: Memory, form: Layout) -> LazyTensor:
    """A tensor that views a memory."""
    tensor: LazyTensor = make_wrapper(
        LazyTensor, form.shape, form.stride, form.offset or None, None, form.dtype, torch.strided, _DEVICE
    )
    if form.is_conj or form.is_neg:
        set_conj(tensor, form.is_conj)
        set_neg(tensor, form.is_neg)
    tensor.memory, tensor.form = memory, form
    return tensor


def view_of(tensor: LazyTensor, form: Layout) -> LazyTensor:
    """Another view of a tensor's memory; of a tensor that autograd knows, PyTorch needs one that it may know."""
    if torch.is_inference_mode_enabled() and not tensor.is_inference():
        with torch.inference_mode(False):
            return tensor_of(tensor.memory, form)
    return tensor_of(tensor.memory, form)


def on_device(data: torch.Tensor) -> LazyTensor:
    """A tensor of the device over the bytes of one of the processor's, which must not change any more."""
    whole = packed(data.resolve_conj().resolve_neg())
    layout = layout_of(whole)
    return tensor_of(Memory(layout, whole), layout)
