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


def next_stream() -> int:
    """The stream of the next random op, below 2^32."""
    seed = torch.default_generator.initial_seed()
    torch.default_generator.manual_seed(seed + 1)
    return int(seed % 2**32)
