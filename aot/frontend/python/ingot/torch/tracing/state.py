"""State of models and optimizers, and what it is called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import torch
from torch.nn.parameter import is_lazy

from ingot.arrays import torch_tensor
from ingot.entry import Entry
from ingot.folder import saved_tensor
from ingot.torch.base.errors import TraceError
from ingot.torch.optimizers.loss_scaling import Scalers, tensors_of
from ingot.torch.optimizers.schedules import Schedulers, advance, counter
from ingot.torch.optimizers.slots import create_slots
from ingot.torch.python_state.carried import PREFIX, Numbers
from ingot.torch.tracing.unkept import Unkept

Models: TypeAlias = Mapping[str, torch.nn.Module]
Optimizers: TypeAlias = Mapping[str, torch.optim.Optimizer]


class State:
    """Every tensor of some models, optimizers and schedulers that lives from step to step, by name.

    Parameters and buffers are named as in ``state_dict()``, slots ``optimizer.<parameter>.<slot>``, the counters of
    schedulers ``scheduler.last_epoch``; gradients, where they are kept, ``grad.<parameter>``, zeros where none is;
    `numbers` that Python carries from call to call, and the tensors of `scalers`, ``carried.<path>``.
    The name of a model or optimizer, where it has one, stands before: ``generator.conv1.weight``,
    ``adam.conv1.weight.exp_avg``. A tied parameter is one tensor under its first name. Slots that an optimizer creates
    in its first step are created with their first values.
    """

    def __init__(
        self,
        models: Models,
        optimizers: Optimizers,
        schedulers: Schedulers | None = None,
        *,
        keep_gradients: bool = False,
        numbers: Numbers | None = None,
        scalers: Scalers | None = None,
    ):
        self.models = models
        self.optimizers = optimizers
        self.schedulers = schedulers or {}
        self.keep_gradients = keep_gradients
        self.numbers = numbers or {}
        self.scales = {PREFIX + path: tensor for path, tensor in tensors_of(scalers or {}).items()}
        self.tensors: dict[str, torch.Tensor] = {}
        self._names: dict[int, str] = {}
        for path, module, key in self.module_places():
            self._add(f"{path}.{key}" if path else key, getattr(module, key))
        for optimizer in optimizers.values():
            for i, parameter in enumerate(parameters_of(optimizer)):
                self._add(f"parameter{i}", parameter)
            create_slots(optimizer)
        for name, optimizer in optimizers.items():
            for owner, parameter, slot in self.slot_places(optimizer):
                self._add(f"{name}.{owner}.{slot}", optimizer.state[parameter][slot])
        self.trained = {name: tensor for name, tensor in self.tensors.items() if tensor.requires_grad}
        if keep_gradients:
            for name, parameter in self.trained.items():
                gradient = parameter.grad.plain() if isinstance(parameter.grad, Unkept) else parameter.grad
                self._add(gradient_name(name), torch.zeros_like(parameter) if gradient is None else gradient)
        for name, scheduler in self.schedulers.items():
            self._add(counter_name(name), torch.tensor(counter(scheduler)))
        for name, number in self.numbers.items():
            self._add(name, number.tensor())
        for name, tensor in self.scales.items():
            self._add(name, tensor)

    def _add(self, name: str, tensor: torch.Tensor) -> None:
        if id(tensor) not in self._names:
            if is_lazy(tensor):
                what = f"{name!r} has no shape before its module's first call"
                raise TraceError(what, fix="call the model once, model(x), before it is traced")
            if tensor.layout is not torch.strided:
                what = f"the layout of {name!r} is {tensor.layout}, and a program's state is strided"
                raise TraceError(what, fix="hold its to_dense()")
            if tensor.is_conj():
                what = f"{name!r} is a conjugated view of other memory, and a program's state has memory of its own"
                raise TraceError(what, fix="hold its resolve_conj()")
            self._names[id(tensor)] = name
            self.tensors[name] = tensor

    def name_of(self, tensor: torch.Tensor) -> str:
        """What a tensor of the state is called."""
        return self._names[id(tensor)]

    @property
    def path_names(self) -> dict[int, str]:
        """What tensors are called, by identity."""
        return {id(tensor): name for name, tensor in self.tensors.items()}

    def counters(self) -> dict[str, float]:
        """Integers that are tensors of one element."""
        return {name: t.item() for name, t in self.tensors.items() if t.dtype is torch.int64 and t.numel() == 1}

    def module_places(self) -> Iterator[tuple[str, torch.nn.Module, str]]:
        """Where models hold parameters and buffers: the path of a module, the module, the name within it."""
        for prefix, model in self.models.items():
            for path, module in model.named_modules(prefix=prefix):
                if isinstance(module, torch.jit.ScriptModule):
                    what = f"the module {path!r} ({module.original_name}) is TorchScript's"
                    raise TraceError(what, fix="give the model the Python module that it was made of")
                for key in (*module._parameters, *module._buffers):
                    if getattr(module, key) is not None:
                        yield path, module, key

    def slot_places(self, optimizer: torch.optim.Optimizer) -> Iterator[tuple[str, torch.Tensor, str]]:
        """Where an optimizer holds slots: the name of a parameter, the parameter, the slot."""
        for parameter in parameters_of(optimizer):
            for slot, value in optimizer.state.get(parameter, {}).items():
                if isinstance(value, torch.Tensor):
                    yield self._names[id(parameter)], parameter, slot

    def load(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Copies values in, and steps schedulers to where their counters are.

        Raises KeyError for a tensor that is missing, ValueError for one of another type and for a scheduler that is
        further already; then nothing is copied.
        """
        values = {name: saved_tensor(tensors, name, stored(mine)) for name, mine in self.tensors.items()}
        for name, scheduler in self.schedulers.items():
            made, given = counter(scheduler), int(values[counter_name(name)])
            if made > given:
                raise ValueError(f"{name} has made {made} steps, the file's {given}; it cannot go back: make it anew")
        with torch.no_grad():
            for name, mine in self.tensors.items():
                stored(mine).copy_(values[name])
        if self.keep_gradients:
            for name, parameter in self.trained.items():
                gradient = self.tensors[gradient_name(name)]
                if parameter.grad is not None or gradient.any():  # zeros are None to a program
                    parameter.grad = gradient
        for name, scheduler in self.schedulers.items():
            advance(scheduler, int(values[counter_name(name)]))
        for name, number in self.numbers.items():
            number.set(values[name].item())


def stored(tensor: torch.Tensor) -> torch.Tensor:
    """The same memory as files have it: complex numbers as pairs of real ones."""
    return torch.view_as_real(tensor) if tensor.is_complex() else tensor


def outputs_of(entry: Entry, tensors: Sequence[torch.Tensor]) -> dict[str, torch.Tensor]:
    """The outputs of an entry point, also of one that takes nothing: complex numbers as pairs of real ones."""
    if tensors:
        return entry(*map(stored, tensors))
    return {port.name: torch_tensor(block, port) for port, block in zip(entry.outputs, entry.run(()), strict=True)}


def stored_values(tensor: torch.Tensor) -> torch.Tensor:
    """Values as files have them, of a tensor that may be conjugated: then they are a copy."""
    return stored(tensor.resolve_conj())


def gradient_name(parameter: str) -> str:
    """What a parameter's gradient is called."""
    return f"grad.{parameter}"


def counter_name(scheduler: str) -> str:
    """What a scheduler's counter is called."""
    return f"{scheduler}.last_epoch"


def parameters_of(optimizer: torch.optim.Optimizer) -> Iterator[torch.Tensor]:
    """The parameters of all groups, in order."""
    for group in optimizer.param_groups:
        yield from group["params"]
