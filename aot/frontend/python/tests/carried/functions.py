"""Functions that carry something in closures, globals, defaults, iterators and generators of random numbers."""

from __future__ import annotations

import collections
import decimal
import enum
import math
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import torch
from trainings import Training, linear, usual_step

from carried.case import table

CASES, case = table()
COUNT = 0


def rate(it: int) -> float:
    return 0.1 * (1 + math.cos(math.pi * it / 10))


@case()
def sets_the_rate_by_a_closure() -> Training:
    model, optimizer = linear()
    it = 0

    def step(x: torch.Tensor) -> torch.Tensor:
        nonlocal it
        for group in optimizer.param_groups:
            group["lr"] = rate(it)
        it += 1
        return usual_step(model, optimizer, x)

    return Training(model, optimizer, step)


@case()
def sets_the_rate_by_a_global() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        global COUNT
        COUNT += 1
        return usual_step(model, optimizer, x / COUNT)

    return Training(model, optimizer, step)


@case()
def counts_in_a_function_that_it_calls() -> Training:
    model, optimizer = linear()

    def next_scale() -> float:
        global COUNT
        COUNT += 1
        return 1 / COUNT

    return Training(model, optimizer, lambda x: usual_step(model, optimizer, x * next_scale()))


@case()
def counts_in_a_default() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor, calls: list[int] = [0]) -> torch.Tensor:  # noqa: B006
        calls[0] += 1
        return usual_step(model, optimizer, x / calls[0])

    return Training(model, optimizer, step)


@case()
def counts_in_an_attribute_of_the_function() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        step.calls += 1
        return usual_step(model, optimizer, x / step.calls)

    step.calls = 0
    return Training(model, optimizer, step)


@case()
def counts_in_the_trainer() -> Training:
    class Trainer:
        def __init__(self) -> None:
            self.model, self.optimizer = linear()
            self.it = 0

        def step(self, x: torch.Tensor) -> torch.Tensor:
            self.it += 1
            return usual_step(self.model, self.optimizer, x / self.it)

    trainer = Trainer()
    return Training(trainer.model, trainer.optimizer, trainer.step)


@case()
def counts_in_a_callable() -> Training:
    class Trainer:
        __slots__ = ("it", "model", "optimizer")

        def __init__(self) -> None:
            self.model, self.optimizer = linear()
            self.it = 0

        def __call__(self, x: torch.Tensor) -> torch.Tensor:
            self.it += 1
            return usual_step(self.model, self.optimizer, x / self.it)

    trainer = Trainer()
    return Training(trainer.model, trainer.optimizer, lambda x: trainer(x))


@case()
def counts_deep_inside() -> Training:
    model, optimizer = linear()
    settings = SimpleNamespace(train={"it": 0})

    def step(x: torch.Tensor) -> torch.Tensor:
        settings.train["it"] += 1
        return usual_step(model, optimizer, x * 0.9 ** settings.train["it"])

    return Training(model, optimizer, step)


@case()
def accumulates_every_third_call() -> Training:
    model, optimizer = linear()
    it = 0

    def step(x: torch.Tensor) -> torch.Tensor:
        nonlocal it
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        it += 1
        if it % 3 == 0:
            optimizer.step()
        return loss

    return Training(model, optimizer, step)


