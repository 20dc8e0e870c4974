"""A program beside PyTorch: the same batches, results and state.

Each of some steps of the program is compared by itself, from the state that it started from:

1. *Traced right?* PyTorch's step in f64 beside the traced graph in f64. Rounding plays no part: they are equal to ten
   digits, or the graph is not the function.
2. *Compiled right?* The program's step beside the graph in f64. It may be as far from there as PyTorch's own step is,
   or as rounding takes the graph. What is further in one step alone is chance, such as a sign or a maximum that
   rounding decides; what is further in others too is a difference, of an op that is named, or of the compiled code.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

from ingot.judge import TOLERANCE_FACTOR, Agreement, Undecided
from ingot.torch.judge.case import Case, Step, Tensors, session_steps
from ingot.torch.judge.distance import allowance, distance, size
from ingot.torch.judge.eager import NUMBER, Eager, as_tensor, output_key, run_pytorch
from ingot.torch.judge.observe import Observer
from ingot.torch.judge.part import FLOOR, first_parting
from ingot.torch.judge.reference import Noise, OffWithin, Reference
from ingot.torch.text.loops import Loop, loops_apart
from ingot.torch.tracing.state import stored_values

Ratios = dict[str, float]

SLOW_STEP_S = 0.05  # of a bundle, of which comparing takes 28 to 110 times as long (ResNet-18, 96 x 96)
MOST_OUTPUTS = 4096  # of a bundle
SEEDS = 2
OFF = FLOOR / TOLERANCE_FACTOR  # units by which results of single ops may always be off (`part.py`)
# How a graph is moved, the next where a program is further from exact than rounding took what was before.
OF_UNITS = [Noise(seed) for seed in range(SEEDS)]
NOISES = [*OF_UNITS, *(Noise(seed, OFF, is_measured=True) for seed in range(SEEDS, 2 * SEEDS))]
WIDE_NOISES = [Noise(seed, dtype=torch.float64) for seed in range(SEEDS)]
WIDE_SHARE = 2.0**-16  # of PyTorch's distance from exact in f32, that its own run in f64 may have
OTHERS = "in f64, where rounding plays no part, the function gives other numbers than what was traced of it"
CODE = "each op by itself does what PyTorch's does, the compiled code does not"
FURTHER = "each op by itself does what PyTorch's does; together they are further from f64 than PyTorch is"


class StepJudge:
    """One step of a program, and PyTorch's from the same state."""

    def __init__(self, case: Case, step: Step, eager: Eager) -> None:
        self.step, self._eager = step, eager
        defaults = {n.name: torch.tensor(n.default, dtype=torch.float64) for n in case.subject.changeable}
        self._given = {**defaults, **step.state, **step.inputs}
        outputs = {output_key(name, value): as_tensor(value) for name, value in step.outputs.items()}
        self._keys = [*outputs]
        made = {**step.after, **outputs}
        self._mine = {name: made[name] for name in eager.own}
        self._off_within: OffWithin = {}

    @functools.cached_property
    def exact(self) -> Tensors:
        """Results and state in f64: of the graph, where it is known."""
        return self._eager.wide if self.step.way is None else self._moved(None, self._mine)

    @functools.cached_property
    def _sizes(self) -> Ratios:
        return {name: size(exact) for name, exact in self.exact.items()}

    @functools.cached_property
    def _far(self) -> list[Ratios]:
        """The distances of samples from exact, of which the first is PyTorch's own step."""
        return [self._distances(self._eager.own)]

    def traced_wrong(self) -> Ratios:
        """What PyTorch in f64 gives otherwise than the traced graph in f64, in units of what is allowed."""
        if self.step.way is None:
            return {}
        own = {name: WIDE_SHARE * far for name, far in self._far[0].items()}
        ratios = self._further(self._eager.wide, own, torch.float64)
        if ratios:
            noise = _joined([self._distances(self._moved(noise, ratios)) for noise in WIDE_NOISES])
            ratios = self._further({name: self._eager.wide[name] for name in ratios}, noise, torch.float64)
        if ratios and self._eager.narrow:
            noise = _joined([self._far[0], *(self._distances(self._moved(noise, ratios)) for noise in OF_UNITS)])
            ratios = self._further({name: self._eager.wide[name] for name in ratios}, noise, None)
        return ratios

    def further(self) -> Ratios:
        """What of the program is further from exact than rounding takes it, in units of what is allowed."""
        ratios = self.ratios()
        for noise in NOISES if self.step.way else ():
            further = [name for name, ratio in ratios.items() if ratio > 1]
            if not further:
                break
            self._far.append(self._distances(self._moved(noise, further)))
            ratios = self.ratios()
        return {name: ratio for name, ratio in ratios.items() if ratio > 1}

    def ratios(self, values: Tensors | None = None) -> Ratios:
        """How far values, the program's, are from exact, in units of what is allowed."""
        noise = _joined(self._far)
        far = self._distances(self._mine if values is None else values)
        return {name: x / self._allowed(name, noise, None) for name, x in far.items()}

    def parting(self, made: Mapping[torch.fx.Node, Any]) -> str:
        """The first op whose result is not PyTorch's of the same operands."""
        way = self.step.way
        assert way is not None
        return first_parting(way, [self._given.get(port.name) for port in way.takes], made)

    def observed(self, observers: Sequence[Observer]) -> dict[torch.fx.Node, Any]:
        """What each op makes in bundles that give all of them."""
        made: dict[torch.fx.Node, Any] = {}
        for observe in observers:
            made |= observe(self.step.state, self.step.inputs, made)
        return made

    def results(self, made: Mapping[torch.fx.Node, Any]) -> Tensors:
        """The results and the state among observed values."""
        return {name: stored_values(as_tensor(made.get(node, self._mine[name]))) for name, node in self._nodes.items()}

    @functools.cached_property
    def _nodes(self) -> dict[str, torch.fx.Node]:
        """The graph's nodes of results and state, by name."""
        way = self.step.way
        assert way is not None
        names = [port.name for port in way.takes if port.is_state]
        outputs = zip(self._keys, way.outputs(len(names)), strict=True)
        nodes = dict(outputs) | dict(zip(names, way.states(len(names)), strict=True))
        return {name: nodes[name] for name in self._mine}

    def _moved(self, noise: Noise | None, names: Iterable[str]) -> Tensors:
        """Some results and states as the graph computes them, moved by noise if there is any."""
        assert self.step.way is not None
        nodes = {name: self._nodes[name] for name in names}
        reference = Reference(self.step.way, noise, self._off_within)
        made = reference(self._given, self.step.draws, [*nodes.values()])
        return {name: stored_values(as_tensor(value)) for name, value in zip(nodes, made, strict=True)}

    def _distances(self, values: Tensors) -> Ratios:
        own, exact = self._eager.own, self.exact
        return {name: distance(value, exact[name], own[name]) for name, value in values.items()}

    def _further(self, values: Tensors, noise: Ratios, dtype: torch.dtype | None) -> Ratios:
        ratios = {name: far / self._allowed(name, noise, dtype) for name, far in self._distances(values).items()}
        return {name: ratio for name, ratio in ratios.items() if ratio > 1}

    def _allowed(self, name: str, noise: Ratios, dtype: torch.dtype | None) -> float:
        count = self.exact[name].numel()
        return allowance(self._sizes[name], count, dtype or self._mine[name].dtype, [noise[name]])


