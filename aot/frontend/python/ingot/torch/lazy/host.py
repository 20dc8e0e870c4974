"""Work on the processor for lazy tensors: copies, random numbers, and ops that cannot be recorded."""

from __future__ import annotations

from typing import Any

import torch

from ingot.torch.base import metrics
from ingot.torch.base.errors import TraceError
from ingot.torch.base.places import user_place
from ingot.torch.base.torch_internals.ops import OpOverload
from ingot.torch.lazy.memory import UNKNOWN, Layout, Memory, layout_of, view_like
from ingot.torch.lazy.plans import Args, Kwargs, placed
from ingot.torch.lazy.record import aten, record
from ingot.torch.lazy.recorder import RECORDER
from ingot.torch.lazy.tape import Plan, found, mapped
from ingot.torch.lazy.tensor import DEVICE, LazyTensor, on_device, tensor_of, view_of

# Random ops that look at the type and the shape of their tensors alone; so do all that have no tensor.
DRAWN_IN_PLACE = {
    *("normal_.default", "uniform_.default", "exponential_.default", "bernoulli_.float", "geometric_.default"),
    *("random_.default", "random_.from", "random_.to", "cauchy_.default", "log_normal_.default"),
}
DRAWN_ALIKE = {"rand_like", "randn_like", "randint_like"}
UNUSED = ("pin_memory", "non_blocking", "layout")  # by a copy


def draw(op: OpOverload, args: Args, kwargs: Kwargs) -> Any:
    """Random numbers are PyTorch's, of its generator for the processor: the same as without the device."""
    in_place = f"{op._opname}.{op._overloadname}" in DRAWN_IN_PLACE
    if found((args, kwargs), LazyTensor) and not in_place and op._opname not in DRAWN_ALIKE:
        return run_by_torch(op, args, kwargs)
    metrics.count(metrics.DRAWN)
    if in_place and args[0].memory.number == UNKNOWN and args[0].form is args[0].memory.layout:  # nobody reads it
        op(args[0].memory.known(), *args[1:], **kwargs)
        return args[0]
    alike = mapped(args, lambda x: torch.empty_strided(x.shape, x.stride(), dtype=x.dtype))
    drawn = op(*alike, **placed(kwargs, "cpu"))
    return copy_into(args[0], drawn) if in_place else on_device(drawn)


def empty(plan: Plan, *_: Any) -> LazyTensor:
    """Memory without values, which is not recorded."""
    layout = plan.results[0]
    assert isinstance(layout, Layout)
    return tensor_of(Memory(layout, layout.bare("cpu")), layout)


def run_by_torch(op: OpOverload, args: Args, kwargs: Kwargs) -> Any:
    """Runs an op in PyTorch on the bytes of its tensors, and counts it under its name."""
    metrics.count(op._schema.name)
    operands: dict[int, LazyTensor] = {id(x): x for x in found((args, kwargs), LazyTensor)}
    host = {key: x.bytes for key, x in operands.items()}
    host_args, host_kwargs = mapped((args, placed(kwargs, "cpu")), lambda x: host.get(id(x), x))
    made = op(*host_args, **host_kwargs)
    for key, x in operands.items():
        if host[key].shape != x.shape:  # as PyTorch resizes what it is told to write to
            x.become(on_device(host[key]))

    def wrapped(x: torch.Tensor) -> LazyTensor:
        if x.layout is not torch.strided:
            what = f"{op._schema.name} gives a tensor whose layout is {x.layout}, and lazy tensors are strided"
            raise TraceError(what, user_place(), "take sparse=False for embeddings, or compute it on the processor")
        for key, seen in host.items():
            if seen is x:
                return operands[key]
            if seen.untyped_storage()._cdata == x.untyped_storage()._cdata:
                memory = operands[key].memory
                return tensor_of(memory, layout_of(x))
        return on_device(x.clone() if x._is_zerotensor() else x)

    return mapped(made, wrapped)


def record_or_run(op: OpOverload, args: Args, kwargs: Kwargs) -> Any:
    """Records an op; one that cannot be recorded runs in PyTorch."""
    try:
        return record(op, args, kwargs)
    except NotImplementedError:
        return run_by_torch(op, args, kwargs)


def copy_into(tensor: torch.Tensor, source: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    """``tensor.copy_(source)``; where the processor's values go to memory that the tape does not know, at once."""
    if not isinstance(tensor, LazyTensor):
        return tensor.copy_(source.on_host())
    if isinstance(source, LazyTensor):
        return record_or_run(aten.copy_.default, (tensor, source), {})
    if tensor.memory.number >= RECORDER.tape.first:
        return record(aten.copy_.default, (tensor, on_device(source.detach().clone())), {})
    memory = tensor.memory
    if memory.number != UNKNOWN:  # what runs may read it
        if tensor.form is memory.layout:
            memory.fill(torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype))
        else:
            RECORDER.wait()
    view_like(memory.known(), tensor.form).copy_(source.detach())
    return tensor


def converted(tensor: torch.Tensor, *, device: torch.device | None = None, **options: Any) -> torch.Tensor:
    """``tensor.to(...)``, to this device or to the processor."""
    options = {name: value for name, value in options.items() if value is not None and name not in UNUSED}
    if not isinstance(tensor, LazyTensor):
        return on_device(tensor.detach().clone()).to(**options)
    if device is None or device.type == DEVICE:
        return record_or_run(aten._to_copy.default, (tensor,), options)
    return tensor.on_host().to(device, copy=True, **options)


def same(tensor: LazyTensor) -> LazyTensor:
    """Another tensor of the same value and memory: ``detach()``."""
    other = view_of(tensor, tensor.form)
    other.number = tensor.number
    return other


def number(tensor: LazyTensor) -> Any:
    """``item()``."""
    metrics.count("aten::_local_scalar_dense")
    return tensor.on_host().item()
