"""Numbers that a program computes, made others by Python's ``float(x)`` and ``int(x)``."""

from __future__ import annotations

import collections
import math
from collections.abc import Callable
from typing import Any

import torch
from trainings import Training, linear, usual_step

from carried.case import table
from carried.numbers import INSTEAD, computing

CASES, case = table()


def warms_up(n: int, x: float) -> float:
    return min(1.0, float(n) / float(max(1, 4)))


def follows_a_cosine(n: int, x: float) -> float:
    progress = float(n - 2) / float(max(1, 10 - 2))
    return float(n) / 2 if n < 2 else max(0.0, 0.5 * (1.0 + math.cos(math.pi * 0.5 * 2.0 * progress)))


def halves_by_whole_numbers(n: int, x: float) -> float:
    return 0.5 ** int(x)


def goes_towards_zero(n: int, x: float) -> float:
    return 1 / (5 + int(1.5 - x) + int(n))


def counts_truths(n: int, x: float) -> float:
    return 1 / (1 + int(n > 3) + float(n == 2))


def converts_in_functions_within(n: int, x: float) -> float:
    def rate(k: int) -> float:
        return float(k) / 7

    return sum(float(n + i) for i in range(2)) * rate(n)


def converts_what_it_is_given(n: int, x: float) -> float:
    return int("3") * int("a", base=16) * float("0.01") * int(2.7) / float(n)


def names_types(n: int, x: float) -> float:
    kinds = collections.defaultdict(int)
    kinds[float] += isinstance(x, float) + isinstance(n, int | float) + (type(n) is int)
    return torch.zeros(3, dtype=float).element_size() * kinds[float] / float(n + 30)


def takes_several(n: int, x: float) -> float:
    return 1 / sum(map(float, (n, 2)))


COMPUTED: dict[Callable[[int, float], float], str] = {
    warms_up: "",
    follows_a_cosine: "",
    halves_by_whole_numbers: "",
    goes_towards_zero: "",
    counts_truths: "",
    converts_in_functions_within: "",
    converts_what_it_is_given: "",
    names_types: "",
    takes_several: INSTEAD,
}


def entered(compute: Callable[[int, float], float], message: str) -> None:
    """A case of steps whose batches are multiplied by what is computed of how many there were, and a float of that."""

    def count(held: list[Any]) -> float:
        held[0] += 1
        return compute(held[0], 0.7 * (held[0] % 5))

    def make() -> Training:
        return computing([0], count)

    make.__name__ = f"{compute.__name__}_by_conversions"
    case(message)(make)


for compute, message in COMPUTED.items():
    entered(compute, message)


@case()
def averages_losses_as_floats() -> Training:
    model, optimizer = linear()
    average = [0.0]

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = usual_step(model, optimizer, x)
        average[0] = 0.9 * average[0] + 0.1 * float(loss)
        return loss * average[0]

    return Training(model, optimizer, step)


@case()
def divides_by_a_count_of_a_batch() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        return usual_step(model, optimizer, x / (1 + float((x > 0).sum())))

    return Training(model, optimizer, step)
