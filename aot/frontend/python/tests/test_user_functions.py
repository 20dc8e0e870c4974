"""What training functions do beside the usual: traced as written, or refused with a reason."""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from bundle import Bundle, distance
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from trainings import Training, agrees, linear, usual_step

import ingot.torch

STEPS = 4


def micro_batches() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        total = torch.zeros(())
        for part in x.chunk(3):
            loss = model(part).square().mean() / 3
            loss.backward()
            total = total + loss.detach()
        optimizer.step()
        return total

    return Training(model, optimizer, step)


def several_losses() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> dict[str, torch.Tensor]:
        optimizer.zero_grad()
        y = model(x)
        losses = {"square": y.square().mean(), "absolute": y.abs().mean()}
        losses["square"].backward(retain_graph=True)
        losses["absolute"].backward()
        optimizer.step()
        return losses | {"norm": model.weight.grad.norm()}

    return Training(model, optimizer, step)


def losses_in_a_tensor() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> dict[str, torch.Tensor]:
        loss = usual_step(model, optimizer, x)
        seen = torch.tensor([[loss, 1], [loss.item(), x.shape[0]]])
        return {"loss": loss, "seen": seen.sum()}

    return Training(model, optimizer, step)


def gradient_penalty() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        x = x.detach().requires_grad_()
        (slope,) = torch.autograd.grad(torch.tanh(model(x)).sum(), x, create_graph=True)
        loss = (slope.norm(dim=1) - 1).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return Training(model, optimizer, step)


def cleared_last(to_none: bool) -> Callable[[], Training]:
    def make() -> Training:
        model, optimizer = linear()

        def step(x: torch.Tensor) -> float:
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=to_none)
            return loss.item()

        return Training(model, optimizer, step)

    return make


def frozen() -> Training:
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Linear(3, 2))
    model[0].requires_grad_(False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)

    def step(x: torch.Tensor) -> torch.Tensor:
        model[1].eval()
        return usual_step(model, optimizer, x)

    return Training(model, optimizer, step)


def part_without_gradient() -> Training:
    model = nn.ModuleDict({"used": nn.Linear(3, 2), "idle": nn.Linear(3, 2)})
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    return Training(model, optimizer, lambda x: usual_step(model["used"], optimizer, x))


def head_alone() -> Training:
    """Nothing clears, and nothing reads, the gradients of what is before the head."""
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2))
    optimizer = torch.optim.SGD(model[1].parameters(), lr=0.1)
    return Training(model, optimizer, lambda x: usual_step(model, optimizer, x))


def groups() -> Training:
    model = nn.Linear(3, 2)
    decayed, plain = [model.weight], [model.bias]
    optimizer = torch.optim.AdamW([{"params": decayed, "lr": 0.1}, {"params": plain, "weight_decay": 0.0}], lr=0.01)
    return Training(model, optimizer, lambda x: usual_step(model, optimizer, x))


def parameters_outside_of_modules() -> Training:
    weights = [torch.randn(3, 4, requires_grad=True), torch.randn(4, 2, requires_grad=True)]
    optimizer = torch.optim.Adam(weights, lr=0.1)

    def step(x: torch.Tensor) -> torch.Tensor:
        for weight in weights:
            weight.grad = None
        loss = torch.relu(x @ weights[0]).matmul(weights[1]).square().mean()
        gradients = torch.autograd.grad(loss, weights)
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.grad = gradient
        torch.nn.utils.clip_grad_norm_(weights, 0.5)
        optimizer.step()
        return loss

    return Training(nn.Identity(), optimizer, step)


def average_by_hand() -> Training:
    model, optimizer = linear()
    average = copy.deepcopy(model)
    pairs = list(zip(average.parameters(), model.parameters(), strict=True))

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = usual_step(model, optimizer, x)
        with torch.no_grad():
            for mine, theirs in pairs:
                mine.mul_(0.9).add_(theirs, alpha=0.1)
        return loss

    return Training({"model": model, "average": average}, optimizer, step)


def averaged(**kwargs: Any) -> Callable[[], Training]:
    def make() -> Training:
        model = nn.Sequential(nn.Linear(3, 4, bias=False), nn.BatchNorm1d(4), nn.Linear(4, 2))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        average = AveragedModel(model, **kwargs)

        def step(x: torch.Tensor) -> torch.Tensor:
            loss = usual_step(model, optimizer, x)
            average.update_parameters(model)
            return loss

        return Training({"model": model, "average": average}, optimizer, step)

    return make


