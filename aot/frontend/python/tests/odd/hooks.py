"""Hooks of tensors, parameters, modules and optimizers, which are added, removed, or count."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from odd import XS, YS, Step, classifier, mlp, sgd


def gradient_hook_is_added_and_removed(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        handle = model[0].weight.register_hook(lambda grad: grad * 0.1) if i in (2, 3) else None
        train_step(XS[i], YS[i])
        if handle:
            handle.remove()


def optimizers_step_within_backward(step: Step) -> None:
    """Each parameter has its own optimizer, which steps when the gradient is there, as in PyTorch's tutorial."""
    model = mlp()
    optimizers = {name: torch.optim.Adam([each], 0.01) for name, each in model.named_parameters()}

    def step_at_once(parameter: torch.Tensor) -> None:
        optimizer = optimizers[names[parameter]]
        optimizer.step()
        optimizer.zero_grad()

    names = {each: name for name, each in model.named_parameters()}
    for each in model.parameters():
        each.register_post_accumulate_grad_hook(step_at_once)

    @step(model, optimizers)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        return loss

    for i in range(6):
        optimizers["0.weight"].param_groups[0]["lr"] = 0.01 / (1 + i)
        train_step(XS[i], YS[i])


def backward_hook_changes_gradients(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    factor = 1.0

    def scaled(module: nn.Module, grads: Any, outer: Any) -> Any:
        return tuple(each * factor for each in grads)

    model[2].register_full_backward_hook(scaled)
    for i in range(6):
        factor = 1.0 - i / 10
        train_step(XS[i], YS[i])


def activations_are_caught_by_a_hook(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    caught: dict[str, torch.Tensor] = {}
    model[1].register_forward_hook(lambda module, args, out: caught.update(hidden=out))

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> dict[str, Any]:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y) + 0.1 * caught["hidden"].square().mean()
        loss.backward()
        optimizer.step()
        return {"loss": loss, "mean": caught["hidden"].mean().item()}

    for i in range(6):
        train_step(XS[i], YS[i])


def optimizer_hook_is_added_and_removed(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    train_step = classifier(step, model, optimizer)

    @torch.no_grad()
    def keep_small(optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        for each in optimizer.param_groups[0]["params"]:
            each.clamp_(-0.3, 0.3)

    for i in range(6):
        handle = optimizer.register_step_post_hook(keep_small) if i in (2, 3) else None
        train_step(XS[i], YS[i])
        if handle:
            handle.remove()


def hook_of_all_modules(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, sgd(model))

    def bounded(module: nn.Module, args: Any, out: torch.Tensor) -> torch.Tensor | None:
        return out.clamp(-0.2, 0.2) if isinstance(module, nn.Tanh) else None

    for i in range(6):
        handle = nn.modules.module.register_module_forward_hook(bounded) if i in (2, 3) else None
        train_step(XS[i], YS[i])
        if handle:
            handle.remove()


def calls_are_counted_by_a_hook(step: Step) -> int:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    count = 0

    def counted(module: nn.Module, args: Any) -> None:
        nonlocal count
        count += 1

    model.register_forward_pre_hook(counted)
    for i in range(6):
        train_step(XS[i], YS[i])
    return count


def hook_reads_the_number_of_the_call(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    train_step = classifier(step, model, optimizer)
    model.calls = 0

    def noted(module: nn.Module, args: Any, out: torch.Tensor) -> torch.Tensor:
        module.calls += 1
        return out / (1.0 + 0.1 * module.calls)

    model.register_forward_hook(noted)
    for i in range(6):
        train_step(XS[i], YS[i])
        if i == 3:
            model.calls = 0


def tensors_are_packed_for_backward(step: Step) -> None:
    """Activations are saved as bfloat16, and unpacked for backward."""
    model = mlp()
    optimizer = sgd(model)

    def pack(x: torch.Tensor) -> torch.Tensor:
        return x.bfloat16() if x.shape == (6, 8) else x

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor, is_packed: bool) -> torch.Tensor:
        optimizer.zero_grad()
        if is_packed:
            with torch.autograd.graph.saved_tensors_hooks(pack, torch.Tensor.float):
                loss = F.cross_entropy(model(x), y)
        else:
            loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        train_step(XS[i], YS[i], i % 2 == 1)
