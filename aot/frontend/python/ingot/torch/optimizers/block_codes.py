"""Moments of 8 bits an element: of each block the greatest size, and of each element a code for its share of that.

Source: Dettmers, Lewis, Shleifer, Zettlemoyer, "8-bit Optimizers via Block-wise Quantization", ICLR 2022, arXiv
2110.02861. Theirs are the nearest entries of a table, found by a search; these are made by a shift, so that a program
needs no table: a share y in [0, 1] has the upper bits of the f32 y + offset, less those of the offset. That is three
bits of mantissa, steps that are all alike near 0, and 0 has code 0.

Rounding is dithered: an average that moves by less than half a step would stay where it is under rounding to the
nearest. An element's dither is a Weyl sequence over the steps, without state: codes are right in the mean over steps.
All of it is arithmetic of 32-bit integers that wrap, the same on every machine, as in ``aot/optim/block_codes.cc``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch

MOST_IN_BLOCK, LEAST_IN_BLOCK, LEAST_CODED = 256, 64, 4096
CODED_TYPES = (torch.float32, torch.bfloat16, torch.float16)
DROPPED_BITS = 20  # of an f32: 3 of its mantissa stay
EXPONENT_BIAS, MANTISSA_BITS = 127, 23
SIGN = 0x80

# Parts of a turn, in 2^-32, by which the dither moves from element to element and from step to step: those of the root
# of 2 and of the golden ratio.
OF_ELEMENT, OF_STEP = 0x6A09E667, 0x9E3779B9


@dataclass(frozen=True)
class CodeFormat:
    """How values of a moment become codes: shares well below 2^exponent are as good as lost."""

    exponent: int
    is_signed: bool
    phase: int  # where the dither starts, in 2^-32 of a step

    @property
    def offset(self) -> float:
        """What is added to a share."""
        return 2.0**self.exponent

    @property
    def first(self) -> int:
        """The offset's upper bits."""
        return (EXPONENT_BIAS + self.exponent) << (MANTISSA_BITS - DROPPED_BITS)


MEAN = CodeFormat(-15, True, 0)  # bit 7 is the sign
SQUARE = CodeFormat(-31, False, 0x80000000)  # what is more than 0 has a code of at least 1


class Coded(NamedTuple):
    """Blocks of codes, u8 [blocks, elements], and their scales, f32 [blocks]."""

    codes: torch.Tensor
    scales: torch.Tensor


def block_elements(tensor: torch.Tensor) -> int:
    """How many elements each block of a tensor has: the largest divisor of their number up to 256.

    It is 0 where that is less than 64, and where a tensor is small or of another type: it is better kept as it is.
    """
    count = tensor.numel()
    if tensor.dtype not in CODED_TYPES or count < LEAST_CODED:
        return 0
    block = next(size for size in range(MOST_IN_BLOCK, 0, -1) if count % size == 0)
    return block if block >= LEAST_IN_BLOCK else 0


def encode(values: torch.Tensor, format: CodeFormat, step: torch.Tensor) -> Coded:
    """Codes of values, f32 [blocks, elements]; `step`, a scalar, is how often they were encoded, with this time."""
    sizes = values.abs()
    scales = sizes.amax(1)
    shares = sizes / torch.where(scales == 0, 1.0, scales).unsqueeze(1)
    bits = (shares + format.offset).view(torch.int32) + _dither(values, format, step)
    size_codes = (bits >> DROPPED_BITS) - format.first
    if format.is_signed:
        codes = size_codes | (values < 0).to(torch.int32) * SIGN
    else:
        codes = torch.maximum(size_codes, (values > 0).to(torch.int32))
    return Coded(codes.to(torch.uint8), scales)


def decode(coded: Coded, format: CodeFormat) -> torch.Tensor:
    """What codes stand for, f32 [blocks, elements]."""
    codes = coded.codes.to(torch.int32)
    size_codes = codes & (SIGN - 1) if format.is_signed else codes
    shares = ((size_codes + format.first) << DROPPED_BITS).view(torch.float32) - format.offset
    if format.is_signed:
        shares = torch.where(codes >= SIGN, -shares, shares)
    return shares * coded.scales.unsqueeze(1)


def _dither(values: torch.Tensor, format: CodeFormat, step: torch.Tensor) -> torch.Tensor:
    """What is added before bits are dropped, of those: i32 [blocks, elements]."""
    turn = step.to(device=values.device, dtype=torch.int32) * _signed(OF_STEP) + _signed(format.phase)
    block, element = (torch.arange(size, dtype=torch.int32, device=values.device) for size in values.shape)
    turns = (block * _signed(OF_ELEMENT * values.shape[1])).unsqueeze(1) + (element * OF_ELEMENT + turn)
    return (turns >> (32 - DROPPED_BITS)) & ((1 << DROPPED_BITS) - 1)


def _signed(number: int) -> int:
    """The 32-bit integer with a number's lowest bits."""
    word = number & 0xFFFFFFFF
    return word - (1 << 32) if word >> 31 else word
