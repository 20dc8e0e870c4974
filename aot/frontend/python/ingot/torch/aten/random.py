"""Random numbers: Philox 4x32-10 keyed by a seed, counted by the step and the op's stream.

They are reproducible and the same for any number of threads, and they are not PyTorch's bits. The seed is the state
``rng.seed``, the step ``rng.step``; both i64 scalars.
Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

from __future__ import annotations

import math
from typing import Any

from ingot.stablehlo import TensorType, Value
from ingot.torch.lowering import Lowering, Operand, aten

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10
WORD = TensorType("ui32")


def bits(e: Lowering, shape: tuple[int, ...]) -> Value:
    """Random words, ui32."""
    count = math.prod(shape)
    blocks = TensorType("ui32", (max(1, -(-count // 4)),))
    seed, step = e.random_state()
    stream, draw = e.next_draw()
    wide_seed = e.convert(seed, "ui64")
    high_seed = e.binary("shift_right_logical", wide_seed, e.constant(32, wide_seed.type))
    key = [e.broadcast(e.convert(word, "ui32"), blocks.shape) for word in (wide_seed, high_seed)]
    counter = [
        e.iota(0, blocks),
        e.broadcast(e.convert(step, "ui32"), blocks.shape),
        e.constant(stream, blocks),
        e.constant(draw, blocks),
    ]
    for i in range(ROUNDS):
        if i:
            key = [e.binary("add", k, e.constant(w, blocks)) for k, w in zip(key, WEYL, strict=True)]
        (high0, low0), (high1, low1) = (product(e, counter[2 * j], MULTIPLIERS[j]) for j in (0, 1))
        counter = [
            e.binary("xor", e.binary("xor", high1, counter[1]), key[0]),
            low1,
            e.binary("xor", e.binary("xor", high0, counter[3]), key[1]),
            low0,
        ]
    words = e.concatenate(counter, 0)
    return e.reshape(e.slice_dim(words, 0, 0, count), shape)


def product(e: Lowering, x: Value, factor: int) -> tuple[Value, Value]:
    """The high and the low word of a product."""
    wide = e.convert(x, "ui64")
    whole = e.binary("multiply", wide, e.constant(factor, wide.type))
    high = e.binary("shift_right_logical", whole, e.constant(32, wide.type))
    return e.convert(high, "ui32"), e.convert(whole, "ui32")


def uniform(e: Lowering, type_: TensorType) -> Value:
    """Numbers in [0, 1): 24 bits of them, 32 where the type is f64."""
    words = bits(e, type_.shape)
    if type_.dtype == "f64":
        wide = e.convert(words, "f64")
        return e.binary("multiply", wide, e.constant(2.0**-32, wide.type))
    short = e.binary("shift_right_logical", words, e.constant(8, words.type))
    number = e.convert(short, "f32")
    return e.convert(e.binary("multiply", number, e.constant(2.0**-24, number.type)), type_.dtype)


@aten("rand.default", "rand_like.default")
def rand(e: Lowering, *_: Any, **__: Any) -> Value:
    """Uniform in [0, 1)."""
    return uniform(e, e.result)


@aten("uniform.default")
def uniform_between(e: Lowering, x: Value, low: float = 0, high: float = 1, generator: Any = None) -> Value:
    """Uniform in [low, high)."""
    spread = e.binary("multiply", uniform(e, x.type), e.constant(high - low, x.type))
    return e.binary("add", spread, e.constant(low, x.type))


@aten("randn.default", "randn_like.default")
def randn(e: Lowering, *_: Any, **__: Any) -> Value:
    """Normal, of mean 0 and deviation 1: Box and Muller's way."""
    wide = e.result.with_dtype("f64" if e.result.dtype == "f64" else "f32")
    first, second = uniform(e, wide), uniform(e, wide)
    log = e.unary("log_plus_one", e.unary("negate", first))
    radius = e.unary("sqrt", e.binary("multiply", log, e.constant(-2, wide)))
    angle = e.binary("multiply", second, e.constant(2 * math.pi, wide))
    return e.convert(e.binary("multiply", radius, e.unary("cosine", angle)), e.result.dtype)


@aten("bernoulli.p", "bernoulli.default")
def bernoulli(e: Lowering, x: Value, p: Operand | None = None, generator: Any = None) -> Value:
    """1 with probability p, or x; else 0."""
    threshold = x if p is None else e.tensor(p, x.type)
    return e.convert(e.compare("LT", uniform(e, x.type), threshold), x.dtype)
