"""The seed of each call of a compiled step: drawn from PyTorch's generators, or fixed and counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ingot.torch.text.emit import SEED, STEP

DRAWN_BITS = 63


class RandomKeys:
    """What the random ops of a step's programs are keyed by: ``rng.seed`` and ``rng.step``.

    Without a seed each call draws one from the generators that the function draws from. So torch.manual_seed and
    torch.set_rng_state do what they do in PyTorch. With a seed the calls are counted.
    """

    def __init__(self, seed: int | None) -> None:
        self._is_drawn = seed is None
        with torch.inference_mode(False):
            self.tensors = {SEED: torch.tensor(seed or 0), STEP: torch.tensor(0)}

    def begin_call(self, generators: Sequence[torch.Generator | None]) -> None:
        """Draws the seed of a call; `generators` are those that the function draws from, None the default one."""
        if not self._is_drawn:
            return
        seed = self.tensors[SEED]
        seed.random_(generator=generators[0])
        for generator in generators[1:]:
            seed ^= torch.randint(2**DRAWN_BITS - 1, (), generator=generator)
        self.tensors[STEP].zero_()

    def state_dict(self) -> dict[str, Any]:
        """The seed, and how many calls were counted; empty where PyTorch's generators have it all."""
        return {} if self._is_drawn else {name: int(tensor) for name, tensor in self.tensors.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from what `state_dict` gave; raises ValueError for that of a step with another kind of seed."""
        if {*state} != {*self.state_dict()}:
            mine, other = ("without", "with") if self._is_drawn else ("with", "without")
            raise ValueError(f"the state is of a step that was compiled {other} seed=..., and this one is {mine}")
        for name, value in state.items():
            self.tensors[name].fill_(value)
