"""What functions without arguments tell of the process that a program is traced in."""

from __future__ import annotations

import decimal
import gc
import locale
import logging
import os
import resource
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch

from ingot.torch.python_state.reach import codes, users_functions


def _precision() -> tuple[Any, ...]:
    context = decimal.getcontext()
    return context.prec, context.rounding, context.Emin, context.Emax


def _flags() -> Any:
    context = decimal.getcontext()
    return {**context.flags}, {**context.traps}


def _zone() -> Any:
    return time.timezone, time.altzone, time.tzname


def _levels() -> Any:
    loggers = [(n, log) for n, log in logging.root.manager.loggerDict.items() if isinstance(log, logging.Logger)]
    levels = {name: (log.level, log.disabled) for name, log in loggers if log.level or log.disabled}
    return logging.root.level, logging.root.manager.disable, levels


LIMITS = [number for name, number in vars(resource).items() if name.startswith("RLIMIT_")]


def _settings_of(library: str) -> str:
    """The settings of a library that is loaded, as text."""
    module = sys.modules.get(library)
    return repr(SETTINGS[library](module)) if module else ""


SETTINGS: dict[str, Callable[[Any], Any]] = {
    "pandas": lambda pandas: object.__getattribute__(pandas.options, "d"),
    "sklearn": lambda sklearn: sklearn.get_config(),
}
# What is read where the user's code has a name.
AMBIENT: dict[str, Callable[[], Any]] = {
    "Decimal": _precision,
    "decimal": _precision,
    **dict.fromkeys(("flags", "traps"), _flags),
    **dict.fromkeys(("getenv", "getenvb", "environb", "expandvars", "expanduser"), lambda: {**os.environ}),
    **dict.fromkeys(("localtime", "mktime", "ctime", "fromtimestamp", "tzname"), _zone),
    **dict.fromkeys(("setlocale", "getlocale", "localeconv", "format_string"), lambda: locale.setlocale(locale.LC_ALL)),
    **dict.fromkeys(("getLogger", "isEnabledFor", "getEffectiveLevel"), _levels),
    "warn": lambda: [*warnings.filters],
    "getsignal": lambda: [*map(signal.getsignal, signal.valid_signals())],
    "current_thread": lambda: threading.current_thread().name,
    "sched_getaffinity": lambda: os.sched_getaffinity(0),
    "getrlimit": lambda: [*map(resource.getrlimit, LIMITS)],
    **dict.fromkeys(("get_option", "options"), lambda: _settings_of("pandas")),
    "get_config": lambda: _settings_of("sklearn"),
    "get_default_device": lambda: str(torch.get_default_device()),
    **{
        function.__name__: function
        for function in (
            gc.get_debug,
            gc.get_freeze_count,
            gc.get_threshold,
            gc.isenabled,
            np.get_printoptions,
            np.geterr,
            os.getcwd,
            os.getpid,
            sys.getrecursionlimit,
            sys.get_int_max_str_digits,
            sys.getswitchinterval,
            threading.active_count,
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
    held = {id(value) for value in reached}
    return [*dict.fromkeys(read for name, read in AMBIENT.items() if name in named or id(read) in held)]
