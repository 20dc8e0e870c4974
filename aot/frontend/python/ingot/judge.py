"""The judge of whole trainings: a bundle may be three times as far from the reference as rounding takes the framework.

The reference is the framework in f64, or in f32 where that is enough. How far rounding takes it is measured: the same
steps in f32, and again with every f32 value moved by about one unit in the last place before each step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ingot._engine import Error

SHAKES = 4
ONE_ULP = 2.0**-23
TOLERANCE_FACTOR = 3
MOST_NOISE = 0.2  # of a loss or a state; with more, nothing would be judged
MOST_SHOWN = 5  # tensors in a report
OUTPUT_FLOOR, STATE_FLOOR = 1e-6, 1e-5  # where nothing can be told from noise


class Undecided(Error, AssertionError):
    """Rounding alone moves the reference so far that nothing can be judged."""


Run = tuple[list[float], Mapping[str, Any]]  # losses, the last state


@dataclass(frozen=True)
class Agreement:
    """How far a bundle is from the reference, in units of what rounding allows: at most 1 agrees."""

    losses: float
    tensors: Mapping[str, float]  # of the state, the worst first
    parting: str = ""  # where it differs: the first op that does, if it is known
    by_rounding: tuple[str, ...] = ()  # tensors of which rounding decides how far they are apart
    steps: int = 0  # that were judged, if not all were

    @property
    def holds(self) -> bool:
        """Whether the bundle agrees."""
        return self.holds_within(1)

    def holds_within(self, most: float) -> bool:
        """Whether nothing is further from the reference than `most` times what rounding allows."""
        return self.losses <= most and self.state <= most

    @property
    def state(self) -> float:
        """How far the worst tensor of the state is."""
        return next(iter(self.tensors.values()), 0.0)

    def __str__(self) -> str:
        worst = ", ".join(f"{name} {ratio:.2g}" for name, ratio in [*self.tensors.items()][:MOST_SHOWN])
        parts = [f"times what rounding allows: losses {self.losses:.2g}, {worst}", self.parting]
        if self.by_rounding:
            parts.append(f"rounding alone decides {_first(self.by_rounding)}")
        return "; ".join(("agrees" if self.holds else "differs", *filter(None, parts)))


def judge(reference: Run, runs: list[Run], mine: Run, distance: Callable[[Any, Any], float]) -> Agreement:
    """Judges what a bundle did by the framework's own f32 runs; `distance` is of one tensor from its reference.

    Raises Undecided where rounding alone decides a tensor, as the gradient of a bias before a normalisation.
    """
    loss_noise = max(furthest(run[0], reference[0]) for run in runs)
    noise = {name: max(distance(run[1][name], value) for run in runs) for name, value in reference[1].items()}
    if unknown := [name for name, far in {"loss": loss_noise, **noise}.items() if not math.isfinite(far)]:
        raise Undecided(f"the reference has no finite numbers: {_first(unknown)}")
    chaos = {name: far for name, far in {"loss": loss_noise, **noise}.items() if far > MOST_NOISE}
    if chaos:
        shown = _first([f"{name} {far:.2g}" for name, far in chaos.items()])
        raise Undecided(f"rounding alone decides: take a lower learning rate or another seed; {shown}")
    ratios = {
        name: distance(mine[1][name], reference[1][name]) / (TOLERANCE_FACTOR * far + STATE_FLOOR)
        for name, far in noise.items()
    }
    worst_first = dict(sorted(ratios.items(), key=lambda item: -item[1]))
    of_losses = furthest(mine[0], reference[0]) / (TOLERANCE_FACTOR * loss_noise + OUTPUT_FLOOR)
    return Agreement(of_losses, worst_first)


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_SHOWN} others" if len(names) > MOST_SHOWN else ""
    return ", ".join(names[:MOST_SHOWN]) + more


def furthest(losses: list[float], reference: list[float]) -> float:
    """The largest relative distance of one step's loss."""
    return max((abs(a - b) / (abs(b) or 1) for a, b in zip(losses, reference, strict=True)), default=0.0)
