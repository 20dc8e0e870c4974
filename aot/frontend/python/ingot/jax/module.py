"""The StableHLO module that JAX lowers a function to, as the text of an entry point."""

from __future__ import annotations

import inspect
import math
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import jax
from jax.extend.source_info_util import register_exclusion
from jaxlib.mlir import ir

from ingot.stablehlo import Port, TensorType

Ports = Sequence[tuple[Port, TensorType]]

LARGE = 1 << 20  # bytes of a constant that is warned of
FILE = re.compile(r'"([^"]+)":(\d+)')
LIBRARY = re.compile(r"/(site|dist)-packages/")

HERE = os.path.dirname(__file__)
NO_USERS = HERE, os.path.dirname(jax.__file__)

register_exclusion(HERE)  # an op comes from the user's line, none of these


def entry_text(
    lowered: jax.stages.Lowered, arguments: Ports, results: Ports, *, keeps_unread_inputs: bool = True
) -> str:
    """The text with arguments and results as they are called, in the order in which they were flattened.

    State that nothing reads is no argument; nor are inputs, unless they are kept.

    Raises ValueError for calls of the host, with the place, and for a ``jax.Ref`` of the caller's; warns of large
    constants.
    """
    module = lowered.compiler_ir("stablehlo")
    with module.context:
        main = ir.SymbolTable(module.operation)["main"]
        _place_ops(main)
        for op in _ops(module.operation):
            _refuse_callback(op)
            _warn_of_large_constant(op)
        _refuse_refs(main, len(arguments), len(results))
        main.arg_attrs = _attributes(arguments)
        main.result_attrs = _attributes(results)
        _drop_unread(main, [port.is_state or not keeps_unread_inputs for port, _ in arguments])
    return str(module.operation.get_asm(enable_debug_info=True))


def _place_ops(main: Any) -> None:
    """Gives ops the user's line that runs now where JAX knows none: it looks no further out than a function's trace."""
    frame = inspect.currentframe()
    while frame and frame.f_code.co_filename.startswith(NO_USERS):
        frame = frame.f_back
    if not frame:
        return
    line, _, column, _ = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    place = ir.Location.file(frame.f_code.co_filename, line or frame.f_lineno, (column or 0) + 1)
    for op in main.entry_block:
        if not FILE.search(str(op.operation.location)):
            op.operation.location = ir.Location.callsite(op.operation.location, [place])


def _ops(root: Any) -> Iterator[Any]:
    for region in root.regions:
        for block in region:
            for op in block:
                yield op.operation
                yield from _ops(op.operation)


def _refuse_callback(op: Any) -> None:
    if op.name == "stablehlo.custom_call" and "callback" in ir.StringAttr(op.attributes["call_target_name"]).value:
        fix = "return as an output what the host should see"
        if "equinox" in sys.modules:
            fix += (
                "; the checks of equinox (error_if) are callbacks: EQX_ON_ERROR=off in the environment leaves them out"
            )
        raise ValueError(
            f"{_place(op)}: jax.debug.print and other callbacks call Python, which a device has not; {fix}"
        )


def _refuse_refs(main: Any, argument_count: int, result_count: int) -> None:
    """What JAX adds to a function's arguments and results is the memory of references."""
    if (len(main.arguments), len(main.type.results)) != (argument_count, result_count):
        raise ValueError(
            "the function uses a jax.Ref that was made outside of it; a program changes no arrays of its caller: pass "
            "the value, and return the new one"
        )


def _warn_of_large_constant(op: Any) -> None:
    if op.name != "stablehlo.constant":
        return
    tensor = op.result.type
    width = getattr(tensor.element_type, "width", 0)  # complex numbers do not say theirs
    size = math.prod(tensor.shape) * width // 8
    if size > LARGE and not ir.DenseElementsAttr(op.attributes["value"]).is_splat:
        warnings.warn(
            f"{_place(op)}: a constant of {size / 2**20:.1f} MiB, {tensor}: arrays that the function closes over are "
            "fixed in the program; pass them in the state or in the batch to keep them out of it",
            stacklevel=4,
        )


def _place(op: Any) -> str:
    """The innermost line that is known of the user's source, else of a library's; else the op."""
    places = [f"{file}:{line}" for file, line in FILE.findall(str(op.location))]
    users = [place for place in places if not LIBRARY.search(place)]
    return next(iter(users + places), str(op.name))


def _attributes(ports: Ports) -> Any:
    return ir.ArrayAttr.get([ir.DictAttr.parse(port.attributes(type_)) for port, type_ in ports])


def _drop_unread(main: Any, may_drop: Sequence[bool]) -> None:
    block, attributes = main.entry_block, list(main.arg_attrs)
    for i in reversed(range(len(may_drop))):
        if may_drop[i] and not list(block.arguments[i].uses):
            block.erase_argument(i)
            del attributes[i]
    types = [argument.type for argument in block.arguments]
    main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, main.type.results))
    main.arg_attrs = ir.ArrayAttr.get(attributes)
