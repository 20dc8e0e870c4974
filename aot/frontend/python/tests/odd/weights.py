"""The user's code changes weights: clips, averages, prunes, swaps, normalizes and casts them."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parametrizations, prune
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_multi_avg_fn

from odd import XS, YS, Step, classifier, minimizer, mlp, sgd


def weights_are_clipped_inside_and_between(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for each in model.parameters():
                each.clamp_(-0.4, 0.4)
        return loss

    for i in range(6):
        train_step(XS[i], YS[i])
        with torch.no_grad():
            model[0].weight[i % 8] *= 0.5
            model[2].weight.div_(model[2].weight.norm(dim=1, keepdim=True))


def averages_are_kept_outside(step: Step) -> list[Any]:
    """Averages are plain tensors of a dict, updated between the calls, and swapped in for one evaluation."""
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    averages = {name: each.detach().clone() for name, each in model.named_parameters()}
    evaluated = []
    for i in range(6):
        train_step(XS[i], YS[i])
        for name, each in model.named_parameters():
            averages[name].lerp_(each.detach(), 0.1)
        if i == 3:
            kept = copy.deepcopy(model.state_dict())
            model.load_state_dict(averages)
            evaluated.append(model(XS[7]).detach())
            model.load_state_dict(kept)
    return [averages, evaluated]


def averages_are_kept_inside(step: Step) -> None:
    models = {"online": mlp(), "target": mlp()}
    models["target"].requires_grad_(False)
    optimizer = sgd(models["online"])
    decay = 0.5

    @step(models, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        out = models["online"](x)
        loss = F.cross_entropy(out, y) + F.mse_loss(out, models["target"](x))
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            pairs = zip(models["target"].parameters(), models["online"].parameters(), strict=True)
            for target, online in pairs:
                target.lerp_(online, 1 - decay)
        return loss

    for i in range(6):
        decay = 0.5 + i / 20
        train_step(XS[i], YS[i])
        if i == 2:
            models["target"].load_state_dict(models["online"].state_dict())


def averaged_model_is_updated_between(step: Step) -> Any:
    model = mlp()
    optimizer = sgd(model)
    train_step = classifier(step, model, optimizer)
    averaged = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.8))
    scheduler = SWALR(optimizer, swa_lr=0.05, anneal_epochs=3)
    for i in range(6):
        train_step(XS[i], YS[i])
        averaged.update_parameters(model)
        scheduler.step()
    return averaged.state_dict()


def weights_look_ahead(step: Step) -> None:
    """Each third call goes half the way back to where the weights were."""
    model = mlp()
    optimizer = torch.optim.Adam(model.parameters(), 0.05)
    train_step = classifier(step, model, optimizer)
    slow = [each.detach().clone() for each in model.parameters()]
    for i in range(6):
        train_step(XS[i], YS[i])
        if i % 3 == 2:
            for old, each in zip(slow, model.parameters(), strict=True):
                old.add_(each.data - old, alpha=0.5)
                each.data.copy_(old)


def weights_are_pruned(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        if i in (2, 3):
            prune.l1_unstructured(model[2], "weight", amount=0.3)
        if i == 5:
            prune.remove(model[2], "weight")
        train_step(XS[i], YS[i])


def norms_are_spectral(step: Step) -> None:
    model = mlp()
    parametrizations.spectral_norm(model[2])
    parametrizations.orthogonal(model[4])
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        model[2].train(i != 3)
        train_step(XS[i], YS[i])
        if i == 4:
            nn.utils.parametrize.remove_parametrizations(model[2], "weight")


def parameter_is_registered_again(step: Step) -> None:
    """The optimizer keeps the old parameter, as PyTorch's does."""
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    train_step = classifier(step, model, optimizer)
    for i in range(6):
        if i == 2:
            model[0].weight = nn.Parameter(torch.full((8, 4), 0.1))
        if i == 4:
            optimizer.param_groups[0]["params"][0] = model[0].weight
        train_step(XS[i], YS[i])


def tensors_of_two_layers_are_swapped(step: Step) -> None:
    model = mlp()
    model.append(nn.Tanh()).append(nn.Linear(3, 3))
    model[0] = nn.Linear(4, 8)
    model.insert(2, nn.Linear(8, 8))
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        if i == 2:
            torch.utils.swap_tensors(model[2].weight, model[3].weight)
        if i == 4:
            model[2], model[3] = model[3], model[2]
        train_step(XS[i], YS[i])


def model_is_cast_and_goes_back(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, torch.optim.SGD(model.parameters(), 0.1))
    for i in range(6):
        model.to(torch.float64 if i in (2, 3) else torch.float32)
        train_step(XS[i].to(model[0].weight.dtype), YS[i])


def model_is_copied_and_the_copy_is_trained(step: Step) -> list[Any]:
    model = mlp()
    optimizer = sgd(model)
    train_step = classifier(step, model, optimizer)
    for i in range(3):
        train_step(XS[i], YS[i])
    other, other_optimizer = pickle.loads(pickle.dumps((model, optimizer)))
    other_step = classifier(step, other, other_optimizer)
    for i in range(3, 6):
        other_step(XS[i], YS[i])
        train_step(XS[i - 3], YS[i])
    third = copy.deepcopy(model)
    return [third.state_dict(), model(XS[7]).detach()]


def weights_become_one_vector(step: Step) -> torch.Tensor:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        train_step(XS[i], YS[i])
        if i in (1, 3):
            vector = nn.utils.parameters_to_vector(model.parameters()).detach()
            nn.utils.vector_to_parameters(vector * 0.9, model.parameters())
    return nn.utils.parameters_to_vector(model.parameters()).detach()


def noise_is_added_by_a_context(step: Step) -> None:
    """The step computes with weights that are changed for the forward alone."""
    model = mlp()

    def loss_of(x: torch.Tensor, y: torch.Tensor, factor: float) -> torch.Tensor:
        with torch.no_grad():
            kept = model[0].weight.clone()
            model[0].weight.mul_(factor)
        out = model(x)
        with torch.no_grad():
            model[0].weight.copy_(kept)
        return F.cross_entropy(out, y)

    train_step = minimizer(step, model, sgd(model), loss_of)
    for i in range(6):
        train_step(XS[i], YS[i], 1.0 + i / 10)


def values_are_swapped_by_data(step: Step) -> None:
    """Weights and their averages change places for some calls, as they do for evaluation."""
    models = {"online": mlp(), "average": mlp()}
    optimizer = sgd(models["online"])

    @step(models, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(models["online"](x), y)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for average, online in zip(models["average"].parameters(), models["online"].parameters(), strict=True):
                average.lerp_(online, 0.3)
        return loss

    for i in range(6):
        train_step(XS[i], YS[i])
        if i in (1, 3):
            for one, other in zip(models["average"].parameters(), models["online"].parameters(), strict=True):
                one.data, other.data = other.data, one.data
