"""Batches of any number of rows in a few programs: padded with rows that weigh nothing."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ingot.torch.base.errors import TraceError


@dataclass(frozen=True)
class Buckets:
    """How a step's batches are padded: to the next power of two of rows, at least `least`.

    `rows` names the parameters whose first dimension is padded, with their last row again; `weights` the one that has
    a number for each row, which padding makes 0. The step must be one to which such rows make no difference: it
    returns scalars, and is compared with PyTorch's on the batch as it was given for each number of rows.
    """

    rows: Sequence[str]
    weights: str
    least: int = 1

    def padded(self, signature: inspect.Signature, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments with the rows of a bucket.

        Raises TraceError for parameters that there are not, and for such as are no tensors of the same rows.
        """
        bound = signature.bind(*args)
        given = bound.arguments
        counts = {name: _row_count(name, given.get(name)) for name in (*self.rows, self.weights)}
        if len(set(counts.values())) > 1:
            raise TraceError(f"parameters are padded together, but have other rows: {counts}")
        count = counts[self.weights]
        more = max(self.least, 1 << (count - 1).bit_length()) - count
        for name in counts if more else ():
            value = given[name]
            last = torch.zeros_like(value[-1:]) if name == self.weights else value[-1:]
            given[name] = torch.cat([value, last.expand(more, *value.shape[1:])])
        return bound.args


def _row_count(name: str, value: Any) -> int:
    if not isinstance(value, torch.Tensor) or not value.dim() or not len(value):
        raise TraceError(f"`{name}` is padded, but is no tensor with rows", fix="name the parameters that are")
    return len(value)