@case()
def warms_up_and_decays() -> Training:
    """As in nanoGPT: three ways by a counter, a cosine, a minimum and a remainder."""
    model, optimizer = linear()
    it = 0

    def rate_of(it: int) -> float:
        if it < 2:
            return 0.1 * (it + 1) / 2
        if it > 4:
            return 0.01
        return 0.01 + 0.045 * (1 + math.cos(math.pi * (it - 2) / 2))

    def step(x: torch.Tensor) -> torch.Tensor:
        nonlocal it
        optimizer.param_groups[0]["lr"] = rate_of(it)
        it += 1
        return usual_step(model, optimizer, x * min(1.0, it / 4) + it % 3 - it // 2)

    return Training(model, optimizer, step)


@case()
def goes_back_to_the_start() -> Training:
    model, optimizer = linear()
    state = {"it": 0, "rounds": 0}

    def step(x: torch.Tensor) -> torch.Tensor:
        state["it"] += 1
        if state["it"] == 3:
            state["it"] = 0
            state["rounds"] += 1
        return usual_step(model, optimizer, x / (1 + state["rounds"]))

    return Training(model, optimizer, step)


@case()
def remembers_a_number_of_a_tensor() -> Training:
    model, optimizer = linear()
    best = [100.0]

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = usual_step(model, optimizer, x)
        best[0] = min(best[0], loss.item())
        return loss + best[0]

    return Training(model, optimizer, step)


@case(r"`it` from 1 to 2")
def looks_a_rate_up_by_a_counter() -> Training:
    model, optimizer = linear()
    rates, it = [0.1, 0.05, 0.02, 0.01, 0.01, 0.01], 0

    def step(x: torch.Tensor) -> torch.Tensor:
        nonlocal it
        optimizer.param_groups[0]["lr"] = rates[it]
        it += 1  # here
        return usual_step(model, optimizer, x)

    return Training(model, optimizer, step)


@case()
def cuts_a_counter_to_a_whole_number() -> Training:
    model, optimizer = linear()
    it = 0

    def step(x: torch.Tensor) -> torch.Tensor:
        nonlocal it
        it += 1
        return usual_step(model, optimizer, x * int(it / 2))

    return Training(model, optimizer, step)


@case(r"`phase` is '\w+' or '\w+' after a call, as Python chooses")
def names_a_phase_by_a_counter() -> Training:
    model, optimizer = linear()
    it, phase = 0, "cold"

    def step(x: torch.Tensor) -> torch.Tensor:
        nonlocal it, phase
        it += 1
        if it > 3:
            phase = "warm"
        return usual_step(model, optimizer, x)

    return Training(model, optimizer, step)


@case(r"`it` from 1 to 2")
def chooses_in_too_many_ways() -> Training:
    model, optimizer = linear()
    it = 0

    def step(x: torch.Tensor) -> torch.Tensor:
        nonlocal it
        it += 1  # here
        for bit in range(5):
            if it % (2 << bit) > bit:
                x = x + bit
        return usual_step(model, optimizer, x)

    return Training(model, optimizer, step)


@case(r"what the function returns depends on numbers that the program computes")
def returns_something_else_at_times() -> Training:
    model, optimizer = linear()
    it = 0

    def step(x: torch.Tensor) -> torch.Tensor | dict[str, torch.Tensor]:
        nonlocal it
        it += 1
        loss = usual_step(model, optimizer, x)
        return loss if it % 2 else {"loss": loss}

    return Training(model, optimizer, step)


@case(r"`len\(history\)` from 1 to 2")
def looks_at_how_long_it_trained() -> Training:
    model, optimizer = linear()
    history: list[float] = []

    def step(x: torch.Tensor) -> torch.Tensor:
        scale = 0.5 if len(history) > 3 else 1.0
        history.append(scale)  # here
        return usual_step(model, optimizer, x * scale)

    return Training(model, optimizer, step)


@case(r"`len\(losses\)` from 1 to 2")
def averages_its_losses() -> Training:
    model, optimizer = linear()
    losses: list[torch.Tensor] = []

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = usual_step(model, optimizer, x).detach()
        losses.append(loss)  # here
        return sum(losses) / len(losses)

    return Training(model, optimizer, step)


@case(r"reads the tensor `last\['loss'\]`.*neither an argument nor state")
def smooths_its_loss() -> Training:
    model, optimizer = linear()
    last: dict[str, torch.Tensor] = {"loss": torch.zeros(())}

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = usual_step(model, optimizer, x).detach()
        last["loss"] = 0.5 * last["loss"] + loss  # here
        return last["loss"]

    return Training(model, optimizer, step)


@case()
def compares_with_its_last_loss() -> Training:
    model, optimizer = linear()
    last = [1.0]

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        (loss / last[0]).backward()
        last[0] = loss.item()
        optimizer.step()
        return loss

    return Training(model, optimizer, step)


@case(r"`len\(recent\)` from 2 to 3")
def keeps_the_last_few() -> Training:
    model, optimizer = linear()
    recent: collections.deque[int] = collections.deque([0], maxlen=3)

    def step(x: torch.Tensor) -> torch.Tensor:
        recent.append(len(recent))  # here
        return usual_step(model, optimizer, x / sum(recent))

    return Training(model, optimizer, step)


@case(r"`scales` from array\(\[0\.5, 1\. \]\) to array\(\[0\.25, 1\.  \]\)")
def changes_an_array() -> Training:
    model, optimizer = linear()
    scales = np.ones(2)

    def step(x: torch.Tensor) -> torch.Tensor:
        scales[0] *= 0.5  # here
        return usual_step(model, optimizer, x * float(scales[0]))

    return Training(model, optimizer, step)


class Phase(enum.Enum):
    WARM, COLD = 1, 2


@case(r"`phase` from <Phase.COLD: 2> to <Phase.WARM: 1>")
def changes_between_phases() -> Training:
    model, optimizer = linear()
    phase = Phase.WARM

    def step(x: torch.Tensor) -> torch.Tensor:
        nonlocal phase
        phase = Phase.COLD if phase is Phase.WARM else Phase.WARM  # here
        return usual_step(model, optimizer, x)

    return Training(model, optimizer, step)


@case(r"`used\[0\]` from `scales\[1\]` to `scales\[2\]`")
def changes_what_a_name_is_of() -> Training:
    """What it changes to is known already, by another path."""
    model, optimizer = linear()
    scales = [{"by": 1.0}, {"by": 1.0}, {"by": 2.0}]
    used = [scales[0]]

    def step(x: torch.Tensor) -> torch.Tensor:
        y = x * used[0]["by"]
        used[0] = scales[1] if used[0] is scales[0] else scales[2]  # here
        return usual_step(model, optimizer, y)

    return Training(model, optimizer, step)


@case()
def counts_by_a_name_that_another_has() -> Training:
    model, optimizer = linear()
    count = 3

    def counter() -> Callable[[], int]:
        count = 0

        def following() -> int:
            nonlocal count
            count += 1
            return count

        return following

    following = counter()
    return Training(model, optimizer, lambda x: usual_step(model, optimizer, x * count / following()))


@case(r"`total` from Decimal\('0\.1'\) to Decimal\('0\.2'\)")
def counts_in_decimals() -> Training:
    model, optimizer = linear()
    total = decimal.Decimal(0)

    def step(x: torch.Tensor) -> torch.Tensor:
        nonlocal total
        total += decimal.Decimal("0.1")  # here
        return usual_step(model, optimizer, x * float(total))

    return Training(model, optimizer, step)


@case()
def counts_within_a_call() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        scale = 0
        for _ in range(3):
            scale += 1
        return usual_step(model, optimizer, x / scale)

    return Training(model, optimizer, step)
