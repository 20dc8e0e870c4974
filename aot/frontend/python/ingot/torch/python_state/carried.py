"""Numbers that Python carries from call to call: state of the program, found where Python holds them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch.optim.lr_scheduler import LRScheduler

from ingot.torch.base.errors import TraceError
from ingot.torch.base.keywords import FLOATS
from ingot.torch.base.places import user_place
from ingot.torch.python_state.held import Entry, Holder, Variable, Written
from ingot.torch.python_state.reach import LAST_RATES
from ingot.torch.python_state.snapshot import Leaf, Snapshot

PREFIX = "carried."
STEPPED = {LAST_RATES, "last_epoch", "_step_count"}  # attributes of schedulers
DTYPES = {int: torch.int64, float: torch.float64}
Kind = type[int] | type[float]


class Number:
    """An int or a float of Python's, where Python holds it; in a program it is a scalar of the state."""

    def __init__(self, path: str, leaf: Leaf, kind: Kind) -> None:
        assert isinstance(leaf.read, Written)
        self.name = PREFIX + path
        self.kind = kind
        self.at = leaf.read
        self._holders = [holder for holder in _outwards(leaf.holder) if holder.read() is holder.value]

    @property
    def place(self) -> tuple[int, Any]:
        """Which place it is."""
        return self.at.place

    @property
    def entry(self) -> tuple[int, Any]:
        """What of a container changes with it."""
        return id(self.at.container), "" if isinstance(self.at, Variable) else self.at.key

    @property
    def is_held(self) -> bool:
        """Whether the objects on the way to it are those that they were."""
        return all(holder.read() is holder.value for holder in self._holders)

    def get(self) -> Any:
        """What Python holds.

        Raises TraceError where that is no number of its kind any more.
        """
        value = self.at()
        value = float(value) if type(value) in FLOATS else value
        if type(value) not in ((int,) if self.kind is int else (int, float)):
            path, kind = self.name.removeprefix(PREFIX), self.kind.__name__
            what = f"`{path}` is {value!r}, and {kind} in the program, which carries it from call to call"
            raise TraceError(what, fix=f"give it {kind} values only")
        if self.kind is int and not -(2**63) <= value < 2**63:
            what = f"`{self.name.removeprefix(PREFIX)}` is {value}, and a program's integers have 64 bits"
            raise TraceError(what, fix="use a float, or keep it small: n = n % 1_000_003")
        return value

    def set(self, value: Any) -> None:
        """Gives it to Python."""
        self.at.write(value)

    def tensor(self) -> torch.Tensor:
        """The scalar that it is in a program."""
        return torch.tensor(self.get(), dtype=DTYPES[self.kind])


def _outwards(holder: Holder | None) -> Iterable[Holder]:
    while holder:
        yield holder
        holder = holder.outer


Numbers = Mapping[str, Number]


def numbers_at(kinds: Mapping[tuple[int, Any], Kind], snapshot: Snapshot) -> dict[str, Number]:
    """The numbers at some places, by name; those that are none, or are not found, are left out."""
    found: dict[tuple[int, Any], Number] = {}
    for path, leaf in snapshot.leaves.items():
        if not isinstance(leaf.read, Written) or leaf.read.place not in kinds:
            continue
        if type(value := leaf.read()) in (int, *FLOATS):
            kind = kinds[leaf.read.place] if type(value) is int else float
            found.setdefault(leaf.read.place, Number(path, leaf, kind))
    return {number.name: number for number in found.values()}


def kinds_of_schedulers(snapshot: Snapshot, given: Iterable[LRScheduler]) -> dict[tuple[int, Any], Kind]:
    """Where schedulers hold rates and counters, which their steps change between calls, other than those `given`."""
    own = {*map(id, given)}
    kinds: dict[tuple[int, Any], Kind] = {}
    for leaf in snapshot.leaves.values():
        read, holders = leaf.read, [holder.value for holder in _outwards(leaf.holder)]
        if not isinstance(read, Entry) or read.key not in STEPPED or not isinstance(holders[0], LRScheduler):
            continue
        if type(value := read()) in DTYPES and not own & {*map(id, holders)}:
            kinds[read.place] = type(value)
    return kinds


def numbers_of(kinds: Mapping[str, Kind], snapshot: Snapshot) -> dict[str, Number]:
    """The numbers at some paths, by name."""
    found = [Number(path, snapshot.leaves[path], kind) for path, kind in kinds.items()]
    return {number.name: number for number in found}


def load_numbers(values: Mapping[str, torch.Tensor], snapshot: Snapshot) -> None:
    """Gives numbers that a program saved to Python, and to tensors there; warns of those that are not found."""
    for name in values:
        path = name.removeprefix(PREFIX)
        if path == name:
            continue
        value, leaf = values[name].item(), snapshot.leaves.get(path)
        if leaf and isinstance(held := leaf.read(), torch.Tensor):
            held.fill_(value)
        elif leaf and isinstance(leaf.read, Written):
            leaf.read.write(value)
        else:
            warnings.warn(f"`{path}` was {value}, which is the script's to set", stacklevel=3)


class Lent:
    """Numbers while a call is traced: Python holds what the program computes with."""

    def __init__(self, numbers: Numbers, tensors: Mapping[str, torch.Tensor]) -> None:
        self._numbers, self._tensors = numbers, tensors
        # Of clones: a tensor gives the same symbol again, which would be the call before's.
        self.symbols: dict[str, Any] = {name: tensors[name].clone().item() for name in numbers}
        for name, number in numbers.items():
            number.set(self.symbols[name])

    def read(self) -> dict[str, torch.Tensor]:
        """What Python holds after the call, as scalars."""
        return {name: self._scalar(name, number) for name, number in self._numbers.items()}

    def _scalar(self, name: str, number: Number) -> torch.Tensor:
        value = number.at()
        if value is self.symbols[name]:
            return self._tensors[name]
        allowed = (int, torch.SymInt) if number.kind is int else (int, float, torch.SymInt, torch.SymFloat)
        if isinstance(value, allowed) and not isinstance(value, bool):
            return torch.scalar_tensor(value, dtype=DTYPES[number.kind])
        what = (
            f"`{name.removeprefix(PREFIX)}` was {number.kind.__name__}, and is a {type(value).__name__} after the call"
        )
        raise TraceError(
            what, user_place(), "keep it a number of one type, or in a tensor that is a buffer of the model"
        )
