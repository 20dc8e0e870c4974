"""What functions without arguments tell of the process that a program is traced in."""

from __future__ import annotations

import decimal
import gc
import os
import sys
from collections.abc import Callable, Container
from typing import Any

import numpy as np
import torch


def _precision() -> tuple[Any, ...]:
    context = decimal.getcontext()
    return context.prec, context.rounding, context.Emin, context.Emax


# What is read where the user's code has a name.
AMBIENT: dict[str, Callable[[], Any]] = {
    "Decimal": _precision,
    "decimal": _precision,
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
            torch.get_default_device,
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


def told_by(names: Container[str] | None) -> list[Callable[[], Any]]:
    """What is read for some names in the user's code; for all, where those are not known."""
    return [read for name, read in AMBIENT.items() if names is None or name in names]
