"""Changes to the optimizer between calls, and odd uses of it inside."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F

from odd import XS, YS, Step, classifier, mlp, sgd


def rate_falls_to_zero_and_rises(step: Step) -> None:
    model = mlp()
    optimizer = torch.optim.AdamW(model.parameters(), 0.01)
    train_step = classifier(step, model, optimizer)
    for i in range(6):
        optimizer.param_groups[0]["lr"] = 0.0 if i in (2, 3) else 0.01
        train_step(XS[i], YS[i])


def momentum_is_toggled(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    train_step = classifier(step, model, optimizer)
    for i in range(6):
        optimizer.param_groups[0]["momentum"] = 0.0 if i in (2, 3) else 0.9
        train_step(XS[i], YS[i])


def group_is_added(step: Step) -> None:
    model = mlp()
    optimizer = torch.optim.Adam(model[4].parameters(), 0.01)
    train_step = classifier(step, model, optimizer)
    for i in range(6):
        if i == 3:
            optimizer.add_param_group({"params": model[2].parameters(), "lr": 0.001})
        train_step(XS[i], YS[i])


def slots_are_cleared(step: Step) -> None:
    model = mlp()
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    train_step = classifier(step, model, optimizer)
    for i in range(6):
        if i == 3:
            optimizer.state.clear()
        train_step(XS[i], YS[i])


def global_optimizer_is_rebound(step: Step) -> None:
    model = mlp()
    optimizer = torch.optim.Adam(model.parameters(), 0.01)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        if i == 3:
            optimizer = torch.optim.Adam(model.parameters(), 0.001)
        train_step(XS[i], YS[i])


class SharpnessAware(torch.optim.Optimizer):
    """As github.com/davda54/sam is published: an optimizer that wraps another, and gives weights back by `data`."""

    def __init__(self, parameters: Any, base: type[torch.optim.Optimizer], **options: Any) -> None:
        super().__init__(parameters, {"rho": 0.05, **options})
        self.base_optimizer = base(self.param_groups, **options)
        self.param_groups = self.base_optimizer.param_groups

    @torch.no_grad()
    def first_step(self) -> None:
        for group in self.param_groups:
            for parameter in group["params"]:
                self.state[parameter]["old_p"] = parameter.data.clone()
                parameter.add_(group["rho"] * parameter.grad)
        self.zero_grad()

    @torch.no_grad()
    def second_step(self) -> None:
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter.data = self.state[parameter]["old_p"]
        self.base_optimizer.step()
        self.zero_grad()


def another_optimizer_is_wrapped(step: Step) -> None:
    model = mlp()
    optimizer = SharpnessAware(model.parameters(), torch.optim.SGD, lr=0.1, momentum=0.9)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.first_step()
        F.cross_entropy(model(x), y).backward()
        optimizer.second_step()
        return loss

    for i in range(6):
        optimizer.param_groups[0]["lr"] = 0.1 / (1 + i // 3)
        train_step(XS[i], YS[i])


def scheduler_is_logged_inside(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> dict[str, object]:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return {"loss": loss.item(), "rate": scheduler.get_last_lr()[0]}

    for i in range(6):
        train_step(XS[i], YS[i])
        scheduler.step()


def gradients_accumulate_over_calls(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer, keep_gradients=True)
    def train_step(x: torch.Tensor, y: torch.Tensor, is_last: bool) -> torch.Tensor:
        loss = F.cross_entropy(model(x), y) / 2
        loss.backward()
        if is_last:
            optimizer.step()
            optimizer.zero_grad()
        return loss

    for i in range(6):
        train_step(XS[i], YS[i], i % 2 == 1)


def gradients_are_logged_between(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    train_step = classifier(step, model, optimizer)
    norms = []
    for i in range(6):
        train_step(XS[i], YS[i])
        norms.append(float(model[0].weight.grad.norm()))


def stepped_by_pytorch_between(step: Step) -> None:
    model = mlp()
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    train_step = classifier(step, model, optimizer)
    for i in range(6):
        train_step(XS[i], YS[i])
        optimizer.zero_grad()
        F.cross_entropy(model(XS[7]), YS[7]).backward()
        optimizer.step()


def frozen_parameter_keeps_its_old_gradient(step: Step) -> None:
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad(set_to_none=False)
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        model[2].requires_grad_(i % 3 != 2)
        train_step(XS[i], YS[i])


def step_is_left_out_where_the_loss_is_nan(step: Step) -> None:
    model = mlp()
    optimizer = torch.optim.Adam(model.parameters(), 0.01)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        if torch.isfinite(loss):
            loss.backward()
            optimizer.step()
        return loss

    for i in range(6):
        train_step(XS[i] / (0.0 if i == 3 else 1.0), YS[i])


def gradients_are_added_and_cleared(step: Step) -> None:
    """As in GANs that train the generator first: its loss adds to gradients of the critic, which clears them."""
    models = {"generator": mlp(), "critic": mlp()}
    generator, critic = models.values()
    optimizers = {name: torch.optim.Adam(model.parameters(), 0.01) for name, model in models.items()}

    @step(models, optimizers)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizers["generator"].zero_grad()
        made = F.pad(generator(x), (0, 1))
        loss = critic(made).square().mean()
        loss.backward()
        optimizers["generator"].step()
        optimizers["critic"].zero_grad()
        own = F.cross_entropy(critic(x), y) + critic(made.detach()).mean()
        own.backward()
        optimizers["critic"].step()
        return loss + own

    for i in range(6):
        train_step(XS[i], YS[i])
