"""One sample in PyTorch, and through a door of ingot."""

from __future__ import annotations

import copy
import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from agreement import default_dtype
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils import _pytree as pytree

import ingot.torch

Alter = Callable[[torch.Tensor], torch.Tensor]  # moves the values of a tensor, or their precision
WIDER = {
    **dict.fromkeys((torch.float16, torch.bfloat16, torch.float32), torch.float64),
    **dict.fromkeys((torch.complex32, torch.complex64), torch.complex128),
}


def same(value: Any) -> Any:
    return value


def widened(value: Any) -> Any:
    """A tensor, or an element type, in f64; others as they are."""
    if isinstance(value, torch.Tensor):
        return value.to(WIDER.get(value.dtype, value.dtype))
    return WIDER.get(value, value) if isinstance(value, torch.dtype) else value


class Sample(ABC):
    """What PyTorch's tests call once."""

    def in_pytorch(self, alter: Alter = same, seed: int = 0) -> Any:
        """PyTorch's results, of values that `alter` moves."""
        torch.manual_seed(seed)
        with default_dtype(torch.float64 if alter is widened else torch.float32):
            return self._in_pytorch(alter)

    @abstractmethod
    def _in_pytorch(self, alter: Alter) -> Any: ...

    @abstractmethod
    def through_ingot(self) -> Any:
        """The same results by the sample's door."""

    def through_pytorch_alone(self) -> None:
        """Does what PyTorch does before ingot is asked; raises what it refuses."""
        self.in_pytorch()


class OpSample(Sample):
    """A function of tensors, their device and what alters other arguments; its gradients are results too."""

    def __init__(self, door: str, call: Callable[..., Any], tensors: Sequence[torch.Tensor], verify: bool) -> None:
        self.door, self.call, self.tensors, self.verify = door, call, tensors, verify

    def _in_pytorch(self, alter: Alter) -> Any:
        given = [alter(tensor) for tensor in self._copies()]
        return self._with_gradients(lambda *tensors: self.call(tensors, "cpu", alter), given)

    def through_ingot(self) -> Any:
        torch.manual_seed(0)
        return OP_DOORS[self.door](self)

    def through_pytorch_alone(self) -> None:
        if self.door == "backend":
            self.compiled_by("aot_eager")
        elif self.door == "lazy":  # what moves to a device leaves the memory around a view behind
            self._with_gradients(self._function, map(torch.clone, self._copies()))
        else:
            self.in_pytorch()

    def compiled_by(self, backend: str) -> Any:
        torch._dynamo.reset()
        function = torch.compile(self._function, backend=backend, dynamic=False, fullgraph=True)
        return self._with_gradients(function, self._copies())

    def on_the_lazy_device(self) -> Any:
        device = ingot.torch.device()
        given = [tensor.detach().to(device) for tensor in self._copies()]
        results = self._with_gradients(lambda *tensors: self.call(tensors, device, same), given)
        return pytree.tree_map_only(torch.Tensor, torch.Tensor.cpu, results)

    def as_a_step(self) -> Any:
        whole = ingot.torch.compile(
            lambda *tensors: self._with_gradients(self._function, tensors), nn.Identity(), verify=self.verify
        )
        return whole(*(tensor.detach() for tensor in self._copies()))

    def _function(self, *tensors: torch.Tensor) -> Any:
        return self.call(tensors, "cpu", same)

    def _copies(self) -> list[torch.Tensor]:
        return copy.deepcopy([tensor.detach() for tensor in self.tensors])

    def _with_gradients(self, function: Callable[..., Any], tensors: Iterable[torch.Tensor]) -> Any:
        leaves = [x.detach().requires_grad_(o.requires_grad) for x, o in zip(tensors, self.tensors, strict=True)]
        results = function(*leaves)
        smooth = [y for y in pytree.tree_leaves(results) if isinstance(y, torch.Tensor) and y.requires_grad]
        wanted = [x for x in leaves if x.requires_grad]
        gradients = torch.autograd.grad(loss_of(smooth), wanted, allow_unused=True) if smooth and wanted else ()
        return pytree.tree_map_only(torch.Tensor, torch.Tensor.detach, (results, gradients))


