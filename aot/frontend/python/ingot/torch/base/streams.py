"""Which random numbers each op draws: streams, that PyTorch's own generator counts while a function is traced.

So a function that puts the generator back, as checkpointing does before it computes again, draws the same again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def counted_streams() -> Iterator[None]:
    """Counts from 1; the generator is as before afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(1)
        yield


def next_stream(generator: torch.Generator | None = None) -> tuple[int, int]:
    """The stream of the next random op, below 2^32, and where its generator was before it."""
    own = _next_seed(torch.default_generator)
    return int(own % 2**32), own if generator is None else _next_seed(generator)


def _next_seed(generator: torch.Generator) -> int:
    seed: int = generator.initial_seed()
    generator.manual_seed((seed + 1) % 2**63)
    return seed
