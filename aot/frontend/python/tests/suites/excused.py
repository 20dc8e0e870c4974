"""Ops whose values may differ from PyTorch's by right; their shapes and element types may not."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

NARROW = ("bfloat16", "float16")


@dataclass(frozen=True)
class Excuse:
    """Why the values of some cases may differ, by a pattern of their whole name; no `dtypes` are all."""

    names: str
    reason: str
    dtypes: Collection[str] = ()


EXCUSES = (
    Excuse(r"(new_)?empty(_like|_strided|_permuted)?", "the values of memory that nobody wrote are not defined"),
    Excuse(r"(msort|sort|argsort)", "an unstable sort leaves the order of equal values open"),
    Excuse(r"(byte|char|short|int|long|bool)(\..*)?", "float to integer is undefined in C++ for values out of range"),
    Excuse(r"(linalg\.eigh?|linalg\.svd|svd|linalg\.qr|qr|geqrf)", "the signs of vectors are not defined"),
    Excuse(r"special\.bessel_[jy][01]", "PyTorch's are off by up to 4e-7 for arguments from 3 to 14", ("float64",)),
    Excuse(r"(pca|svd)_lowrank", "the signs of vectors are not defined, and the projection is random"),
    Excuse(r"nn\.functional\.scaled_dot_product_attention", "PyTorch's kernel rounds within to bfloat16", NARROW),
    Excuse(r"Muon.*", "Muon orthogonalises in bfloat16, whatever its parameters are of"),
)


def excuse(name: str, dtype: str) -> str:
    """The reason why a case's values may differ, "" where they may not."""
    for excused in EXCUSES:
        if re.fullmatch(excused.names, name) and (not excused.dtypes or dtype in excused.dtypes):
            return excused.reason
    return ""
