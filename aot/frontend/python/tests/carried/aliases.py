"""Memory of the state that Python holds otherwise, and questions about where tensors lie."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
import torch
from torch import nn
from trainings import Training, linear, usual_step

from carried.case import table

CASES, case = table()
Factor = Callable[[torch.Tensor], float | torch.Tensor]  # of a batch


def scaled(make: Callable[[nn.Linear], Factor]) -> Training:
    """Steps on batches times what is made of a model whose memory something else shows."""
    model, optimizer = linear()
    factor = make(model)
    return Training(model, optimizer, lambda x: usual_step(model, optimizer, x * factor(x)))  # here


@case(r"`w`, a ndarray, lies in the memory of 'weight', which a program has elsewhere; read the tensor of the state")
def reads_an_array_over_its_weights() -> Training:
    def make(model: nn.Linear) -> Factor:
        w = model.weight.detach().numpy()
        return lambda _: float(w.mean())

    return scaled(make)


@case(r"`w`, a ndarray, lies in the memory of 'weight'")
def makes_a_tensor_of_a_turned_array_over_its_weights() -> Training:
    def make(model: nn.Linear) -> Factor:
        w = model.weight.detach().numpy()[::-1, 1:]
        return lambda _: torch.from_numpy(w.copy()).sum()

    return scaled(make)


@case(r"`a`, a ndarray, lies in the memory of 'bias'")
def is_made_over_an_array() -> Training:
    def make(model: nn.Linear) -> Factor:
        a = np.ones(2, np.float32)
        model.bias.data = torch.from_numpy(a)
        return lambda _: float(a[0])

    return scaled(make)


@case(r"`w`, a memoryview, lies in the memory of 'weight'")
def reads_a_view_of_the_memory_of_its_weights() -> Training:
    def make(model: nn.Linear) -> Factor:
        w = memoryview(model.weight.detach().numpy())
        return lambda _: w[0, 0]

    return scaled(make)


@case(r"`w`, a c_float_Array_2, lies in the memory of 'bias'")
def reads_the_memory_of_its_bias_in_c() -> Training:
    def make(model: nn.Linear) -> Factor:
        w = (ctypes.c_float * 2).from_address(model.bias.data_ptr())
        return lambda _: w[0]

    return scaled(make)


@case(r"reads a tensor that lies in the memory of 'weight', and is not it")
def keeps_a_view_of_its_weights_in_an_attribute() -> Training:
    def make(model: nn.Linear) -> Factor:
        model.first = model.weight.detach()[0]
        return lambda _: model.first.mean()

    return scaled(make)


@case()
def keeps_a_copy_of_its_weights() -> Training:
    def make(model: nn.Linear) -> Factor:
        first, model.second = model.weight.detach().numpy().copy(), model.weight.detach()[1].clone()
        return lambda _: float(first.mean()) + model.second.mean()

    return scaled(make)


@case(r"`data_ptr` tells where a tensor lies, which is elsewhere in a program")
def tells_parameters_apart_by_their_memory() -> Training:
    return scaled(lambda model: lambda _: len({p.data_ptr() for p in model.parameters()}))  # here


@case(r"`_base` tells where a tensor lies")
def asks_whether_a_batch_is_a_view() -> Training:
    return scaled(lambda _: lambda x: 1.0 if x._base is None else 2.0)  # here


@case(r"torch.initial_seed is of torch's own generator")
def scales_by_the_seed() -> Training:
    return scaled(lambda _: lambda x: 1.0 + torch.initial_seed() % 7)  # here
