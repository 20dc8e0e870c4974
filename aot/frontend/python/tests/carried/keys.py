"""What Python holds by a parameter, or on one: by keys, by identity, as attributes."""

from __future__ import annotations

import functools
import types
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


@case()
def reads_a_list_on_a_parameter() -> Training:
    def make(model: nn.Module) -> Change:
        model.bias.history = [0.5]
        return lambda p: p.grad.mul_(getattr(p, "history", [2.0])[-1])

    return changing(make)


@case(r"changes `len\(bias\.history\)` from 1 to 2")
def grows_a_list_on_a_parameter() -> Training:
    def make(model: nn.Module) -> Change:
        model.bias.history = []

        def change(p: nn.Parameter) -> None:
            history = getattr(p, "history", None)
            if history is not None:
                history.append(1)  # here
                p.grad.div_(len(history))

        return change

    return changing(make)


@case()
def calls_a_function_on_a_parameter() -> Training:
    def make(model: nn.Module) -> Change:
        model.bias.then = lambda gradient: gradient * 0.1
        return lambda p: p.grad.copy_(getattr(p, "then", lambda gradient: gradient)(p.grad))

    return changing(make)


@case()
def counts_in_an_object_on_a_parameter() -> Training:
    def make(model: nn.Module) -> Change:
        model.bias.settings = types.SimpleNamespace(calls=0)

        def change(p: nn.Parameter) -> None:
            settings = getattr(p, "settings", None)
            if settings is not None:
                settings.calls += 1
                p.grad.div_(settings.calls)

        return change

    return changing(make)


@case()
def scales_by_a_twin_of_a_parameter() -> Training:
    def make(model: nn.Module) -> Change:
        model.weight.twin = model.bias
        return lambda p: p.grad.mul_(getattr(p, "twin", p).abs().sum())

    return changing(make)


@case(r"reads the tensor `weight\.settings\['mask'\]`")
def reads_a_mask_in_a_dict_on_a_parameter() -> Training:
    def make(model: nn.Module) -> Change:
        model.weight.settings = {"mask": (model.weight.detach() > 0).float()}

        def change(p: nn.Parameter) -> None:
            settings = getattr(p, "settings", None)
            if settings:
                p.grad.mul_(settings["mask"])  # here

        return change

    return changing(make)


@case(r"changes `bias\.is_fresh`, an attribute of a tensor, from True")
def takes_a_mark_away() -> Training:
    def make(model: nn.Module) -> Change:
        model.bias.is_fresh = True

        def change(p: nn.Parameter) -> None:
            if hasattr(p, "is_fresh"):
                del p.is_fresh
                p.grad.zero_()

        return change

    return changing(make)


@case()
def asks_for_the_type_of_a_parameter() -> Training:
    def make(_: nn.Module) -> Change:
        return lambda p: p.grad.mul_(0.5 if type(p) is nn.Parameter and type(p.grad) is torch.Tensor else 2.0)

    return changing(make)


@case()
def asks_for_the_class_of_a_parameter() -> Training:
    def make(_: nn.Module) -> Change:
        names = {"Parameter": 0.5, "Tensor": 3.0}
        return lambda p: p.grad.mul_(names[p.__class__.__name__] if p.grad.__class__ is torch.Tensor else 2.0)

    return changing(make)


@case()
def dispatches_by_the_class_of_a_parameter() -> Training:
    @functools.singledispatch
    def rate(_: object) -> float:
        return 2.0

    rate.register(nn.Parameter)(lambda _: 0.5)
    rate.register(torch.Tensor)(lambda _: 0.25)
    return changing(lambda _: lambda p: p.grad.mul_(rate(p) * rate(p.grad)))


class Slow(nn.Parameter):
    """A parameter that is trained slowly."""


class Halved(nn.Parameter):
    rate = 0.5


def of_own_class(kind: type, scale: Callable[[nn.Parameter], float]) -> Training:
    model = nn.Linear(3, 2)
    model.bias = kind(model.bias.detach())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        for parameter in model.parameters():
            parameter.grad.mul_(scale(parameter))
        optimizer.step()
        return loss

    return Training(model, optimizer, step)


@case()
def marks_a_parameter_by_its_class() -> Training:
    return of_own_class(Slow, lambda p: 0.1 if isinstance(p, (int, Slow)) else {nn.Parameter: 1.0, Slow: 0.1}[type(p)])


@case(r"`bias` is a Halved, a class of tensors with `rate` of its own, which is not traced; make it a torch.nn.Param")
def has_a_number_of_its_class() -> Training:
    return of_own_class(Halved, lambda p: getattr(p, "rate", 1.0))


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
