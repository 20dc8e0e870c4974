"""Which object a number or a tensor is: Python's ``is``, where what a program computes with stands for it.

Functions of the user's that say ``is`` are given code that asks here, while they are traced.
"""

from __future__ import annotations

import dis
import itertools
import operator
import types
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch

from ingot.torch.base.errors import TraceError
from ingot.torch.base.files import is_users
from ingot.torch.base.places import user_place
from ingot.torch.base.replacements import by_thread, replaced
from ingot.torch.base.torch_internals.dynamo import bytecode
from ingot.torch.numbers.arithmetic import PYTHONS
from ingot.torch.python_state.reach import codes

IS = "IS_OP"
SYMBOLIC = torch.SymInt | torch.SymFloat | torch.SymBool
TYPES = {symbolic: type(number) for symbolic, number in PYTHONS.items()}


def is_same(one: Any, other: Any) -> Any:
    """``one is other`` as of Python's own: there is one True and one False, and a tensor is what stands in for it.

    Raises TraceError for other numbers.
    """
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return hash(one) == hash(other)
    one, other = (TYPES.get(x, x) if isinstance(x, type) else x for x in (one, other))
    if one is other or not any(isinstance(x, SYMBOLIC) for x in (one, other)):
        return one is other
    if isinstance(one, bool):
        one, other = other, one
    if isinstance(one, torch.SymBool) and isinstance(other, bool):
        return one if other else torch.sym_not(one)
    if all(isinstance(x, int | float | SYMBOLIC) for x in (one, other)):
        what = "`is` asks which object a number is, and Python computes this one anew in each call"
        raise TraceError(what, user_place(), "compare with ==")
    return False


def is_other(one: Any, other: Any) -> Any:
    """``one is not other``."""
    same = is_same(one, other)
    return torch.sym_not(same) if isinstance(same, torch.SymBool) else not same


ASKING = {0: by_thread(is_same, operator.is_), 1: by_thread(is_other, operator.is_not)}  # by what the instruction says
CALL_HEIGHT = 4  # of a stack, at most, beside the operands of a call
FUNCTIONS = {"is_": is_same, "is_not": is_other}  # of the module operator


@contextmanager
def asked_identity(reached: Iterable[Any]) -> Iterator[None]:
    """``is`` in the user's functions, among what is reached, asks here."""
    with ExitStack() as undo:
        for name, asking in FUNCTIONS.items():
            undo.enter_context(replaced(operator, name, asking))
        for function in reached:
            if isinstance(function, types.FunctionType) and _asks(function.__code__):
                undo.enter_context(replaced(function, "__code__", _asking(function.__code__)))
        yield


def _asks(code: types.CodeType) -> bool:
    return is_users(code.co_filename) and any(
        instruction.opname == IS and not _is_none(before)
        for inner in codes(code)
        for before, instruction in _pairs(inner)
    )


def _pairs(code: types.CodeType) -> Iterator[tuple[dis.Instruction, dis.Instruction]]:
    return itertools.pairwise(dis.get_instructions(code))


def _is_none(instruction: dis.Instruction) -> bool:
    return instruction.opname == "LOAD_CONST" and instruction.argval is None


def _asking(code: types.CodeType) -> types.CodeType:
    """The same code with a call in the place of each ``is``."""
    written = bytecode()

    def change(instructions: list[Any], options: dict[str, Any]) -> None:
        changed = []
        for instruction in instructions:
            if isinstance(instruction.argval, types.CodeType):
                instruction.argval, instruction.arg = _asking(instruction.argval), None
            if instruction.opname != IS:
                changed.append(instruction)
                continue
            call = [
                written.create_load_const(ASKING[instruction.arg], checked=False),
                *written.create_rot_n(3),
                *written.create_call_function(2, True),
            ]
            # What jumps to the instruction jumps to the first of these.
            instruction.opcode, instruction.opname = call[0].opcode, call[0].opname
            instruction.arg, instruction.argval = call[0].arg, call[0].argval
            changed += [instruction, *call[1:]]
        instructions[:] = changed

    # PyTorch does not know how high generators' stacks are.
    with replaced(written, "stacksize_analysis", lambda _: code.co_stacksize + CALL_HEIGHT):
        made: types.CodeType = written.transform_code_object(code, change)[0]
    return made