def verify(case: Case) -> Agreement:
    """Judges a session's steps by PyTorch's own from the same states, in f64.

    Of slow steps the first alone is judged if it agrees. Nothing but the session is changed. Raises Undecided where
    PyTorch cannot be given what an op drew.
    """
    steps = session_steps(case)
    first = next(steps, None)
    if first is None:
        raise Undecided("there is no step to compare")
    if case.is_in_part and case.steps > 1 and first.took_s > SLOW_STEP_S:
        found = _judged(case, [first])
        if found.holds and not found.by_rounding:
            return dataclasses.replace(found, steps=1)
    return _judged(case, [first, *steps])


def _judged(case: Case, steps: Sequence[Step]) -> Agreement:
    judges = [StepJudge(case, *pair) for pair in zip(steps, run_pytorch(case, steps), strict=False)]
    for judge in judges:
        if wrong := judge.traced_wrong():
            return _agreement(wrong, OTHERS)
    further = {judge: found for judge in judges if (found := judge.further())}
    ratios = _joined([judge.ratios() for judge in judges])
    if not further or any(judge.step.way is None for judge in further):
        return _agreement(ratios)
    is_finite = all(math.isfinite(ratio) for found in further.values() for ratio in found.values())
    return _explained(ratios, further, is_chance=is_finite and len(further) == 1 < len(judges))


def _explained(ratios: Ratios, further: Mapping[StepJudge, Ratios], is_chance: bool) -> Agreement:
    """Whether an op, or the compiled code, is why a program is further from exact than rounding takes it."""
    observers: dict[int, list[Observer]] = {}
    is_of_code = not is_chance
    for judge in further:
        way = judge.step.way
        assert way is not None
        if id(way) not in observers:
            observers[id(way)] = _observers(way)
        made = judge.observed(observers[id(way)])
        if parting := judge.parting(made):
            return _agreement(ratios, parting)
        is_of_code &= all(ratio <= 1 for ratio in judge.ratios(judge.results(made)).values())
    if is_of_code:
        return _agreement(ratios, CODE)
    named = tuple(dict.fromkeys(name for found in further.values() for name in found))
    doubt = "" if is_chance else FURTHER
    return _agreement({name: ratio for name, ratio in ratios.items() if name not in named}, doubt, named)


def _agreement(ratios: Ratios, why: str = "", by_rounding: tuple[str, ...] = ()) -> Agreement:
    """Numbers that are returned are told as losses, other outputs among the tensors."""
    worst_first = dict(sorted(ratios.items(), key=lambda item: -item[1]))
    losses = max((ratio for name, ratio in worst_first.items() if name.startswith(NUMBER)), default=0.0)
    tensors = {name: ratio for name, ratio in worst_first.items() if not name.startswith(NUMBER)}
    return Agreement(losses, tensors, why, by_rounding)


def _joined(ratios: Sequence[Ratios]) -> Ratios:
    """The largest of each tensor of the first."""
    return {name: max(found[name] for found in ratios if name in found) for name in ratios[0]}


def _observers(way: Any) -> list[Observer]:
    """What observes every op, as many together as a bundle has outputs, from what those before observed."""
    ops = [node for part in loops_apart(way.ops) for node in ([part.end] if isinstance(part, Loop) else part)]
    starts = range(0, len(ops), MOST_OUTPUTS)
    return [Observer(way, ops[i : i + MOST_OUTPUTS], dict.fromkeys(ops[:i])) for i in starts]
