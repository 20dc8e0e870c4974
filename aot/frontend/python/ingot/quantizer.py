"""The compiler for 8-bit integers, as a function: a program, and data that it sees, become a bundle."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from safetensors.numpy import save_file

from ingot import tool
from ingot.compiler import File, Program, Shapes, shape_options, source_of
from ingot.session import Bundle

Data: TypeAlias = Mapping[str, ArrayLike] | File  # arrays by input, a row for each step; or a file of them


@dataclass(frozen=True)
class Quantized:
    """A bundle of integers, and how far it is from the program of floats.

    `products` are the products and convolutions, in the program's order: of each its ``name``, whether it is
    ``of_integers``, and either ``why`` it is not, or what it reads, from ``low`` to ``high``, and its signal over noise
    beside floats in decibels, ``alone_db`` and ``in_all_db`` with what stands before it; None where it is exact.
    `results` are the results: ``name``, ``db``, ``relative_error``, and of how many ``rows`` the largest element is at
    the same place, ``largest_alike``.
    """

    bundle: Bundle
    products: list[dict[str, Any]]
    results: list[dict[str, Any]]


def quantize(
    program: Program,
    calibration: Data,
    output: File | None = None,
    *,
    measured_on: Data | None = None,
    entry: str | None = None,
    values: str = "minmax",
    percentile: float = 99.99,
    keep: Sequence[str] = (),
    target: str = "host",
    state: File | None = None,
    shapes: Shapes | None = None,
    threads: int = 1,
) -> Quantized:
    """Compiles an entry point of a program with its products and convolutions in integers of 8 bits.

    `program`, `output`, `target`, `state` and `shapes` are those of `ingot.compile`; all weights become constants.
    `calibration` is what the program sees, `measured_on` on what integers are compared with floats, unless it is the
    same. `values` says which numbers the integers stand for: "minmax", all that were seen; "percentile", all but the
    ends, `percentile` of a hundred; "error", those with the least squared error of what was seen. Products whose names
    fit a pattern of `keep` stay in floats.

    Raises CompileError with what the compiler says.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        written = Path(output) if output is not None else folder / "program.ingot"
        options = ["--target", target, "--range", values, "--percentile", repr(percentile), "--threads", str(threads)]
        options += ["--calibration", _data_file(calibration, folder / "calibration.safetensors")]
        if measured_on is not None:
            options += ["--measured-on", _data_file(measured_on, folder / "measured_on.safetensors")]
        for pattern in keep:
            options += ["--keep", pattern]
        if entry is not None:
            options += ["--entry", entry]
        if state is not None:
            options += ["--state", os.fspath(state)]
        options += shape_options(shapes)
        told = tool.call("quantize", source_of(program, folder / "program"), "-o", written, "--json", *options)
        report = json.loads(told)
        return Quantized(Bundle(written), report["products"], report["results"])


def _data_file(data: Data, file: Path) -> str:
    """Where the data lies."""
    if not isinstance(data, Mapping):
        return os.fspath(data)
    save_file({name: np.ascontiguousarray(array) for name, array in data.items()}, file)
    return str(file)
