"""Trainings that carry something in Python from call to call, by what carries it."""

from carried import functions, hidden, masks, modules, optimizers, tensors, values
from carried.case import HERE, Cases

CASES: Cases = (
    optimizers.CASES | modules.CASES | functions.CASES | tensors.CASES | hidden.CASES | values.CASES | masks.CASES
)

__all__ = ["CASES", "HERE"]
