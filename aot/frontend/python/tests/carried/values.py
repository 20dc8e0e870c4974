"""What Python chooses by the values of tensors and by inputs, and refusals that are caught on the way."""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Callable

import pytest
import torch
from torch import cond, nn
from torch.nn import functional as F
from trainings import Training, linear, usual_step

from carried.case import table

CASES, case = table()


def deciding(decide: Callable[[torch.Tensor], bool]) -> Training:
    """Steps where something is so of the loss."""
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        if decide(loss):
            optimizer.step()
        return loss

    return Training(model, optimizer, step)


def changing(change: Callable[[torch.Tensor], torch.Tensor]) -> Training:
    model, optimizer = linear()
    return Training(model, optimizer, lambda x: usual_step(model, optimizer, change(x)))


@case()
def steps_where_the_loss_is_finite() -> Training:
    return deciding(lambda loss: torch.isfinite(loss) and loss < 1.0)


@case()
def steps_by_a_number_of_the_loss() -> Training:
    return deciding(lambda loss: 0.3 < loss.item() < 0.8)


@case()
def steps_where_mathematics_says_so() -> Training:
    return deciding(lambda loss: math.isfinite(loss.item()) and math.atan(loss.item()) > 0.4)


@case()
def steps_where_any_element_is_so() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        return usual_step(model, optimizer, x * 2 if (x > 1.5).any() else x)

    return Training(model, optimizer, step)


@case()
def clips_by_a_norm() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        if nn.utils.get_total_norm([p.grad for p in model.parameters()]) > 0.8:
            for parameter in model.parameters():
                parameter.grad.mul_(0.5)
        optimizer.step()
        return loss

    return Training(model, optimizer, step)


@case()
def loses_its_patience() -> Training:
    model, optimizer = linear()
    best, bad = 100.0, 0

    def step(x: torch.Tensor) -> torch.Tensor:
        nonlocal best, bad
        loss = usual_step(model, optimizer, x)
        if loss.item() < best:
            best, bad = loss.item(), 0
        else:
            bad += 1
        if bad >= 2:
            optimizer.param_groups[0]["lr"] *= 0.5
        return loss

    return Training(model, optimizer, step)


@case()
def chooses_the_smaller_tensor() -> Training:
    return changing(lambda x: x + max(x.sum(), x.mean()) + sorted([x[0, 0], x[1, 1]])[0])


@case()
def asserts_before_it_chooses() -> Training:
    def change(x: torch.Tensor) -> torch.Tensor:
        assert x.norm() > 0
        assert x.norm().item() > 0
        return x * 2 if x.sum() > 0 else x

    return changing(change)


@case()
def chooses_by_cond() -> Training:
    return changing(lambda x: torch.cond(x.sum() > 0, torch.sin, lambda y: y.cos() + 1, (x,)))


@case()
def chooses_a_loss_by_cond() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = cond(x.sum() > 0, lambda: model(x).square().mean(), lambda: model(x).abs().mean())
        loss.backward()
        optimizer.step()
        return loss

    return Training(model, optimizer, step)


@case()
def goes_on_where_nothing_was_caught() -> Training:
    def change(x: torch.Tensor) -> torch.Tensor:
        with contextlib.suppress(ValueError):
            x = x * 2 if x.sum() > 0 else x
        return x

    return changing(change)


@case(r"between more than 8 ways by numbers that the program computes")
def halves_while_it_is_large() -> Training:
    def change(x: torch.Tensor) -> torch.Tensor:
        while x.norm() > 1:  # here
            x = x * 0.5
        return x

    return changing(change)


@case(r"the shape of what aten\._unique2\.default gives")
def catches_that_unique_values_are_refused() -> Training:
    def change(x: torch.Tensor) -> torch.Tensor:
        try:
            return x + torch.unique(x).mean()  # here
        except Exception:
            return x

    return changing(change)


@case(r"no value that could be printed")
def catches_that_printing_is_refused() -> Training:
    def change(x: torch.Tensor) -> torch.Tensor:
        with contextlib.suppress(Exception):
            print(x.mean())  # here
            return x
        return x * 2

    return changing(change)


@case(r"writes one of its arguments.*x\.clone\(\)")
def writes_its_argument() -> Training:
    return changing(lambda x: x.mul_(0.5))  # here


