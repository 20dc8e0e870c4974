"""Random ops of checkpointed code, which draw the same numbers in backward as in forward.

PyTorch saves its generator's state before such an op. Here the state's first bytes are a seed of the op's own.
"""

from __future__ import annotations

from typing import Any

from ingot.stablehlo import TensorType, Value
from ingot.torch.text.lowering import TABLE, Lowering, aten, overload_name

BYTES = TensorType("ui64", (8,))  # of a seed
SPREAD = 0x9E3779B97F4A7C15  # an odd number near 2^64 / 1.618: seeds of different ops are far apart
DRAWING = 0, -1  # stream and number of the op, the same both times


@aten("run_and_save_rng_state")
def run_and_save(e: Lowering, op: Any, *args: Any, **kwargs: Any) -> tuple[Value, Any]:
    """A state that holds a seed, and what the op gives with it."""
    stream, _ = e.next_draw()
    first = e.convert(e.random_state()[0], "ui64")
    seed = e.binary("add", first, e.constant(stream * SPREAD % 2**64, first.type))
    shifted = e.binary("shift_right_logical", e.broadcast(seed, BYTES.shape), _shifts(e))
    octets = e.convert(e.binary("and", shifted, e.constant(255, BYTES)), "ui8")
    padding = e.constant(0, TensorType("ui8", (e.result.shape[0] - BYTES.shape[0],)))
    state = e.concatenate([octets, padding], 0)
    return state, _with_seed(e, seed, 1, op, args, kwargs)


@aten("run_with_rng_state")
def run_again(e: Lowering, state: Value, op: Any, *args: Any, **kwargs: Any) -> Any:
    """What the op gives with the seed in the state."""
    octets = e.convert(e.slice_dim(state, 0, 0, BYTES.shape[0]), "ui64")
    return _with_seed(e, e.reduce("or", e.binary("shift_left", octets, _shifts(e)), [0]), 0, op, args, kwargs)


def _shifts(e: Lowering) -> Value:
    return e.binary("multiply", e.iota(0, BYTES), e.constant(8, BYTES))


def _with_seed(e: Lowering, seed: Value, first: int, op: Any, args: Any, kwargs: Any) -> Any:
    """Lowers the op, whose results are those from the `first` on."""
    before, results = e.random, e.results
    e.random, e.results = (e.convert(seed, "i64"), e.constant(0, TensorType("i64"))), results[first:]
    e.draw_for(*DRAWING)
    made = TABLE[overload_name(op)](e, *args, **kwargs)
    e.random, e.results = before, results
    return made
