"""Trainings that carry something in Python from call to call, by what carries it."""

from carried import (
    aliases,
    conversions,
    functions,
    habits,
    hidden,
    keys,
    masks,
    modules,
    numbers,
    optimizers,
    outside,
    sources,
    tensors,
    values,
)
from carried.case import HERE, Cases

FILES = (
    *(optimizers, modules, functions, sources, tensors, hidden, outside, values, numbers, masks, keys, habits, aliases),
    conversions,
)
CASES: Cases = {name: case for file in FILES for name, case in file.CASES.items()}

__all__ = ["CASES", "HERE"]
