"""What functions without arguments tell of the process that a program is traced in."""

from __future__ import annotations

import decimal
import gc
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch

from ingot.torch.reach import codes, users_functions


def _precision() -> tuple[Any, ...]:
    context = decimal.getcontext()
    return context.prec, context.rounding, context.Emin, context.Emax


# What is read where the user's code has a name.
AMBIENT: dict[str, Callable[[], Any]] = {
    "Decimal": _precision,
    "decimal": _precision,
    "get_default_device": lambda: str(torch.get_default_device()),
    **{
        function.__name__: function
        for function in (
            gc.get_threshold,
            gc.isenabled,
            np.get_printoptions,
            np.geterr,
            os.getcwd,
            os.getpid,
            sys.getrecursionlimit,
            sys.getswitchinterval,
            torch.are_deterministic_algorithms_enabled,
            torch.get_float32_matmul_precision,
            torch.get_num_interop_threads,
            torch.get_num_threads,
            torch.initial_seed,
            torch.is_anomaly_enabled,
            torch.is_deterministic_algorithms_warn_only_enabled,
            torch.is_inference_mode_enabled,
        )
    },
}


def told_by(reached: Iterable[Any]) -> list[Callable[[], Any]]:
    """What is read for the names in functions among what is reached."""
    named = {name for f in users_functions(reached) for code in codes(f.__code__) for name in code.co_names}
    return [read for name, read in AMBIENT.items() if name in named]
