"""What is recorded, as text for people."""

from __future__ import annotations

import torch

from ingot.torch.lazy.listing import Listing
from ingot.torch.lazy.recorder import RECORDER
from ingot.torch.lazy.tape import Ref, found
from ingot.torch.lazy.tensor import LazyTensor
from ingot.torch.text.dtypes import dtype_name


def text(*tensors: torch.Tensor) -> str:
    """The ops that tensors wait for, a line each; nothing runs.

    Raises TypeError for a tensor of another device.
    """
    for tensor in tensors:
        if not isinstance(tensor, LazyTensor):
            raise TypeError(f"a tensor of {tensor.device} waits for nothing; give tensors of ingot.torch.device()")
    tape = RECORDER.tape
    roots = [tape.number_of(tensor) - tape.first for tensor in tensors]
    listing = Listing(tape.calls)
    ops = listing.needed(roots)
    named = {number for op in ops for number in (*(r.number for r in found((op.args, op.kwargs), Ref)), *op.results)}
    lines = [_line(listing, number, "input()", roots) for number in listing.inputs if number in named | {*roots}]
    for op in ops:
        made = [number for number in op.results if number is not None]
        arguments = [*map(str, op.args), *(f"{name}={value}" for name, value in op.kwargs.items())]
        call = f"{op.plan.function}({', '.join(arguments)})"
        lines += [_line(listing, number, call, roots) for number in made] or [f"  {call}"]
    return "\n".join(["IR {", *lines, "}"])


def _line(listing: Listing, number: int, what: str, roots: list[int]) -> str:
    layout = listing.layouts[number]
    root = f", ROOT={roots.index(number)}" if number in roots else ""
    return f"  %{number} = {dtype_name(layout.dtype)}[{','.join(map(str, layout.shape))}] {what}{root}"
