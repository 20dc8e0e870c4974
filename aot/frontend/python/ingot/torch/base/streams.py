"""Which random numbers each op draws: streams, that a generator counts while a function is traced.

It is PyTorch's own generator to the function. So a function that puts it back, as checkpointing does before it
computes again, draws the same again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch

from ingot.torch.base.errors import TraceError
from ingot.torch.base.replacements import replaced

# The first seed of the count. Its low 32 bits are 1, the first stream; the others make it a seed that nobody gives.
START = (0x2545F491 << 32) + 1

_counters: list[torch.Generator] = []


@contextmanager
def counted_streams() -> Iterator[None]:
    """Counts; PyTorch's generator is as before afterwards.

    It counts itself where there are no other threads, which would seed it and draw from it meanwhile. Where there are,
    another one counts. Raises TraceError where ``torch.default_generator`` itself is given a seed meanwhile.
    """
    is_alone = threading.active_count() == 1
    counter = torch.default_generator if is_alone else torch.Generator()
    methods = {
        "get_rng_state": counter.get_state,
        "set_rng_state": counter.set_state,
        "manual_seed": counter.manual_seed,
    }
    with ExitStack() as undo:
        undo.enter_context(torch.random.fork_rng(devices=[], enabled=is_alone))
        for name, method in methods.items():
            undo.enter_context(replaced(torch.random, name, method))
            if name != "manual_seed":  # which is refused there
                undo.enter_context(replaced(torch, name, method))
        counter.manual_seed(START)
        _counters.append(counter)
        undo.callback(_counters.pop)
        seed, state = torch.default_generator.initial_seed(), torch.default_generator.get_state()
        yield
        if not is_alone and torch.default_generator.initial_seed() != seed:
            torch.default_generator.set_state(state)
            what = "torch.default_generator is given a seed while the function is traced"
            raise TraceError(what, fix="seed before it is traced: Program(..., seed=...)")


def are_counted(seeds: set[int]) -> bool:
    """Whether these are all seeds that were counted so far. They are not where a function seeds or restores."""
    following = _counters[-1].initial_seed()
    return len(seeds) == following - START and all(START <= seed < following for seed in seeds)


def next_stream(generator: torch.Generator | None = None) -> tuple[int, int]:
    """The stream of the next random op, below 2^32, and where its generator was before it."""
    own = _next_seed(_counters[-1])
    is_own = generator is None or generator is torch.default_generator
    return int(own % 2**32), own if is_own else _next_seed(generator)


def _next_seed(generator: torch.Generator) -> int:
    seed: int = generator.initial_seed()
    generator.manual_seed((seed + 1) % 2**63)
    return seed
