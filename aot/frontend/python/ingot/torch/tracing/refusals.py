"""What PyTorch decides in Python by tensors' values, or keeps in Python from call to call: refused before it runs."""

from __future__ import annotations

import inspect
import operator
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.optim.lr_scheduler import LRScheduler

from ingot.torch.base.errors import TraceError
from ingot.torch.base.files import is_users
from ingot.torch.base.places import is_users_code, named_in, place_in, user_frame, user_place
from ingot.torch.base.replacements import FRAME, calling_frame, replaced, with_subclasses
from ingot.torch.base.torch_internals.fake_tensors import FakeTensor
from ingot.torch.base.torch_internals.ops import BASE, VERSION
from ingot.torch.base.torch_internals.optimizers import LBFGS, TO_NUMBER

# A function of a module, or a method of each class that has its own: what is wrong with it, and what to do.
REFUSED: dict[tuple[Any, str], tuple[str, str]] = {
    (LBFGS, TO_NUMBER): (
        "LBFGS looks at losses in Python to choose how far its line search goes",
        "leave optimizer.step(closure) to PyTorch, with the model as ingot.torch.partial(model) or "
        'torch.compile(model, backend="ingot"), or take an optimizer whose steps are all alike, such as Adam',
    ),
    (DistributedDataParallel, "forward"): (
        "DistributedDataParallel trains in several processes, and a program in one",
        "give the program its module, and train in one process",
    ),
    (torch, "save"): (
        "torch.save has nothing to write while it is traced, and a program would not write it again",
        "save between steps",
    ),
    (torch, "manual_seed"): (
        "torch.manual_seed makes every call draw the same numbers, and each step of a program draws others",
        "seed before it is traced: Program(..., seed=...)",
    ),
    (torch, "initial_seed"): (
        "torch.initial_seed is of torch's own generator, and a program draws by itself",
        "pass the number that it would give as an argument",
    ),
    (LRScheduler, "step"): (
        "the scheduler is not the program's, which would forget that it stepped",
        "give it along: ingot.torch.step(model, optimizer, scheduler), Program(model, optimizer, scheduler, "
        "total_steps=...); or step it between the calls",
    ),
}
# What operators of tensors do, which what takes ops apart uses as well.
OPERATORS = {
    name: inspect.getattr_static(torch.Tensor, name)
    for name, value in vars(operator).items()
    if name.startswith("__") and callable(value) and hasattr(torch.Tensor, name)
}
OTHER = "an optimizer that was not given"
# Methods of tensors that tell where they lie.
PLACES = ("data_ptr", "storage", "storage_offset", "untyped_storage", "_is_view")


@contextmanager
def refused(reached: Iterable[Any], given: Iterable[torch.optim.Optimizer]) -> Iterator[None]:
    """Makes what cannot be traced raise TraceError, and all optimizers that are `reached` but were not `given`."""
    for name, method in OPERATORS.items():
        if inspect.getattr_static(torch.Tensor, name) is not method:
            what = f"torch.Tensor.{name} is not PyTorch's own, and PyTorch takes ops apart by it"
            raise TraceError(what, fix="call a function of your own instead of the operator")
    with ExitStack() as undo:
        for (base, name), (what, fix) in REFUSED.items():
            for owner in with_subclasses(base):
                if name in vars(owner):
                    undo.enter_context(replaced(owner, name, _refusing(what, fix)))
        groups = {id(group) for optimizer in given for group in optimizer.param_groups}
        for optimizer in (found for found in reached if isinstance(found, torch.optim.Optimizer)):
            if groups.isdisjoint(map(id, optimizer.param_groups)):
                for name in ("zero_grad", "step"):
                    method, refuse = getattr(optimizer, name), _of_other(optimizer, name)
                    undo.enter_context(replaced(vars(optimizer), name, refuse, kind=OTHER, original=method))
        undo.enter_context(replaced(torch.Tensor, "_version", property(_version)))
        for name in PLACES:
            undo.enter_context(replaced(torch.Tensor, name, _placed(name, getattr(torch.Tensor, name))))
        undo.enter_context(replaced(torch.Tensor, "_base", property(_placed("_base", BASE.__get__))))
        undo.enter_context(replaced(sys, "_getframe", _frame, original=_frame_of_caller))
        for owner in (FakeTensor, torch.SymFloat, torch.SymInt):
            for name in ("__repr__", "__format__"):
                undo.enter_context(replaced(owner, name, _no_text(getattr(owner, name))))
        for name in ("numpy", "__array__"):
            undo.enter_context(replaced(FakeTensor, name, _no_array))
        yield


def _refusing(what: str, fix: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise TraceError(what, user_place(), fix)

    return refuse


def _of_other(optimizer: torch.optim.Optimizer, name: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        called = named_in(user_frame(sys._getframe(1)), optimizer)
        owner = f"`{called}`, a {type(optimizer).__name__}" if called else f"a {type(optimizer).__name__}"
        what = f"calls {name}() of {owner}, which is no optimizer that the step was given"
        fix = "give it: ingot.torch.step(model, optimizer), or several by name, {'outer': ..., 'inner': ...}"
        raise TraceError(what, user_place(), f"{fix}; decorate the function again where it replaces one")

    return refuse


def _version(tensor: torch.Tensor) -> int:
    """How often a tensor was written, which PyTorch's own code may ask."""
    if is_users_code(calling_frame()):
        what = "a tensor's `_version` counts what is written to it, and a program fixes it"
        raise TraceError(what, user_place(), "count calls in a number or a buffer")
    version: int = VERSION.__get__(tensor)
    return version


def _placed(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """Where a tensor lies, which code of libraries may ask."""

    def ask(tensor: torch.Tensor) -> Any:
        if is_users(calling_frame().f_code.co_filename):
            what = f"`{name}` tells where a tensor lies, which is elsewhere in a program, and for each argument"
            raise TraceError(what, user_place(), "tell tensors apart by `is` and id(), and measure by their shapes")
        return method(tensor)

    return ask


def _frame(depth: int = 0) -> FrameType:
    """A frame by ``sys._getframe``, also where `inspect` asks for one that the user's code asks it for."""
    asking = FRAME(2)  # the first is that of what replaces
    if asking.f_code.co_filename == inspect.__file__ and asking.f_back:
        asking = asking.f_back
    if is_users(asking.f_code.co_filename):
        what = "the function looks at the frames of those that call it, whose variables are not watched"
        raise TraceError(what, place_in(asking), "name the variables, or pass what is in them")
    return FRAME(depth + 2)


def _frame_of_caller(depth: int = 0) -> FrameType:
    """The frame that `sys._getframe` gives where something calls it that replaces it."""
    return FRAME(depth + 2)


def _no_array(*_: Any, **__: Any) -> Any:
    fix = "compute with torch, or return it: what a function returns is an output"
    raise TraceError("a tensor has no values that NumPy could take while it is traced", user_place(), fix)


def _no_text(method: Callable[..., str]) -> Callable[..., str]:
    def text(self: Any, *args: Any) -> str:
        if is_users_code(calling_frame()):
            fix = "return it: what a function returns is an output, and logged"
            raise TraceError("a tensor has no value that could be printed while it is traced", user_place(), fix)
        return method(self, *args)

    return text
