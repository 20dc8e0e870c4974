"""Errors that a function raises while it is traced, as PyTorch raises them, and whose they are."""

from __future__ import annotations

import dis
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from ingot.torch.base.files import OWN_FILES, TORCH
from ingot.torch.base.torch_internals import pytree, without_functions
from ingot.torch.base.torch_internals.modes import no_modes

RAISE = dis.opmap["RAISE_VARARGS"]
# PyTorch's Python code that checks what users give it, among its files.
CHECKING = tuple(f"{TORCH}{part}" for part in ("nn/", "optim/", "distributions/", "functional.py", "_tensor.py"))
FAKES_LOG = logging.getLogger("torch._subclasses.fake_tensor")  # logs each error of an op, with its stack


def raise_as_pytorch(func: Any, args: Any, kwargs: Any) -> None:
    """Raises what PyTorch raises of an op on tensors with values, if it raises: its texts differ without values."""
    with no_modes(), without_functions(), torch.random.fork_rng(devices=[]), torch.no_grad():
        leaves = pytree.arg_tree_leaves(*args, **kwargs)
        if any(isinstance(leaf, torch.SymInt | torch.SymFloat | torch.SymBool) for leaf in leaves):
            return
        args, kwargs = pytree.tree_map_only(torch.Tensor, _with_values, (args, kwargs))
        try:
            func(*args, **kwargs)
        except Exception as error:
            raise error.with_traceback(None) from None


def is_of_call(error: BaseException | None) -> bool:
    """Whether PyTorch raises an error too: the user's code does, or checks of arguments, or an op with values did."""
    step = error.__traceback__ if error else None
    while step and step.tb_next:
        step = step.tb_next
    if step is None:
        return False
    code = step.tb_frame.f_code
    if code is raise_as_pytorch.__code__:
        return True
    is_framework = code.co_filename.startswith((TORCH, OWN_FILES)) and not code.co_filename.startswith(CHECKING)
    return not is_framework and code.co_code[step.tb_lasti] == RAISE


@contextmanager
def unlogged() -> Iterator[None]:
    """PyTorch does not log errors of ops without values in this thread: they are raised."""
    thread = threading.get_ident()

    def is_logged(record: logging.LogRecord) -> bool:
        return record.thread != thread

    FAKES_LOG.addFilter(is_logged)
    try:
        yield
    finally:
        FAKES_LOG.removeFilter(is_logged)


def _with_values(tensor: torch.Tensor) -> torch.Tensor:
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype).zero_()
