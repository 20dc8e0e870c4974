"""Schedulers, and optimizers whose options, groups and states are changed."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from torch.optim import lr_scheduler

from odd import XS, YS, Step, classifier, mlp, sgd


def momentum_goes_in_one_cycle(step: Step) -> None:
    model = mlp()
    optimizer = torch.optim.AdamW(model.parameters(), 0.01)
    train_step = classifier(step, model, optimizer)
    scheduler = lr_scheduler.OneCycleLR(optimizer, max_lr=0.05, total_steps=7)
    for i in range(6):
        train_step(XS[i], YS[i])
        scheduler.step()


def rate_falls_on_a_plateau(step: Step) -> list[float]:
    model = mlp()
    optimizer = sgd(model)
    train_step = classifier(step, model, optimizer)
    scheduler = lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.1, patience=0, threshold=0.5)
    rates = []
    for i in range(6):
        scheduler.step(train_step(XS[i], YS[i]))
        rates += scheduler.get_last_lr()
    return rates


def schedulers_follow_each_other_inside(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    first = lr_scheduler.LinearLR(optimizer, 0.1, total_iters=2)
    second = lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 2)
    scheduler = lr_scheduler.SequentialLR(optimizer, [first, second], [2])

    @step(model, optimizer, scheduler=scheduler)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, float]:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
        return loss, optimizer.param_groups[0]["lr"]

    for i in range(6):
        train_step(XS[i], YS[i])


def groups_have_their_own_rates(step: Step) -> None:
    model = mlp()
    biases = [each for each in model.parameters() if each.dim() == 1]
    weights = [each for each in model.parameters() if each.dim() == 2]
    groups = [{"params": weights, "weight_decay": 0.1}, {"params": biases, "lr": 0.05, "amsgrad": True}]
    optimizer = torch.optim.AdamW(groups, 0.01, weight_decay=0.0)
    train_step = classifier(step, model, optimizer)
    scheduler = lr_scheduler.LambdaLR(optimizer, [lambda n: 0.9**n, lambda n: 1.0 / (1 + n)])
    for i in range(6):
        train_step(XS[i], YS[i])
        scheduler.step()
        if i == 2:
            optimizer.param_groups[1]["weight_decay"] = 0.2
        if i == 4:
            groups[0]["params"] = optimizer.param_groups[0]["params"]
            optimizer.param_groups[0]["params"].append(optimizer.param_groups[1]["params"].pop())


def rate_is_a_tensor(step: Step) -> None:
    model = mlp()
    rate = torch.tensor(0.01)
    optimizer = torch.optim.Adam(model.parameters(), rate, capturable=False, foreach=False)
    train_step = classifier(step, model, optimizer)
    for i in range(6):
        train_step(XS[i], YS[i])
        rate.mul_(0.5)
        if i == 3:
            optimizer.param_groups[0]["lr"] = torch.tensor(0.02, dtype=torch.float64)


def options_are_toggled(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    train_step = classifier(step, model, optimizer)
    changes: list[dict[str, Any]] = [
        {},
        {"nesterov": True},
        {"maximize": True},
        {"weight_decay": 0.1, "maximize": False},
        {"nesterov": False, "dampening": 0.5},
        {"foreach": False, "lr": 1},
    ]
    for i, change in enumerate(changes):
        optimizer.param_groups[0].update(change)
        train_step(XS[i], YS[i])


def betas_and_eps_change(step: Step) -> None:
    model = mlp()
    optimizer = torch.optim.NAdam(model.parameters(), 0.01, decoupled_weight_decay=True)
    train_step = classifier(step, model, optimizer)
    for i in range(6):
        optimizer.param_groups[0].update(betas=(0.9 - i / 20, 0.99), eps=10.0 ** (-8 + i), weight_decay=i / 100)
        train_step(XS[i], YS[i])


def moments_are_written_between(step: Step) -> None:
    model = mlp()
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    train_step = classifier(step, model, optimizer)
    for i in range(6):
        train_step(XS[i], YS[i])
        state = optimizer.state[model[0].weight]
        if i == 1:
            state["exp_avg"].zero_()
        if i == 2:
            state["exp_avg_sq"] = state["exp_avg_sq"] * 4
        if i == 3:
            state["step"] = torch.tensor(1.0)
        if i == 4:
            del optimizer.state[model[2].weight]


def moments_change_places(step: Step) -> None:
    model = mlp()
    model.append(nn.Linear(3, 3)).append(nn.Linear(3, 3))
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    train_step = classifier(step, model, optimizer)
    for i in range(6):
        train_step(XS[i], YS[i])
        one, other = (optimizer.state[model[layer].weight] for layer in (5, 6))
        if i == 1:
            one["exp_avg"], other["exp_avg"] = other["exp_avg"], one["exp_avg"]
        if i == 3:
            one["exp_avg"].data, other["exp_avg"].data = other["exp_avg"].data, one["exp_avg"].data


def two_optimizers_share_the_parameters(step: Step) -> None:
    model = mlp()
    kinds = {"fast": torch.optim.Rprop, "slow": torch.optim.ASGD}
    optimizers = {name: kind(model.parameters(), 0.01) for name, kind in kinds.items()}
    name = "fast"

    @step(model, optimizers)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        for optimizer in optimizers.values():
            optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizers[name].step()
        return loss

    for i in range(6):
        name = ("fast", "slow")[i // 3 if i < 5 else 0]
        train_step(XS[i], YS[i])


class Signs(torch.optim.Optimizer):
    """Steps along the sign of an average; its state has tensors, a number that counts, and a float."""

    def __init__(self, parameters: Any, rate: float) -> None:
        super().__init__(parameters, {"lr": rate, "every": 2})

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state = self.state[parameter]
                if not state:
                    state["average"], state["count"], state["decay"] = torch.zeros_like(parameter), 0, 0.5
                state["count"] += 1
                state["decay"] = min(0.9, state["decay"] * 1.1)
                state["average"].lerp_(parameter.grad, 1 - state["decay"])
                if state["count"] % group["every"] == 0:
                    parameter.add_(state["average"].sign(), alpha=-group["lr"])
        return loss


def optimizer_of_ones_own_counts(step: Step) -> None:
    model = mlp()
    optimizer = Signs(model.parameters(), 0.01)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        def closure() -> torch.Tensor:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            return loss

        return optimizer.step(closure)

    for i in range(7):
        train_step(XS[i], YS[i])
        if i == 3:
            optimizer.param_groups[0]["lr"] = 0.05


def state_of_pytorch_is_loaded(step: Step) -> None:
    """PyTorch trains first; its optimizer's state is loaded into one that has made steps, in the middle."""
    model, other = mlp(), mlp()
    optimizer, plain = (torch.optim.RAdam(each.parameters(), 0.05) for each in (model, other))
    train_step = classifier(step, model, optimizer)
    for i in range(3):
        train_step(XS[i], YS[i])
        plain.zero_grad()
        F.cross_entropy(other(XS[7 - i]), YS[7 - i]).backward()
        plain.step()
    model.load_state_dict(other.state_dict(), assign=True)
    optimizer.param_groups[0]["params"] = list(model.parameters())
    optimizer.load_state_dict(copy.deepcopy(plain.state_dict()))
    for i in range(3, 6):
        train_step(XS[i], YS[i])