class Watched(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.register_buffer("calls", torch.zeros((), dtype=torch.long))
        self.register_buffer("mean", torch.zeros(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(x)
        self.calls += 1
        self.mean = 0.9 * self.mean + 0.1 * y.detach().mean(0)
        return y - self.mean


def lists_of_tensors() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = usual_step(model, optimizer, x)
        with torch.no_grad():
            weights = list(model.parameters())
            norms = torch.stack(torch._foreach_norm(weights))
            torch._foreach_mul_(weights, [0.5, 0.25])
            torch._foreach_add_(weights, torch._foreach_sqrt(torch._foreach_abs(weights)), alpha=0.5)
        return loss + norms.sum()

    return Training(model, optimizer, step)


def buffers_by_hand() -> Training:
    model = Watched()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return Training(model, optimizer, lambda x: usual_step(model, optimizer, x))


def functional_gradient() -> Training:
    model = nn.Linear(3, 2)

    def step(x: torch.Tensor) -> torch.Tensor:
        def loss_of(parameters: dict[str, torch.Tensor]) -> torch.Tensor:
            return torch.func.functional_call(model, parameters, (x,)).square().mean()

        gradients, loss = torch.func.grad_and_value(loss_of)(dict(model.named_parameters()))
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter -= 0.1 * gradients[name]
        return loss

    return Training(model, None, step)


def closure() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        def loss_and_gradients() -> torch.Tensor:
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            return loss

        return optimizer.step(loss_and_gradients)

    return Training(model, optimizer, step)


def loss_scale() -> Training:
    model, optimizer = linear()
    scaler = torch.amp.GradScaler("cpu", enabled=False)

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss

    return Training(model, optimizer, step)


def cleared_by_hand() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        for parameter in model.parameters():
            parameter.grad = None
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return Training(model, optimizer, step)


def rate_in_a_tensor() -> Training:
    model = nn.Linear(3, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=torch.tensor(0.01))
    return Training(model, optimizer, functools.partial(usual_step, model, optimizer))


def rate_in_the_function() -> Training:
    """The rate is set in each call anew, of nothing that the call before left."""
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.param_groups[0]["lr"] = 0.03
        return usual_step(model, optimizer, x)

    return Training(model, optimizer, step)


def masked_transformer() -> Training:
    """The causal mask is made in the function; the module would look at its values to find that out."""
    model = nn.ModuleDict({"transformer": nn.Transformer(4, 2, 1, 1, 8, dropout=0.0, batch_first=True)})
    model["into"] = nn.Linear(3, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        words = model["into"](x)[None]
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[0])
        loss = model["transformer"](words, words, tgt_mask=mask, src_mask=mask).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return Training(model, optimizer, step)


@torch.jit.script
def scripted_loss(y: torch.Tensor) -> torch.Tensor:
    return (y * torch.sqrt(torch.tensor(y.size(-1) * 2, dtype=y.dtype))).square().mean()


def scripted() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = scripted_loss(model(x))
        loss.backward()
        optimizer.step()
        return loss

    return Training(model, optimizer, step)


CASES: dict[str, Callable[[], Training]] = {
    "micro_batches": micro_batches,
    "several_losses": several_losses,
    "losses_in_a_tensor": losses_in_a_tensor,
    "gradient_penalty": gradient_penalty,
    "gradients_cleared_last": cleared_last(to_none=True),
    "gradients_zeroed_last": cleared_last(to_none=False),
    "gradients_cleared_by_hand": cleared_by_hand,
    "rate_in_a_tensor": rate_in_a_tensor,
    "rate_in_the_function": rate_in_the_function,
    "frozen": frozen,
    "part_without_gradient": part_without_gradient,
    "head_alone": head_alone,
    "scripted": scripted,
    "masked_transformer": masked_transformer,
    "groups": groups,
    "parameters_outside_of_modules": parameters_outside_of_modules,
    "average_by_hand": average_by_hand,
    "averaged_equally": averaged(),
    "averaged_exponentially": averaged(multi_avg_fn=get_ema_multi_avg_fn(0.9), use_buffers=True),
    "averaged_by_function": averaged(avg_fn=lambda mean, new, count: mean + (new - mean) / (count + 2)),
    "lists_of_tensors": lists_of_tensors,
    "buffers_by_hand": buffers_by_hand,
    "functional_gradient": functional_gradient,
    "closure": closure,
    "loss_scale": loss_scale,
}


@pytest.mark.parametrize("case", CASES)
def test_traces_as_written(case: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    agrees(CASES[case](), tmp_path, STEPS)


@pytest.mark.parametrize("first_cleared", [True, False])
def test_gradients_kept_across_calls(first_cleared: bool, tmp_path: Path) -> None:
    """An optimizer that steps every second call; the calls are two entry points, so the kept gradients are shared."""
    torch.manual_seed(0)
    model, optimizer = linear()
    xs = torch.randn(3, 6, 3)

    def accumulate(x: torch.Tensor) -> torch.Tensor:
        loss = model(x).square().mean()
        loss.backward()
        return loss

    def accumulate_and_step(x: torch.Tensor) -> torch.Tensor:
        loss = accumulate(x)
        optimizer.step()
        optimizer.zero_grad()
        return loss

    if not first_cleared:
        accumulate(xs[2])
    program = ingot.torch.Program(model, optimizer, keep_gradients=True)
    program.add("accumulate", accumulate, (xs[0],))
    program.add("train_step", accumulate_and_step, (xs[0],))
    assert "grad.weight" in program.state.tensors
    bundle = Bundle(program, tmp_path)
    bundle.train({"x": xs[:1]}, "accumulate")
    other = nn.Linear(3, 2)
    other_optimizer = torch.optim.SGD(other.parameters(), lr=0.1, momentum=0.5)
    ingot.torch.load_state(other, other_optimizer, tmp_path / "final.safetensors", keep_gradients=True)
    accumulate(xs[0])
    assert distance(other.weight.grad, model.weight.grad) < 1e-6
    _, final = Bundle(program, tmp_path).train({"x": xs[1:2]})
    accumulate_and_step(xs[1])
    assert distance(final["weight"], model.weight) < 1e-6
    assert not final["grad.weight"].any()


def carries_gradients() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return Training(model, optimizer, step)


def searches_lines() -> Training:
    model = nn.Linear(3, 2)
    optimizer = torch.optim.LBFGS(model.parameters())
    return Training(model, optimizer, lambda x: optimizer.step(lambda: model(x).square().mean()))


def searches_lines_at_a_scheduled_rate() -> Training:
    training = searches_lines()
    torch.optim.lr_scheduler.StepLR(training.optimizer, 1)
    return training


def steps_a_strange_scheduler() -> Training:
    model, optimizer = linear()
    scheduler = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 5)

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = usual_step(model, optimizer, x)
        scheduler.step()
        return loss

    return Training(model, optimizer, step)


def moves_a_rate_in_place() -> Training:
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=torch.tensor(0.1))

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.param_groups[0]["lr"].mul_(0.9)
        return usual_step(model, optimizer, x)

    return Training(model, optimizer, step)


def makes_a_new_tensor() -> Training:
    model, optimizer = linear()
    return Training(model, optimizer, lambda x: x.new_tensor([usual_step(model, optimizer, x), 1.0]).sum())


REFUSED: list[tuple[Callable[[], Training], str]] = [
    (moves_a_rate_in_place, r"py:\d+.*`mul_` is of tensors.*rate = rate \* 0.9"),
    (makes_a_new_tensor, r"py:\d+.*asks for the values of a tensor.*torch.stack"),
    (carries_gradients, r"py:\d+.*gradient of 'weight' lives on.*zero_grad\(\) before backward.*keep_gradients=True"),
    (searches_lines, r"py:\d+.*LBFGS looks at losses.*line search.*partial\(model\).*Adam"),
    (searches_lines_at_a_scheduled_rate, r"py:\d+.*LBFGS looks at losses.*Adam"),
    (steps_a_strange_scheduler, r"py:\d+.*scheduler is not the program's.*Program\(model, optimizer, scheduler"),
]


@pytest.mark.parametrize(("make", "message"), REFUSED, ids=[make.__name__ for make, _ in REFUSED])
def test_is_refused(make: Callable[[], Training], message: str) -> None:
    training = make()
    program = ingot.torch.Program(training.model, training.optimizer)
    with pytest.raises(ingot.torch.TraceError) as caught:
        program.add("train_step", training.step, (torch.randn(6, 3),))
    assert re.search(message, str(caught.value)), caught.value
