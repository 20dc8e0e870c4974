"""Questions about values in traced functions that have an answer.

What only guards a ``raise``, or ``sys.exit()``, is taken to pass, as programs raise nothing; those of steps in this
process say whether it did, and change nothing where it did not (`choices.py`): the checks that PyTorch's
losses and distributions make of their arguments, a user's ``assert``. And random numbers in [0, 1) are not below 0,
which models ask whose layers drop out with probability 0.
"""

from __future__ import annotations

import dis
import sys
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any

import torch
from torch.fx.experimental.proxy_tensor import get_proxy_mode, get_proxy_slot
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from ingot.torch.base.files import OWN_FILES
from ingot.torch.base.replacements import replaced
from ingot.torch.base.torch_internals.fake_tensors import DataDependentOutputException, FakeTensor
from ingot.torch.base.torch_internals.ops import COND

aten = torch.ops.aten
# Frames in these files ask what was asked of them.
PASSING_FILES = (OWN_FILES, COND.__file__ or "")
BEFORE_CHOICES = ("TO_BOOL", "EXTENDED_ARG")  # what asks, from Python 3.13 on, and what may stand between
UNIFORM = (aten.rand.default, aten.rand_like.default)


def passing_checks() -> AbstractContextManager[Any]:
    """Answers for tensors whose values are not known, where one answer would only raise, or cannot be."""
    return replaced(FakeTensor, "__bool__", _truth)


def _truth(tensor: torch.Tensor) -> bool:
    try:
        return torch.Tensor.__bool__(tensor)  # type: ignore[no-any-return]
    except (GuardOnDataDependentSymNode, DataDependentOutputException):
        answers = (passing_answer(asking_frame()), answer_of_range(tensor))
        known = next((answer for answer in answers if answer is not None), None)
        if known is None:
            raise
        return known


def asking_frame() -> FrameType:
    """The innermost frame that neither this package nor ``torch.cond`` is."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(PASSING_FILES) and frame.f_back:
        frame = frame.f_back
    return frame


def answer_of_range(tensor: torch.Tensor) -> bool | None:
    """Whether a uniform random number is below another, where all or none are; None if that is not what is asked."""
    mode = get_proxy_mode()
    asked = mode and get_proxy_slot(tensor, mode.tracer, None)
    node = asked and asked.proxy.node
    if not node or node.target is not aten.lt.Scalar or node.args[0].target not in UNIFORM or 0 < node.args[1] < 1:
        return None
    return bool(node.args[1] >= 1)


def passing_answer(frame: FrameType) -> bool | None:
    """The answer to the test that a frame is at whose opposite always raises, or ends Python; None if there is none."""
    code = {instruction.offset: instruction for instruction in dis.get_instructions(frame.f_code)}
    following = dict(zip(code, list(code)[1:], strict=False))
    test = code.get(frame.f_lasti)
    while test and (test.opname in BEFORE_CHOICES or test.argrepr.startswith("bool(")):  # the latter is a comparison
        test = code.get(following.get(test.offset, -1))
    if not test or not is_choice(test):
        return None
    jumps_if = test.opname.endswith("IF_TRUE")
    if raises(code, following, test.argval):
        return not jumps_if
    return jumps_if if raises(code, following, following[test.offset]) else None


def is_choice(instruction: dis.Instruction) -> bool:
    """Whether an instruction jumps if something is true, or false."""
    return "JUMP" in instruction.opname and instruction.opname.endswith(("IF_TRUE", "IF_FALSE"))


def ends_python(instruction: dis.Instruction, following: dis.Instruction | None) -> bool:
    """Whether ``sys.exit``, ``exit`` or ``quit`` is looked up, to be called."""
    if instruction.opname != "LOAD_GLOBAL":
        return False
    is_exit = following and following.opname in ("LOAD_ATTR", "LOAD_METHOD") and following.argval == "exit"
    return bool(instruction.argval in ("exit", "quit") or (instruction.argval == "sys" and is_exit))


def raises(code: dict[int, dis.Instruction], following: dict[int, int], offset: int) -> bool:
    """Whether every way on from an offset comes to a ``raise``, or ends Python, without a loop."""
    while True:
        instruction = code[offset]
        if instruction.opname == "RAISE_VARARGS" or ends_python(instruction, code.get(following.get(offset, -1))):
            return True
        if instruction.opname.startswith(("RETURN", "FOR_ITER", "YIELD", "SEND")) or "BACKWARD" in instruction.opname:
            return False
        if is_choice(instruction) and not raises(code, following, instruction.argval):
            return False
        offset = instruction.argval if instruction.opname == "JUMP_FORWARD" else following.get(offset, -1)
        if offset < 0:
            return False
