"""The cases of PyTorch's databases, each by a name, and their samples."""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.testing._internal import common_methods_invocations as methods
from torch.testing._internal.common_modules import module_db
from torch.testing._internal.common_optimizers import _get_optim_inputs_including_global_cliquey_kwargs, optim_db
from torch.testing._internal.common_utils import set_rng_seed
from torch.testing._internal.opinfo import core
from torch.utils import _pytree as pytree

from .doors import OP_DOORS, OpSample, Sample, TrainingSample

DOORS = (*OP_DOORS, "module", "optimizer")
USUAL = torch.float32
FALLBACKS = (torch.int64, torch.complex64, torch.bool)  # first dtypes of ops that have no `USUAL`
MODULE_STEPS, OPTIMIZER_STEPS = 2, 6
RATE = 0.01


@dataclass(frozen=True)
class Case:
    """An op, a module in one mode, or an optimizer, in one element type through one door."""

    door: str
    name: str
    dtype: str

    def samples(self, verify: bool) -> list[Sample]:
        """The case's samples, the same in each process."""
        dtype = getattr(torch, self.dtype)
        set_rng_seed(0)
        if self.door == "module":
            return [*_module_samples(self.name, dtype, verify)]
        if self.door == "optimizer":
            return [*_optimizer_samples(self.name, dtype, verify)]
        return [*_op_samples(self.door, self.name, dtype, verify)]


def cases(door: str, dtype: str) -> list[Case]:
    """All cases of a door; an op that has no float32 is of its first element type there. `dtype` may be "all"."""
    if door == "module":
        named = {f"{info.name} {mode}": info.dtypes for info in module_db for mode in ("train", "eval")}
    elif door == "optimizer":
        named = {info.name: (USUAL, torch.float64) for info in optim_db}
    else:
        named = {_op_name(op): op.dtypes for op in methods.op_db}
    return [Case(door, name, kind) for name, dtypes in named.items() for kind in _chosen(dtypes, dtype)]


def _chosen(dtypes: Any, wanted: str) -> list[str]:
    names = [str(dtype).removeprefix("torch.") for dtype in (USUAL, *FALLBACKS, *sorted(dtypes, key=str))]
    held = [name for name in dict.fromkeys(names) if getattr(torch, name) in dtypes]
    if wanted == "all":
        return held
    return held[:1] if wanted == names[0] else [name for name in held if name == wanted]


def _op_name(op: Any) -> str:
    return ".".join(filter(None, (op.name, op.variant_test_name)))


def _unseeded(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return op(*args, **kwargs)


methods.wrapper_set_seed = _unseeded  # torch.manual_seed within an op is a matter of PyTorch's tests


def _op_samples(door: str, name: str, dtype: torch.dtype, verify: bool) -> Iterator[Sample]:
    op = next(op for op in methods.op_db if _op_name(op) == name)
    function = op.op
    if op.gradcheck_wrapper is core.gradcheck_wrapper_hermitian_input:
        function = functools.partial(op.gradcheck_wrapper, op.op)
    for sample in op.sample_inputs("cpu", dtype, requires_grad=dtype in op.supported_backward_dtypes("cpu")):
        leaves, spec = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))

        def call(
            tensors: Any, device: Any, change: Any, leaves: Any = leaves, spec: Any = spec, sample: Any = sample
        ) -> Any:
            remaining = iter(tensors)
            filled = [next(remaining) if isinstance(leaf, torch.Tensor) else change(leaf) for leaf in leaves]
            first, args, kwargs = pytree.tree_unflatten(filled, spec)
            if "device" in kwargs:
                kwargs["device"] = device
            return sample.output_process_fn_grad(function(first, *args, **kwargs))

        yield OpSample(door, call, tuple(x for x in leaves if isinstance(x, torch.Tensor)), verify)


class Scaled(nn.Module):
    """A module of inputs that a parameter multiplies, for those that have none."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module, self.scale = module, nn.Parameter(torch.ones(()))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = pytree.tree_map_only(torch.Tensor, self._scaled, (args, kwargs))
        return self.module(*args, **kwargs)

    def _scaled(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.scale if x.is_floating_point() else x


def _module_samples(name: str, dtype: torch.dtype, verify: bool) -> Iterator[Sample]:
    name, mode = name.split()
    info = next(info for info in module_db if info.name == name)
    inputs = info.module_inputs_func(info, "cpu", dtype, requires_grad=False, training=mode == "train")
    for sample in inputs:
        if sample.forward_input is not None:
            made, given = sample.constructor_input, sample.forward_input
            make = functools.partial(_module_training, info.module_cls, made, given, dtype, mode == "train")
            yield TrainingSample(make, MODULE_STEPS, verify)


def _module_training(cls: Any, made: Any, given: Any, dtype: torch.dtype, training: bool) -> Any:
    torch.manual_seed(0)
    model = cls(*made.args, **made.kwargs)
    model = (model if [*model.parameters()] else Scaled(model)).to(dtype).train(training)
    leaves, spec = pytree.tree_flatten((given.args, given.kwargs))

    def forward(*tensors: torch.Tensor) -> Any:
        remaining = iter(tensors)
        filled = [next(remaining) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        args, kwargs = pytree.tree_unflatten(filled, spec)
        return model(*args, **kwargs)

    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    return model, torch.optim.SGD(model.parameters(), RATE), forward, tensors, []


def _optimizer_samples(name: str, dtype: torch.dtype, verify: bool) -> Iterator[Sample]:
    info = next(info for info in optim_db if info.name == name)
    with warnings.catch_warnings(action="ignore"):
        inputs = _get_optim_inputs_including_global_cliquey_kwargs("cpu", dtype, info, skip=("differentiable",))
    for given, schedulers in zip(inputs, itertools.cycle(info.scheduler_inputs), strict=False):
        make = functools.partial(_optimizer_training, info, given.kwargs, schedulers, dtype)
        yield TrainingSample(make, OPTIMIZER_STEPS, verify, has_closure=info.step_requires_closure)


def _optimizer_training(info: Any, kwargs: Any, schedulers: Any, dtype: torch.dtype) -> Any:
    torch.manual_seed(0)
    first: nn.Module = nn.Linear(3, 4, bias=False)
    x = torch.randn(5, 3)
    if info.only_supports_sparse_grads:
        first, x = nn.Embedding(6, 4, sparse=True), torch.tensor([0, 2, 2, 5])
    layers = [first, nn.Tanh()] if info.only_supports_sparse_grads else [first, nn.Tanh(), nn.Linear(4, 2, bias=False)]
    model = nn.Sequential(*layers).to(dtype)
    optimizer = info.optim_cls(model.parameters(), **kwargs)
    tensors = [x.to(dtype) if x.is_floating_point() else x]
    return model, optimizer, model, tensors, [make(optimizer) for make in schedulers]
