"""Tensors that are written past autograd, and gradients that are changed by hand."""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters
from trainings import Training, linear, usual_step

from carried.case import table

CASES, case = table()


@case()
def writes_data_in_place() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = usual_step(model, optimizer, x)
        model.weight.data.mul_(0.9)
        return loss

    return Training(model, optimizer, step)


@case()
def replaces_data() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = usual_step(model, optimizer, x)
        for parameter in model.parameters():
            parameter.data = parameter.data.clamp(-0.3, 0.3)
        return loss

    return Training(model, optimizer, step)


@case()
def swaps_data() -> Training:
    model, optimizer = linear()
    average = copy.deepcopy(model)

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = usual_step(model, optimizer, x)
        for mine, theirs in zip(average.parameters(), model.parameters(), strict=True):
            mine.data, theirs.data = theirs.data, mine.data
        return loss

    return Training({"model": model, "average": average}, optimizer, step)


@case()
def writes_a_vector() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = usual_step(model, optimizer, x)
        vector = parameters_to_vector(model.parameters())
        vector_to_parameters(0.9 * vector, model.parameters())
        return loss

    return Training(model, optimizer, step)


@case()
def clips_weights_by_apply() -> Training:
    model = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 2))
    optimizer = torch.optim.RMSprop(model.parameters(), lr=0.05)

    def clip(module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            module.weight.data.clamp_(-0.2, 0.2)
            module.bias.data = module.bias.data.clamp(-0.1, 0.1)

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = usual_step(model, optimizer, x)
        model.apply(clip)
        return loss

    return Training(model, optimizer, step)


@case()
def replaces_data_before_backward() -> Training:
    """Sharpness-aware steps: the gradient of where the weights were moved to, and back."""
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        before = [parameter.data.clone() for parameter in model.parameters()]
        for parameter in model.parameters():
            parameter.data = parameter.data + 0.05 * parameter.grad
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        for parameter, old in zip(model.parameters(), before, strict=True):
            parameter.data = old
        optimizer.step()
        return loss

    return Training(model, optimizer, step)


def changed_gradients(change: Callable[[torch.Tensor], object]) -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        for parameter in model.parameters():
            change(parameter)
        optimizer.step()
        return loss

    return Training(model, optimizer, step)


@case()
def replaces_data_of_gradients() -> Training:
    def change(parameter: torch.Tensor) -> None:
        parameter.grad.data = parameter.grad.data.clamp(-0.1, 0.1)

    return changed_gradients(change)


@case()
def writes_data_of_gradients() -> Training:
    return changed_gradients(lambda parameter: parameter.grad.data.mul_(0.5))


@case()
def replaces_gradients() -> Training:
    def change(parameter: torch.Tensor) -> None:
        parameter.grad = parameter.grad.sign()

    return changed_gradients(change)


@case()
def clips_in_a_parameter_hook() -> Training:
    model, optimizer = linear()
    for parameter in model.parameters():
        parameter.register_hook(lambda gradient: gradient.clamp(-0.05, 0.05))
    return Training(model, optimizer, lambda x: usual_step(model, optimizer, x))


@case()
def clips_in_a_hook_after_accumulation() -> Training:
    model, optimizer = linear()

    def clip(parameter: torch.Tensor) -> None:
        parameter.grad.clamp_(-0.05, 0.05)

    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(clip)
    return Training(model, optimizer, lambda x: usual_step(model, optimizer, x))


@case()
def steps_in_a_hook_after_accumulation() -> Training:
    model, _ = linear()

    def update(parameter: torch.Tensor) -> None:
        with torch.no_grad():
            parameter.sub_(0.1 * parameter.grad)
        parameter.grad = None

    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(update)

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = model(x).square().mean()
        loss.backward()
        return loss

    return Training(model, None, step)


@case(r"the gradient of 'weight' lives on.*keep_gradients=True")
def steps_by_the_gradient_of_the_call_before() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.step()  # here
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        return loss

    return Training(model, optimizer, step)


@case(r"`len\(smoothed\)` from|reads `smoothed\['weight'\]`, which the call before left")
def smooths_gradients() -> Training:
    model, optimizer = linear()
    smoothed: dict[str, torch.Tensor] = {}

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        for name, parameter in model.named_parameters():
            if name in smoothed:
                smoothed[name] = 0.9 * smoothed[name] + 0.1 * parameter.grad  # here
            else:
                smoothed[name] = parameter.grad.clone()
            parameter.grad = parameter.grad + smoothed[name]
        optimizer.step()
        return loss

    return Training(model, optimizer, step)


@case(
    r"'average.weight' and 'model.weight' are one memory|'model.weight' and 'average.weight' are one memory.*clone\(\)"
)
def shares_memory() -> Training:
    """From the second call on, PyTorch's average is the model itself."""
    model, optimizer = linear()
    average = copy.deepcopy(model)

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = usual_step(model, optimizer, x) + average(x).square().mean()
        for mine, theirs in zip(average.parameters(), model.parameters(), strict=True):
            mine.data = theirs.data
        return loss

    return Training({"model": model, "average": average}, optimizer, step)


@case(r"reads `mean`, which the call before left")
def holds_a_buffer_that_is_replaced() -> Training:
    """The function goes on reading the first buffer, the model has another."""
    model = nn.BatchNorm1d(3)
    model.register_buffer("mean", torch.ones(3))
    optimizer, first = torch.optim.SGD(model.parameters(), lr=0.1), model.mean

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = usual_step(model, optimizer, x + first)  # here
        model.mean = 0.5 * model.mean
        return loss

    return Training(model, optimizer, step)
