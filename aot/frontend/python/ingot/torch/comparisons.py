"""Compares a step with PyTorch for arguments of new shapes, and again at growing intervals."""

from __future__ import annotations

import logging
import math
import time
import warnings
from collections.abc import Sequence

import torch

from ingot.judge import Undecided
from ingot.torch.base.errors import of_contract
from ingot.torch.base.replacements import exclusive
from ingot.torch.optimizers.slots import drop_slots, parameters_with_slots
from ingot.torch.run import VERIFIED_STEPS, DisagreementError, Options, Run, shapes_of
from ingot.torch.tracer import Call

LOG = logging.getLogger(__name__)
FIRST_CALL = 1000  # the first spot check; each later one is at twice the call number
SHARE = 0.01  # of the time since the step was compiled: the most that a spot check may take


class Comparisons:
    """Compares the programs of one step with PyTorch.

    A program is compared with arguments of new shapes before it runs on the live state. Spot checks find changes that
    are not watched, at calls 1,000, 2,000, 4,000 and so on.
    A spot check is skipped if the last comparison took more than 1 % of the time since the step was compiled.
    """

    def __init__(self, name: str, options: Options, optimizers: Sequence[torch.optim.Optimizer]) -> None:
        self._name, self._options, self._optimizers = name, options, optimizers
        self.calls = 0  # of the step, which counts them
        self._next_call = FIRST_CALL if options.verify and options.spot_checks else math.inf  # of the next spot check
        self._seconds, self._since = 0.0, time.perf_counter()

    def with_new_shapes(self, run: Run, call: Call) -> None:
        """Compares a program with PyTorch if the shapes of the arguments are new to it.

        Warns if they cannot be compared. Raises DisagreementError if they differ by more than rounding, or if they
        cannot be compared and buckets pad the arguments.
        """
        if not self._options.verify or (shapes := shapes_of(call.unpadded)) in run.verified:
            return
        known, began = parameters_with_slots(self._optimizers), time.perf_counter()
        try:
            with run.account.doing("comparing"):
                run.compare(self._name, call.tensors, call.unpadded, VERIFIED_STEPS)
            if run.keep:
                run.keep()
        except Undecided as error:
            if self._options.buckets:
                what = f"{self._name} cannot be shown to be right for padded batches: {error}"
                raise DisagreementError(what) from error
            warnings.warn(f"{self._name} is not verified: {error}", stacklevel=5)
        drop_slots(self._optimizers, known)
        run.verified.append(shapes)
        self._seconds = time.perf_counter() - began

    def still_agrees(self, run: Run, tensors: tuple[torch.Tensor, ...]) -> bool:
        """Makes a spot check if one is due; returns False, with a warning, if the program differs.

        Returns True if the check is not due, skipped, or cannot be made. Raises DisagreementError instead of the
        warning if `on_change` is "error".
        """
        if self.calls < self._next_call:
            return True
        while self._next_call <= self.calls:
            self._next_call *= 2
        began = time.perf_counter()
        if self._seconds > SHARE * (began - self._since):
            return True
        try:
            with exclusive():
                run.compare(self._name, tensors, tensors, steps=1)
        except DisagreementError as error:
            if self._options.on_change == "error":
                raise
            what = of_contract("something changed that is not watched: the program is no longer what PyTorch does", 9)
            warnings.warn(f"{self._name}: {what}, and is traced again: {error}", stacklevel=4)
            return False
        except Exception as error:  # if the step itself fails, the call after this raises
            LOG.debug("%s is not compared again: %s", self._name, error)
        self._seconds = time.perf_counter() - began
        return True
