"""Arguments and results that share memory: with each other, with the model, with what the caller keeps."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from odd import XS, YS, Step, classifier, minimizer, mlp, sgd


def same_tensor_is_given_twice(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, other: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y) + (model(x) - model(other)).square().mean() * (1.0 if x is other else 0.5)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        train_step(XS[i], XS[i] if i % 2 else XS[i + 1], YS[i])


def argument_is_a_parameter(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor, penalized: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y) + 0.1 * penalized.square().sum()
        loss.backward()
        optimizer.step()
        return loss, penalized.sum()

    for i in range(6):
        train_step(XS[i], YS[i], model[2 * (i % 3)].weight)


def argument_lies_in_the_model(step: Step) -> None:
    """The step reads the argument after it has changed the parameter that the argument is a view of."""
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
        before = seen.sum()
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return torch.stack((loss, before, seen.sum()))

    for i in range(6):
        train_step(XS[i], YS[i], model[0].weight.detach()[i % 2])


def argument_lies_in_the_model_later(step: Step) -> None:
    """What is an argument's own memory in the first calls is the parameter's in others."""
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return torch.stack((loss, seen.sum()))

    for i in range(6):
        row = model[0].weight.detach()[i % 2]
        train_step(XS[i], YS[i], row if i in (2, 3) else row.clone())


def variable_lies_in_the_model_later(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    seen = torch.zeros(4)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return torch.stack((loss, seen.sum()))

    for i in range(6):
        row = model[0].weight.detach()[0]
        seen = row if i in (3, 4) else row.clone()
        train_step(XS[i], YS[i])


def table_of_the_model_is_an_argument(step: Step) -> None:
    """The step changes nothing that the argument is a view of."""
    model = mlp()
    model.register_buffer("table", XS[7].clone())

    def loss_of(x: torch.Tensor, y: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(model(x + model.table), y) + model(rows).square().mean()

    train_step = minimizer(step, model, sgd(model), loss_of)
    for i in range(6):
        train_step(XS[i], YS[i], model.table[i % 3 : 3 + i % 3])
        model.table.mul_(0.9)


def views_are_read_with_other_strides(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    flat = XS.flatten()
    wide = XS.transpose(1, 2).contiguous()
    train_step(XS[0], YS[0])
    train_step(wide[1].t(), YS[1])
    train_step(flat[:9].unfold(0, 4, 1), YS[2])
    train_step(XS[3, :1].expand(6, 4), YS[3])
    train_step(XS[4].flip(0)[::1], YS[:6, 4])
    train_step(flat[3:27].view(6, 4), YS[5])


def views_of_complex_numbers_are_lazy(step: Step) -> None:
    """Conjugates and their imaginary parts are the same memory with a flag."""
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    numbers = torch.complex(XS[0], XS[1])
    for i in range(6):
        train_step((numbers.conj() if i % 2 else numbers).imag, YS[i])


def conjugates_are_arguments(step: Step) -> None:
    model = mlp()
    train_step = minimizer(step, model, sgd(model), lambda z, y: F.cross_entropy(model(z.real + 0.5 * z.imag), y))
    numbers = torch.complex(XS[0], XS[1])
    for i in range(6):
        train_step(numbers.conj() if i % 2 else numbers, YS[i])


def images_are_channels_last(step: Step) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(16, 3))
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        images = XS[:6].reshape(6, 24).repeat(1, 2)[:, :32].reshape(6, 2, 4, 4) / (1 + i)
        train_step(images.contiguous(memory_format=torch.channels_last) if i % 2 else images, YS[i])
        if i == 3:
            model.to(memory_format=torch.channels_last)


def results_are_written_by_the_caller(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> dict[str, torch.Tensor]:
        optimizer.zero_grad()
        out = model(x)
        loss = F.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        return {"out": out.detach(), "loss": loss.detach(), "weight": model[0].weight.detach(), "x": x}

    for i in range(6):
        results = train_step(XS[i].clone(), YS[i])
        results["out"].zero_()
        results["loss"] += 1.0
        results["weight"].mul_(0.5)
        results["x"].fill_(2.0)


def results_share_memory(step: Step) -> list[Any]:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        optimizer.zero_grad()
        out = model(x)
        loss = F.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        out = out.detach()
        return [out, out[0], out.t(), out, loss.detach()]

    found: list[Any] = []
    for i in range(6):
        results = train_step(XS[i], YS[i])
        results[0].mul_(2.0)
        found += [results[0] is results[3], results[1].clone(), results[2].clone()]
    return found


def parameters_and_buffers_are_returned(step: Step) -> list[Any]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 3))
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return [model[0].weight, model[1].running_mean, model[1].running_mean[:2], model[1].num_batches_tracked]

    kept = [train_step(XS[i], YS[i]) for i in range(6)]
    return [kept, kept[0][0] is model[0].weight, kept[0][1] is model[1].running_mean]


def losses_are_kept_and_summed(step: Step) -> torch.Tensor:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    total, losses = torch.zeros(()), []
    for i in range(6):
        loss = train_step(XS[i], YS[i])
        losses.append(loss.detach())
        total += loss.detach() * (i + 1)
    return torch.stack([total, *losses])


def memory_of_the_batch_is_filled_again(step: Step) -> None:
    """One buffer is the batch of all calls, as with a pinned buffer that a reader fills."""
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    x, y = torch.empty(6, 4), torch.empty(6, dtype=torch.long)
    for i in range(6):
        x.copy_(XS[i])
        y.copy_(YS[i])
        train_step(x, y)
