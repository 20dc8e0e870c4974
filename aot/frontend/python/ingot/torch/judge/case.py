"""The case that is judged: the function of an entry point, and steps of a session of its bundle."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from ingot.judge import Undecided
from ingot.session import Session
from ingot.torch.judge.observe import Draws, FoundDraws, Graph
from ingot.torch.text.emit import HELD
from ingot.torch.tracing.calls import Subject
from ingot.torch.tracing.state import State, stored

Tensors = Mapping[str, torch.Tensor]


@dataclass(frozen=True)
class Case:
    """An entry point's function, and a session of its bundle that starts from the state as it is.

    `draws` says what its random ops draw, `state` gives the state as it is, `named` the leaves of what the
    function returns. `batches` has a tensor for each input with the step as first dimension; PyTorch reads `given`.
    With `is_in_part` not all of slow steps need be judged.
    """

    session: Session
    entry: str
    subject: Subject
    draws: Draws | FoundDraws
    training: bool
    state: Callable[[], State]
    named: Callable[[Any], dict[str, Any]]
    batches: Tensors
    given: Tensors
    steps: int
    is_in_part: bool = False


@dataclass(frozen=True)
class Step:
    """A step of the session: the state before and after it, its inputs and outputs, what it drew, and its way."""

    state: Tensors
    inputs: Tensors
    draws: list[list[torch.Tensor]]  # for each random op, tensors among which is what it drew
    outputs: dict[str, Any]
    after: Tensors
    way: Graph | None  # where it was found, and not traced, none is known
    took_s: float


def session_steps(case: Case) -> Iterator[Step]:
    """Runs the session's steps one by one, until one asks for values that are not as they were when it was traced.

    The state after a step is the session's own memory until the next one runs.
    """
    tensors, known = case.state().tensors, {*case.session.state}
    others = {name: stored(tensor.detach()).clone() for name, tensor in tensors.items() if name not in known}
    state = others | _state_of(case.session)
    for i in range(case.steps):
        state.update({name: state[name].clone() for name in known})
        inputs = {name: stored(rows[i]) for name, rows in case.batches.items()}
        way, drawn = case.draws(state, inputs)
        began = time.perf_counter()
        outputs = case.session.entries[case.entry](**inputs)
        took_s = time.perf_counter() - began
        if not outputs.pop(HELD, True):
            if not i:
                raise Undecided("its first step asks for values that are not as they were when it was traced")
            return
        before, state = state, others | _state_of(case.session)
        yield Step(before, inputs, drawn, outputs, state, way, took_s)


def _state_of(session: Session) -> dict[str, torch.Tensor]:
    """The state, in the session's own memory."""
    return {name: session.state.torch(name) for name in session.state}
