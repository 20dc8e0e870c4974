"""What Python holds by a parameter, or on one: by keys, by identity, as attributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from trainings import Training, linear, usual_step

from carried.case import table

CASES, case = table()
Change = Callable[[nn.Parameter], Any]  # of a parameter's gradient


def changing(make: Callable[[nn.Module], Change]) -> Training:
    """Steps that change each parameter's gradient, by what is held by it."""
    model, optimizer = linear()
    change = make(model)

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        with torch.no_grad():
            for parameter in model.parameters():
                change(parameter)
        optimizer.step()
        return loss

    return Training(model, optimizer, step)


@case()
def scales_by_a_dict_of_parameters() -> Training:
    def make(model: nn.Module) -> Change:
        held = {p: 0.5 + i for i, p in enumerate(model.parameters())}
        return lambda p: p.grad.mul_(held[p])

    return changing(make)


@case()
def scales_by_a_default_for_other_parameters() -> Training:
    def make(model: nn.Module) -> Change:
        held = {model.bias: 0.1}
        return lambda p: p.grad.mul_(held.get(p, 1.0))

    return changing(make)


@case()
def asks_whether_a_parameter_is_in_a_set() -> Training:
    def make(model: nn.Module) -> Change:
        held = {model.bias}
        return lambda p: p.grad.mul_(0.2 if p in held else 1.0)

    return changing(make)


@case()
def asks_whether_a_parameter_is_one_of_a_list() -> Training:
    def make(model: nn.Module) -> Change:
        held = [model.bias]
        return lambda p: p.grad.mul_(0.2 if any(p is other for other in held) else 1.0)

    return changing(make)


@case()
def scales_by_identities() -> Training:
    def make(model: nn.Module) -> Change:
        held = {id(model.bias): 0.1}
        return lambda p: p.grad.mul_(held.get(id(p), 1.0))

    return changing(make)


@case()
def counts_by_parameter() -> Training:
    def make(model: nn.Module) -> Change:
        held = dict.fromkeys(model.parameters(), 0)

        def change(p: nn.Parameter) -> None:
            held[p] += 1
            p.grad.div_(held[p])

        return change

    return changing(make)


@case()
def scales_by_a_dict_of_parameters_in_a_hook() -> Training:
    model, optimizer = linear()
    held = {p: 0.5 + i for i, p in enumerate(model.parameters())}
    for p in model.parameters():
        p.register_hook(lambda gradient, p=p: gradient * held[p])
    return Training(model, optimizer, lambda x: usual_step(model, optimizer, x))


@case()
def compares_a_parameter_with_itself() -> Training:
    model, optimizer = linear()
    bias = model.bias
    return Training(model, optimizer, lambda x: usual_step(model, optimizer, x * (model.bias == bias).float().mean()))


@case()
def leaves_out_what_is_marked() -> Training:
    def make(model: nn.Module) -> Change:
        model.bias.is_left = True
        return lambda p: p.grad.mul_(1.0 if getattr(p, "is_left", False) else 0.5)

    return changing(make)


@case(r"changes `weight\.count`, an attribute of a tensor, from 0; keep it in a dict by the tensor itself, held\[p\]")
def counts_on_a_parameter() -> Training:
    def make(model: nn.Module) -> Change:
        for p in model.parameters():
            p.count = 0

        def change(p: nn.Parameter) -> None:
            p.count += 1
            p.grad.div_(p.count)

        return change

    return changing(make)


@case(r"`history`, an attribute of a tensor, is not there while the function is traced; keep it in a dict")
def lists_on_a_parameter() -> Training:
    def make(model: nn.Module) -> Change:
        for p in model.parameters():
            p.history = [0.5]
        return lambda p: p.grad.mul_(p.history[-1])  # here

    return changing(make)


@case(r"reads the tensor `mask`")
def reads_a_mask_of_a_parameter() -> Training:
    def make(model: nn.Module) -> Change:
        model.weight.mask = (model.weight.detach() > 0).float()

        def change(p: nn.Parameter) -> None:
            mask = getattr(p, "mask", None)
            if mask is not None:
                p.grad.mul_(mask)  # here

        return change

    return changing(make)


@case(r"which the call before left")
def averages_on_a_parameter() -> Training:
    def make(_: nn.Module) -> Change:
        def change(p: nn.Parameter) -> None:
            if not hasattr(p, "average"):
                p.average = torch.zeros_like(p)
            p.average.mul_(0.9).add_(p.grad)  # here
            p.grad.add_(p.average)

        return change

    return changing(make)
