"""Odd uses of autograd inside the step."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from odd import XS, YS, Step, minimizer, mlp, sgd


def gradients_of_the_input_are_penalized(step: Step) -> None:
    model = mlp()

    def loss_of(x: torch.Tensor, y: torch.Tensor, weight: float) -> torch.Tensor:
        x = x.clone().requires_grad_()
        loss = F.cross_entropy(model(x), y)
        (grad,) = torch.autograd.grad(loss, x, create_graph=True)
        return loss + weight * (grad.norm(dim=1) - 1).square().mean()

    train_step = minimizer(step, model, torch.optim.Adam(model.parameters(), 0.01), loss_of)
    for i in range(6):
        train_step(XS[i], YS[i], 0.1 * i)


class Reversed(torch.autograd.Function):
    """The identity, whose gradient is turned and scaled by a number that training changes."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, factor: float) -> torch.Tensor:
        ctx.factor = factor
        ctx.save_for_backward(x.tanh())
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, None]:
        (bent,) = ctx.saved_tensors
        return -ctx.factor * grad * (1 - bent * bent), None


def gradient_is_reversed(step: Step) -> None:
    models = {"body": mlp(), "domain": nn.Linear(3, 2)}
    optimizer = torch.optim.SGD([*models["body"].parameters(), *models["domain"].parameters()], 0.1)
    factor = 0.0

    def loss_of(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = models["body"](x)
        return F.cross_entropy(out, y) + F.cross_entropy(models["domain"](Reversed.apply(out, factor)), y % 2)

    train_step = minimizer(step, models, optimizer, loss_of)
    for i in range(6):
        factor = i / 5
        train_step(XS[i], YS[i])


def layers_are_checkpointed_by_a_flag(step: Step) -> None:
    model = mlp()
    is_checkpointed = False

    def loss_of(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        hidden = checkpoint(model[:3], x, use_reentrant=False) if is_checkpointed else model[:3](x)
        return F.cross_entropy(model[3:](hidden), y)

    train_step = minimizer(step, model, sgd(model), loss_of)
    for i in range(6):
        is_checkpointed = i % 3 == 1
        train_step(XS[i], YS[i])


def inner_steps_are_differentiated(step: Step) -> None:
    """As in MAML: some steps on one half of the batch, the loss on the other."""
    model = mlp()

    def loss_of(x: torch.Tensor, y: torch.Tensor, steps: int, rate: float) -> torch.Tensor:
        values = dict(model.named_parameters())
        for _ in range(steps):
            loss = F.cross_entropy(torch.func.functional_call(model, values, (x[:3],)), y[:3])
            grads = torch.autograd.grad(loss, list(values.values()), create_graph=True)
            values = {name: each - rate * grad for (name, each), grad in zip(values.items(), grads, strict=True)}
        return F.cross_entropy(torch.func.functional_call(model, values, (x[3:],)), y[3:])

    train_step = minimizer(step, model, sgd(model), loss_of)
    for i, steps in enumerate((1, 1, 2, 2, 1, 0)):
        train_step(XS[i], YS[i], steps, 0.1 * i)


def curvature_scales_the_step(step: Step) -> None:
    """A product of the Hessian and the gradient chooses the rate, by forward over reverse."""
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        values = {name: each.detach() for name, each in model.named_parameters()}

        def loss_of(values: dict[str, torch.Tensor]) -> torch.Tensor:
            return F.cross_entropy(torch.func.functional_call(model, values, (x,)), y)

        grads = torch.func.grad(loss_of)(values)
        _, product = torch.func.jvp(torch.func.grad(loss_of), (values,), (grads,))
        curvature = sum((grads[name] * product[name]).sum() for name in grads)
        for name, parameter in model.named_parameters():
            parameter.grad = grads[name] / (1.0 + curvature.abs())
        optimizer.step()
        return curvature

    for i in range(6):
        optimizer.param_groups[0]["lr"] = 0.1 * (1 + i % 2)
        train_step(XS[i], YS[i])


def losses_keep_the_graph(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor, parts: list[float]) -> torch.Tensor:
        optimizer.zero_grad(set_to_none=False)
        out = model(x)
        losses = [F.cross_entropy(out, y), out.square().mean(), out.abs().max()][: len(parts)]
        for loss, part in zip(losses, parts, strict=True):
            (loss * part).backward(retain_graph=True)
        optimizer.step()
        return torch.stack(losses)

    for i, parts in enumerate(([1.0], [1.0, 0.5], [1.0, 0.25], [1.0, 0.5, 0.1], [1.0], [0.5, 0.5])):
        train_step(XS[i], YS[i], parts)


def backward_reaches_some_inputs(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor, first: int) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward(inputs=list(model[first:].parameters()))
        optimizer.step()
        return loss

    for i, first in enumerate((0, 0, 2, 4, 2, 0)):
        train_step(XS[i], YS[i], first)


def gradients_are_clipped_by_a_falling_limit(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    limit, by_value = 1.0, False

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, Any]:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        norm = None
        if by_value:
            nn.utils.clip_grad_value_(model.parameters(), limit)
        else:
            norm = nn.utils.clip_grad_norm_(model.parameters(), limit, error_if_nonfinite=True)
        optimizer.step()
        return loss, norm

    for i in range(6):
        limit, by_value = 0.5 / (1 + i), i in (2, 5)
        train_step(XS[i], YS[i])


def gradients_are_written_by_hand(step: Step) -> None:
    """Gradients are centred, some are dropped, and one is another tensor."""
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor, dropped: str) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        for name, each in model.named_parameters():
            if name == dropped:
                each.grad = None
            elif each.dim() == 2:
                each.grad -= each.grad.mean(dim=1, keepdim=True)
        model[4].bias.grad = torch.ones_like(model[4].bias) * loss.detach()
        optimizer.step()
        return loss

    for i, dropped in enumerate(("", "0.weight", "2.bias", "0.weight", "none", "")):
        train_step(XS[i], YS[i], dropped)


def gradients_are_set_to_zero_by_hand(step: Step) -> list[torch.Tensor]:
    """As tutorials write it that update by hand; one layer joins late, and gradients are read between."""
    model = nn.ModuleDict({"body": mlp(), "late": nn.Linear(3, 3)})
    is_late = False

    @step(model)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = model["body"](x)
        loss = F.cross_entropy(model["late"](out) if is_late else out, y)
        loss.backward()
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.grad is not None:
                    parameter -= 0.1 * parameter.grad + 0.01
                    parameter.grad.zero_()
        return loss

    seen = []
    for i in range(7):
        is_late = i in (2, 4)
        train_step(XS[i], YS[i])
        seen += [each.grad.clone() for each in model.parameters() if each.grad is not None]
    return seen
