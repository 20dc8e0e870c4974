"""Trainings that carry something in Python from call to call, by what carries it."""

from carried import functions, hidden, modules, optimizers, tensors
from carried.case import HERE, Cases

CASES: Cases = optimizers.CASES | modules.CASES | functions.CASES | tensors.CASES | hidden.CASES

__all__ = ["CASES", "HERE"]
