"""Says why no program fits a call: in a warning once for each cause, or as an error."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Iterator
from typing import Any

import torch

from ingot.torch.base.errors import TraceError, of_contract
from ingot.torch.base.torch_internals import pytree
from ingot.torch.run import SETTINGS, Options
from ingot.torch.running.redecorated import Programs
from ingot.torch.runs import MOST_PROGRAMS, Runs
from ingot.torch.tracer import Call
from ingot.torch.tracing.containers import ByIdentity
from ingot.torch.tracing.left_out import NotTaken

KEEP = "keep it as it is, pass it as a tensor, or allow on_change='retrace'"
ONE_SHAPE = "; batches of one shape need one program: DataLoader(drop_last=True), or buckets=ingot.torch.Buckets(...)"

A_NUMBER = re.compile(r"` is [-+.e\d]+, and was ")
A_TENSOR = "; a tensor of it is an input: torch.tensor(...)"


class Changes:
    """Finds why no program of one step fits a call, and warns of it."""

    def __init__(
        self, name: str, options: Options, programs: Programs, runs: Runs, signature: inspect.Signature
    ) -> None:
        """`signature` is that of the function of positions."""
        self._name, self._options, self._programs, self._runs = name, options, programs, runs
        self._parameters = [*signature.parameters]

    def of(self, call: Call) -> str:
        """Why no program fits a call, "" if there are none; raises TraceError where changes are errors."""
        change = self._change(call) if self._runs else ""
        if change and self._options.on_change == "error":
            raise TraceError(f"{self._name}: {change}; a program has that fixed", fix=KEEP)
        return change

    def say_traced_again(self, change: str, reads_more: bool) -> None:
        """Says once that a program was not enough, what another costs, and whether that is for what changed."""
        if change and self._programs.is_first(f"changed {change.partition(' is ')[0]}"):
            later = "and is read in each call from now on" if reads_more else "as it will be for each other one"
            again = f"it is traced again, in {self._runs.accounts[-1].whole_s:.1f} s, {later}"
            way_out = ONE_SHAPE if " tensor of shape [" in change else ""
            way_out = A_TENSOR if A_NUMBER.search(change) and not reads_more else way_out
            warnings.warn(
                f"{self._name}: {change}; a program has that fixed: {again}{way_out}",
                stacklevel=5,
            )

    def _change(self, call: Call) -> str:
        """Compares a call with the last program that has its key, or else with the last program."""
        if change := self._runs.change(call.key):
            return change
        spec, settings, kinds, *_ = self._runs.keys[-1]
        for name, before, now in zip(SETTINGS, settings, call.key[1], strict=True):
            if before != now:
                return of_contract(f"{name} is {now}, and was {before}", 3)
        if spec == call.key[0]:
            given = pytree.tree_leaves(call.example)
            for i, path in enumerate(_paths(self._parameters, call.args)):
                if kinds[i] != call.key[2][i]:
                    now = repr(given[i]) if i in call.numbers else _text(call.key[2][i])
                    return of_contract(f"`{path}` is {now}, and was {_text(kinds[i])}", 3)
        return of_contract("the form of its arguments is another", 3)

    def are_too_many(self, call: Call) -> bool:
        """Whether no more programs are traced: further calls are PyTorch's, which is said once."""
        if not self._runs.are_full or self._options.on_change == "error":
            return False
        if self._programs.is_first("full"):
            what = f"{self._change(call)}; a program has that fixed, and {MOST_PROGRAMS} were traced"
            how = "calls that are none of theirs are PyTorch's; pass what changes as a tensor"
            warnings.warn(f"{self._name}: {what}: {how}", stacklevel=4)
        return True


def _paths(parameters: list[str], args: tuple[Any, ...]) -> Iterator[str]:
    """The path of each leaf of the arguments, from the name of its parameter."""
    for (first, *rest), _ in pytree.tree_flatten_with_path(args)[0]:
        name = parameters[first.idx] if first.idx < len(parameters) else f"argument {first.idx}"
        yield f"{name}{pytree.keystr(tuple(rest))}"


def _text(kind: tuple[Any, ...]) -> str:
    """A leaf's part of the key, as text."""
    if isinstance(kind[0], torch.Size):
        shape, dtype, requires_grad, *_ = kind
        of = " that requires gradients" if requires_grad else ""
        return f"a {str(dtype).removeprefix('torch.')} tensor of shape {[*shape]}{of}"
    return "another object" if kind[0] in (ByIdentity, NotTaken) else str(kind[1])
