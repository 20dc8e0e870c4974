"""PyTorch is set otherwise between calls, or within them."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from odd import XS, YS, Step, classifier, mlp, sgd


def autocast_is_toggled(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        with torch.autocast("cpu", torch.bfloat16, enabled=i % 2 == 1):
            train_step(XS[i], YS[i])


def default_type_is_double(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y) * torch.ones(1).exp().sum()
        loss.backward()
        optimizer.step()
        return loss

    try:
        for i in range(6):
            torch.set_default_dtype(torch.float64 if i in (2, 3) else torch.float32)
            train_step(XS[i], YS[i])
    finally:
        torch.set_default_dtype(torch.float32)


def loss_is_evaluated_without_gradients(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def run(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        loss = F.cross_entropy(model(x), y)
        if torch.is_grad_enabled():
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return loss.detach()

    for i in range(6):
        with torch.set_grad_enabled(i % 2 == 0):
            run(XS[i], YS[i])


def function_is_vmapped_inside(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        parameters = dict(model.named_parameters())

        def loss_of(values: dict[str, torch.Tensor], a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return F.cross_entropy(torch.func.functional_call(model, values, (a[None],)), b[None])

        gradients = torch.func.vmap(torch.func.grad(loss_of), (None, 0, 0))(parameters, x, y)
        for name, parameter in parameters.items():
            each = gradients[name]
            norms = each.flatten(1).norm(dim=1).clamp(min=1.0)
            parameter.grad = (each / norms.view(-1, *[1] * (each.dim() - 1))).mean(0)
        optimizer.step()
        return F.cross_entropy(model(x), y)

    for i in range(6):
        train_step(XS[i], YS[i])