@case(r"writes one of its arguments")
def writes_a_part_of_its_argument() -> Training:
    def change(x: torch.Tensor) -> torch.Tensor:
        x[0] = 0.0  # here
        return x

    return changing(change)


@case()
def writes_a_copy_of_its_argument() -> Training:
    return changing(lambda x: x.clone().mul_(0.5).add_(1))


def drawing(draw: Callable[[], torch.Tensor]) -> Training:
    return changing(lambda x: x + draw())


SAME = r"each call draws the same random numbers"


@case(SAME)
def puts_the_generator_back() -> Training:
    def draw() -> torch.Tensor:
        with torch.random.fork_rng():
            return torch.rand(3)  # here

    return drawing(draw)


@case(SAME)
def starts_from_a_state_of_the_generator() -> Training:
    state = torch.get_rng_state()

    def draw() -> torch.Tensor:
        torch.set_rng_state(state)
        return torch.rand(3)  # here

    return drawing(draw)


@case(SAME)
def seeds_the_default_generator() -> Training:
    if threading.active_count() > 1:
        pytest.skip("other threads draw from this generator too, so that it is not looked at")

    def draw() -> torch.Tensor:
        torch.default_generator.manual_seed(1)
        return torch.rand(3)  # here

    return drawing(draw)


@case(SAME)
def seeds_a_generator() -> Training:
    generator = torch.Generator()

    def draw() -> torch.Tensor:
        generator.manual_seed(3)
        return torch.rand(3, generator=generator)  # here

    return drawing(draw)


@case(SAME)
def makes_a_generator() -> Training:
    return drawing(lambda: torch.randn(3, generator=torch.Generator().manual_seed(5)))  # here


@case()
def draws_from_a_generator() -> Training:
    generator = torch.Generator()
    return drawing(lambda: torch.rand(3, generator=generator).ceil() + torch.randint(1, 2, (3,), generator=generator))


@case(r"addmm.* must have the same dtype, but got Double and Float")
def multiplies_different_types() -> Training:
    model, optimizer = linear()
    return Training(model, optimizer, lambda x: usual_step(model, optimizer, x.double()))


@case(r"index_put.* requires the source and destination dtypes match")
def writes_another_type() -> Training:
    def change(x: torch.Tensor) -> torch.Tensor:
        y = x * 1
        y[torch.tensor([0, 2])] = x.double()[:2]  # here
        return y

    return changing(change)


@case(r"torch\.save has nothing to write")
def saves_at_times() -> Training:
    model, optimizer = linear()
    it = 0

    def step(x: torch.Tensor) -> torch.Tensor:
        nonlocal it
        it += 1
        if it % 100 == 0:
            torch.save(model.state_dict(), "never.pt")  # here
        return usual_step(model, optimizer, x)

    return Training(model, optimizer, step)


FORMS: dict[str, Callable[[torch.Tensor, int], torch.Tensor]] = {
    "isinstance": lambda x, it: x / it if isinstance(it, int) else x,
    "type": lambda x, it: x / it if type(it) is int else x,
    "class": lambda x, it: x * len(type("Local", (), {}).__name__) / it,
    "and": lambda x, it: x * (it & 1),
    "or": lambda x, it: x * (it | 4),
    "xor": lambda x, it: x * (it ^ 3),
    "shifts": lambda x, it: x * ((it >> 1) + (1 << it % 8)),
    "arc": lambda x, it: x * math.atan(it) + math.hypot(it, 2) + math.asin(1 / it) + math.atan2(it, 2),
    "in": lambda x, it: x * 2 if it in (3, 5) else x,
    "dropout": lambda x, it: F.dropout(x, max(0.0, 0.0 * it)),
}


def computing(change: Callable[[torch.Tensor, int], torch.Tensor]) -> Callable[[], Training]:
    def training() -> Training:
        model, optimizer = linear()
        it = 0

        def step(x: torch.Tensor) -> torch.Tensor:
            nonlocal it
            it += 1
            return usual_step(model, optimizer, change(x, it))

        return Training(model, optimizer, step)

    return training


for name, change in FORMS.items():
    computing_by = computing(change)
    computing_by.__name__ = f"computes_by_a_counter_{name}"
    case()(computing_by)