def joined(samples: Sequence[OpSample]) -> OpSample:
    """Several samples as one, whose result has all of theirs."""
    ends = [*itertools.accumulate(len(sample.tensors) for sample in samples)]

    def call(tensors: Sequence[torch.Tensor], device: Any, alter: Alter) -> Any:
        starts = [0, *ends]
        return [s.call(tensors[i:j], device, alter) for s, i, j in zip(samples, starts, ends, strict=False)]

    tensors = [tensor for sample in samples for tensor in sample.tensors]
    return OpSample(samples[0].door, call, tensors, samples[0].verify)


OP_DOORS: dict[str, Callable[[OpSample], Any]] = {
    "backend": lambda sample: sample.compiled_by("ingot"),
    "lazy": OpSample.on_the_lazy_device,
    "function": OpSample.as_a_step,
}


class TrainingSample(Sample):
    """Some steps of a model; `make` gives it, always the same, with its optimizer, forward, batch and schedulers."""

    def __init__(self, make: Callable[[], Any], steps: int, verify: bool, has_closure: bool = False) -> None:
        self.make, self.steps, self.verify, self.has_closure = make, steps, verify, has_closure

    def _in_pytorch(self, alter: Alter) -> Any:
        return self._trained(alter, lambda step, *_: step)

    def through_ingot(self) -> Any:
        return self._trained(same, lambda *parts: ingot.torch.compile(*parts, verify=self.verify))

    def _trained(self, alter: Alter, compiled: Callable[..., Any]) -> Any:
        model, optimizer, forward, batch, schedulers = self.make()
        for tensor in itertools.chain(model.parameters(), model.buffers()):
            tensor.data = alter(tensor.data)
        step = compiled(self._step(optimizer, forward), model, optimizer)
        batch, results = [alter(tensor) for tensor in batch], []
        for _ in range(self.steps):
            loss, output = step(*copy.deepcopy(batch))
            results.append(pytree.tree_map_only(torch.Tensor, lambda y: y.detach().clone(), (loss, output)))
            for scheduler in schedulers:
                scheduler.step(*([results[-1][0]] if isinstance(scheduler, ReduceLROnPlateau) else []))
        return results, dict(model.state_dict()), optimizer.state_dict()["state"]

    def _step(self, optimizer: torch.optim.Optimizer, forward: Callable[..., Any]) -> Callable[..., Any]:
        def step(*tensors: torch.Tensor) -> Any:
            def closure() -> torch.Tensor:
                optimizer.zero_grad()
                outputs.append(forward(*tensors))
                smooth = [y for y in pytree.tree_leaves(outputs[-1]) if isinstance(y, torch.Tensor) and y.requires_grad]
                loss = loss_of(smooth)
                loss.backward()
                return loss

            outputs: list[Any] = []
            if self.has_closure:
                return optimizer.step(closure).float(), outputs[0]
            loss = closure()
            optimizer.step()
            return loss.float(), outputs[0]

        return step


def loss_of(results: Sequence[torch.Tensor]) -> torch.Tensor:
    """A sum in which each element counts otherwise, in f64: the order of summation is no matter of these tests."""
    parts = [torch.view_as_real(y.resolve_conj()) if y.is_complex() else y for y in map(dense, results)]
    return sum((y.double() * weights(y)).sum() for y in parts)


def weights(y: torch.Tensor) -> torch.Tensor:
    counted = torch.arange(1, y.numel() + 1, dtype=torch.float64, device=y.device)
    return counted.mul(0.7).sin().reshape(y.shape)


def dense(tensor: torch.Tensor) -> torch.Tensor:
    return tensor if tensor.layout is torch.strided else tensor.to_dense()
