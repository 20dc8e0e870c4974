"""Random numbers: Philox 4x32-10 keyed by a seed, counted by the step and the op's stream.

They are reproducible and the same for any number of threads, and they are not PyTorch's bits. The seed is the state
``rng.seed``, the step ``rng.step``; both i64 scalars.
Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

from __future__ import annotations

import math
from typing import Any

from ingot.stablehlo import TensorType, Value
from ingot.torch.text.aten.reductions import first_position
from ingot.torch.text.lowering import Lowering, Operand, aten

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10
DRAWS_MAX = 256
WORD = TensorType("ui32")


def bits(e: Lowering, shape: tuple[int, ...], turn: Value | None = None) -> Value:
    """Random words, ui32; in a loop others in each `turn`, which is a ui32 scalar."""
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
        e.constant(draw, blocks) if turn is None else _draw_of_turn(e, draw, turn, blocks),
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


def _draw_of_turn(e: Lowering, draw: int, turn: Value, blocks: TensorType) -> Value:
    """Numbers that differ for different turns: an op draws less than DRAWS_MAX times outside of loops."""
    spread = e.binary("multiply", turn, e.constant(DRAWS_MAX, turn.type))
    return e.broadcast(e.binary("add", spread, e.constant(draw, turn.type)), blocks.shape)


def product(e: Lowering, x: Value, factor: int) -> tuple[Value, Value]:
    """The high and the low word of a product."""
    wide = e.convert(x, "ui64")
    whole = e.binary("multiply", wide, e.constant(factor, wide.type))
    high = e.binary("shift_right_logical", whole, e.constant(32, wide.type))
    return e.convert(high, "ui32"), e.convert(whole, "ui32")


def uniform(e: Lowering, type_: TensorType, turn: Value | None = None) -> Value:
    """Numbers in [0, 1): 24 bits of them, 32 where the type is f64."""
    words = bits(e, type_.shape, turn)
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


def gaussian(e: Lowering, type_: TensorType, turn: Value | None = None) -> Value:
    """Normal numbers, f32 or f64, of mean 0 and deviation 1: Box and Muller's way."""
    first, second = uniform(e, type_, turn), uniform(e, type_, turn)
    log = e.unary("log_plus_one", e.unary("negate", first))
    radius = e.unary("sqrt", e.binary("multiply", log, e.constant(-2, type_)))
    angle = e.binary("multiply", second, e.constant(2 * math.pi, type_))
    return e.binary("multiply", radius, e.unary("cosine", angle))


@aten("randn.default", "randn_like.default")
def randn(e: Lowering, *_: Any, **__: Any) -> Value:
    """Normal, of mean 0 and deviation 1."""
    wide = e.result.with_dtype("f64" if e.result.dtype == "f64" else "f32")
    return e.convert(gaussian(e, wide), e.result.dtype)


@aten("bernoulli.p", "bernoulli.default")
def bernoulli(e: Lowering, x: Value, p: Operand | None = None, generator: Any = None) -> Value:
    """1 with probability p, or x; else 0."""
    threshold = x if p is None else e.tensor(p, x.type)
    return e.convert(e.compare("LT", uniform(e, x.type), threshold), x.dtype)


def below(e: Lowering, shape: tuple[int, ...], high: int) -> Value:
    """Whole numbers in [0, high), i64, for high up to 2^32."""
    wide = e.convert(bits(e, shape), "ui64")
    scaled = e.binary("multiply", wide, e.constant(high, wide.type))
    return e.convert(e.binary("shift_right_logical", scaled, e.constant(32, wide.type)), "i64")


def whole_between(e: Lowering, low: int, high: int) -> Value:
    """Whole numbers in [low, high), of the result's type."""
    if high - low > 2**32:
        raise e.refuse("random whole numbers of a range above 2^32 are not supported", "combine two of less")
    number = below(e, e.result.shape, high - low)
    return e.convert(e.binary("add", number, e.constant(low, number.type)), e.result.dtype)


@aten("randint.default", "randint_like.default")
def randint(e: Lowering, first: Any, second: Any, *_: Any, **__: Any) -> Value:
    """Whole numbers in [0, high)."""
    return whole_between(e, 0, second if isinstance(first, Value) else first)


@aten("randint.low")
def randint_from(e: Lowering, low: int, high: int, *_: Any, **__: Any) -> Value:
    """Whole numbers in [low, high)."""
    return whole_between(e, low, high)


@aten("randint_like.low_dtype")
def randint_like_from(e: Lowering, _: Value, low: int, high: int, **__: Any) -> Value:
    """Whole numbers in [low, high)."""
    return whole_between(e, low, high)


@aten("randperm.default")
def randperm(e: Lowering, count: int, **_: Any) -> Value:
    """The numbers below `count` in a random order."""
    words = bits(e, (count,))
    return e.convert(e.sort([words, e.iota(0, words.type.with_dtype("i64"))], 0, descending=False)[1], e.result.dtype)


@aten("normal_functional.default")
def normal(e: Lowering, _: Any, mean: float = 0, std: float = 1, *, generator: Any = None) -> Value:
    """Normal, of a mean and a deviation."""
    spread = e.binary("multiply", randn(e), e.constant(std, e.result))
    return e.binary("add", spread, e.constant(mean, e.result))


@aten("prims::normal.default")
def normal_of_shape(e: Lowering, _: Any, *, mean: float, std: float, **__: Any) -> Value:
    """Normal, of a mean and a deviation."""
    return normal(e, None, mean, std)


@aten("multinomial.default")
def multinomial(e: Lowering, x: Value, count: int, replacement: bool = False, *, generator: Any = None) -> Value:
    """Positions along the last dimension, each as likely as its weight says: the greatest of log w + Gumbel noise."""
    wide = e.convert(x, "f64" if x.dtype == "f64" else "f32")
    rank, classes = x.type.rank, x.shape[-1]
    shape = (*x.shape[:-1], count, classes) if replacement else x.shape
    noise_type = TensorType(wide.dtype, shape)
    tiny = e.constant(2.0**-33, noise_type)
    u = e.binary("add", uniform(e, noise_type), tiny)
    gumbel = e.unary("negate", e.unary("log", e.unary("negate", e.unary("log", u))))
    log = e.unary("log", wide)
    if not replacement:
        _, order = e.sort(
            [e.binary("add", log, gumbel), e.iota(rank - 1, x.type.with_dtype("i64"))], rank - 1, descending=True
        )
        return e.slice_dim(order, rank - 1, 0, count)
    scores = e.binary("add", e.broadcast_in_dim(log, shape, [*range(rank - 1), rank]), gumbel)
    return first_position(e, "maximum", scores, -1, False)


@aten("rrelu_with_noise_functional.default")
def rrelu(
    e: Lowering,
    x: Value,
    noise: Value,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Any = None,
) -> tuple[Value, Value]:
    """X where positive, else x times a random slope; and the slopes."""
    one, mean = e.constant(1, x.type), e.constant((lower + upper) / 2, x.type)
    slope = mean if not training else uniform_between(e, x, lower, upper)
    slopes = e.select(e.compare("GT", x, e.constant(0, x.type)), one, slope)
    return e.binary("multiply", x, slopes), slopes if training else noise
