"""Python's numbers where a program's are others: integers without end, divisions by 0, and their exceptions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import torch
from trainings import Training, linear, usual_step

from carried.case import table

CASES, case = table()
WIDE = r"and a program's have 64 bits; use a float"


def computing(start: list[Any], compute: Callable[[list[Any]], float]) -> Training:
    """Steps whose batches are multiplied by what is computed of numbers that are carried, which that may change."""
    model, optimizer = linear()
    held = [*start]
    return Training(model, optimizer, lambda x: usual_step(model, optimizer, x * compute(held)))


def doubled(held: list[Any]) -> float:
    held[0] = held[0] * 2
    return 1 / (1 + held[0] % 7)


def added(held: list[Any]) -> float:
    held[0], held[1] = held[1], held[0] + held[1]
    return 1 / (1 + held[0] % 7)


def drawn(held: list[Any]) -> float:
    held[0] = (held[0] * 1103515245 + 12345) % 2**31
    return held[0] / 2**31


def hashed(held: list[Any]) -> float:
    held[0] = (held[0] * 31 + 7) & 0xFFFFFF
    return held[0] / 2**24


def shifted(held: list[Any]) -> float:
    held[0] += 1
    return 1 / (1 << held[0])


def shifted_in_turn(held: list[Any]) -> float:
    held[0] += 1
    return 1 / (1 << held[0] % 10)


def divided(held: list[Any]) -> float:
    try:
        rate = held[0] / held[1]
    except ZeroDivisionError:
        rate = 0.5
    held[1] += held[0]
    held[0] += 1.0
    return rate


def divided_whole(held: list[Any]) -> float:
    held[0] -= 1
    try:
        return 10 // held[0]
    except ZeroDivisionError:
        return 2


def divided_by_a_setting(held: list[Any]) -> float:
    """Where it is never less than 0, nothing is divided by 0."""
    rate = (held[0] + 1) / 0 if held[0] < 0 else 1.0
    held[0] += 1
    return rate / held[0]


@case(WIDE)
def doubles_an_integer() -> Training:
    return computing([1], doubled)


@case(WIDE)
def adds_two_integers() -> Training:
    return computing([1, 1], added)


@case(WIDE)
def shifts_by_a_counter() -> Training:
    return computing([0], shifted)


@case()
def shifts_by_a_part_of_a_counter() -> Training:
    return computing([0], shifted_in_turn)


@case()
def draws_by_an_integer() -> Training:
    return computing([12345], drawn)


@case()
def hashes_an_integer() -> Training:
    return computing([17], hashed)


@case()
def divides_by_zero_at_first() -> Training:
    return computing([0.0, 0.0], divided)


@case()
def divides_by_zero_at_last() -> Training:
    return computing([4], divided_whole)


@case()
def divides_by_zero_where_it_never_comes() -> Training:
    return computing([0], divided_by_a_setting)


@case()
def takes_the_largest_of_what_it_goes_through() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        return usual_step(model, optimizer, x * max(group["lr"] for group in optimizer.param_groups))

    return Training(model, optimizer, step)


INSTEAD = r"a program carries numbers that it computes: write 2\.0 \*\* n for 2 \*\* n, float\(n\) for each"


def counting(factor: Callable[[int], float], message: str = "") -> Callable[[], Training]:
    """Enters steps whose batches are multiplied by what is computed of a counter."""

    def count(held: list[Any]) -> float:
        held[0] += 1
        return factor(held[0])

    def make() -> Training:
        return computing([0], count)

    return case(message)(make)


COUNTED: dict[str, tuple[Callable[[int], float], str]] = {
    "power_of_a_float": (lambda n: 2.0**-n, ""),
    "halves_by_stages": (lambda n: 0.5 ** (n // 2), ""),
    "halves_of_even_ones": (lambda n: 1.0 if (n / 2).is_integer() else 0.5, ""),
    "stages_and_places": (lambda n: 1 / (1 + n // 3 + n % 3), ""),
    "power_of_an_integer": (lambda n: 2**-n, INSTEAD),
    "stages_and_places_at_once": (lambda n: sum(divmod(n, 3)), ""),
    "greatest_divisor": (lambda n: math.gcd(n, 6), INSTEAD),
    "root_of_an_integer": (lambda n: math.isqrt(n), INSTEAD),
    "digits": (lambda n: n.bit_length(), INSTEAD),
    "element": (lambda n: (1.0, 2.0, 3.0)[n % 3], INSTEAD),
}
for name, (factor, message) in COUNTED.items():
    counted = counting(factor, message)
    counted.__name__ = f"counts_{name}"
    CASES[counted.__name__] = CASES.pop("make")


@case(r"roll.default takes a number that Python computes in each call")
def rolls_by_a_counter() -> Training:
    model, optimizer = linear()
    turn = [0]

    def step(x: torch.Tensor) -> torch.Tensor:
        turn[0] += 1
        return usual_step(model, optimizer, torch.roll(x, turn[0], 1))  # here

    return Training(model, optimizer, step)


def whole_thirds(held: list[Any]) -> float:
    held[0] = (held[0] + 0.7) % 5.0
    return 1 / (1 + math.floor(held[0]))


@case()
def makes_a_float_whole_by_floor() -> Training:
    return computing([0.0], whole_thirds)


@case(r"the second call changes `turn's part 0\[0\]'s part 1`")
def takes_factors_in_turn() -> Training:
    turn = itertools.cycle([1.0, 2.0, 3.0])
    return computing([], lambda _: next(turn))
