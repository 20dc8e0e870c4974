"""What a function takes numbers from: iterators, generators, random numbers of Python's and NumPy's."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import torch
from trainings import Training, linear, usual_step

from carried.case import table

CASES, case = table()


@case(r"`numbers` from count\(2\) to count\(3\)")
def takes_from_an_iterator() -> Training:
    model, optimizer = linear()
    numbers = itertools.count(1)

    def step(x: torch.Tensor) -> torch.Tensor:
        return usual_step(model, optimizer, x / next(numbers))  # here

    return Training(model, optimizer, step)


@case(r"`scales: k` from 1 to 2")
def takes_from_a_generator() -> Training:
    model, optimizer = linear()

    def every() -> Any:
        k = 0
        while True:
            k += 1  # here
            yield 1 / k

    scales = every()
    return Training(model, optimizer, lambda x: usual_step(model, optimizer, x * next(scales)))


@case(r"other random numbers of `random`; draw them with torch")
def augments_by_python() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        return usual_step(model, optimizer, x * random.uniform(0.5, 1.5))  # here

    return Training(model, optimizer, step)


@case(r"other random numbers of `numpy\.random`")
def augments_by_numpy() -> Training:
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        if np.random.rand() < 0.5:  # here
            x = x.flip(0)
        return usual_step(model, optimizer, x)

    return Training(model, optimizer, step)


@case(r"other random numbers of `rng`")
def augments_by_a_generator_of_numpy() -> Training:
    model, optimizer = linear()
    rng = np.random.default_rng(0)

    def step(x: torch.Tensor) -> torch.Tensor:
        return usual_step(model, optimizer, x * rng.uniform(0.5, 1.5))  # here

    return Training(model, optimizer, step)


@case(r"`numbers's part 0\[1\]'s part 1` from 1 to 2")
def takes_from_an_iterator_of_an_iterator() -> Training:
    model, optimizer = linear()
    numbers = map(float, range(1, 10))

    def step(x: torch.Tensor) -> torch.Tensor:
        return usual_step(model, optimizer, x / next(numbers))  # here

    return Training(model, optimizer, step)


@case()
def reseeds_itself() -> Training:
    """Python's random numbers that are the same in each call are numbers."""
    model, optimizer = linear()

    def step(x: torch.Tensor) -> torch.Tensor:
        scale = random.Random(3).uniform(0.5, 1.5)
        return usual_step(model, optimizer, x * scale)

    return Training(model, optimizer, step)
