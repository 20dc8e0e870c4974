"""Which ATen ops are taken apart before they are written: all that PyTorch can and that have no row in the table."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from ingot.torch.base.torch_internals.ops import (
    OpOverload,
    all_op_names,
    core_decompositions,
    decomposition_table,
    get_decompositions,
    has_kernel,
    overload_of,
)
from ingot.torch.text.bessel import BESSEL
from ingot.torch.text.incomplete import INCOMPLETE
from ingot.torch.text.lowering import TABLE, overload_name
from ingot.torch.text.others import LIBRARIES, NAMED, made_of_others

Decompositions = dict[Any, Callable[..., Any]]


# Checks of distributions ask by these.
OF_TRUTHS: Decompositions = {
    torch.ops.aten._is_all_true.default: torch.ops.aten.all.default,
    torch.ops.aten._is_any_true.default: torch.ops.aten.any.default,
}
# What PyTorch's own kernels of f64 compute to a few digits only, some of them.
EXACT: Decompositions = {**INCOMPLETE, **BESSEL}


def in_f64(op: Any) -> Any:
    """What computes an op of f64 tensors: PyTorch's, or what is in its place where it has none, or approximates."""
    return EXACT.get(op) or (isinstance(op, OpOverload) and NAMED.get(op._schema.name)) or op


# Gradients of losses, which PyTorch's decompositions divide by the number of elements in Python.
OF_MEANS = (
    torch.ops.aten.mse_loss_backward.default,
    torch.ops.aten.smooth_l1_loss_backward.default,
    torch.ops.aten.huber_loss_backward.default,
)


def decompositions() -> Decompositions:
    """All decompositions, by overload: PyTorch's own, those in their place, and of libraries that are there by now."""
    return _with_libraries(*(module in sys.modules for module in LIBRARIES))


@cache
def _with_libraries(*_: bool) -> Decompositions:
    return {**_of_pytorch(), **made_of_others()}


@cache
def _of_pytorch() -> Decompositions:
    """PyTorch's own; autograd has taken apart what is composite by itself."""
    own = {op: decomposition for op, decomposition in decomposition_table.items() if not is_composite(op)}
    means = {op: _of_elements(own[op]) for op in OF_MEANS}
    every = {**own, **core_decompositions(), **_lists_apart(), **OF_TRUTHS, **means, **EXACT}
    return {op: decomposition for op, decomposition in every.items() if overload_name(op) not in TABLE}


def _of_elements(decomposition: Callable[..., Any]) -> Callable[..., Any]:
    """A gradient's decomposition for tensors that have elements; that of others has none."""

    def decomposed(gradient: torch.Tensor, x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        return decomposition(gradient, x, *args, **kwargs) if x.numel() else torch.zeros_like(x)

    return decomposed


def is_composite(op: Any) -> bool:
    """Whether PyTorch makes an op of others for every tensor."""
    is_op = isinstance(op, OpOverload)
    return is_op and has_kernel(op.name(), "CompositeImplicitAutograd")


def _unscale(gradients: list[torch.Tensor], found_inf: torch.Tensor, inv_scale: torch.Tensor) -> None:
    """Multiplies gradients in place, and notes with 1 that an element of them is not finite."""
    for gradient in gradients:
        is_finite = gradient.abs().le(torch.finfo(gradient.dtype).max).all()  # in f64 too, beside which it is compared
        found_inf.copy_(torch.where(is_finite, found_inf, 1.0))
        gradient.copy_(gradient.to(torch.promote_types(gradient.dtype, inv_scale.dtype)) * inv_scale)


def _update_scale(
    scale: torch.Tensor, steps: torch.Tensor, found_inf: torch.Tensor, growth: float, backoff: float, interval: int
) -> torch.Tensor:
    """A scale in place: less where a gradient was not finite, more after an interval of steps in which all were."""
    is_found, is_over = found_inf.ne(0), (steps + 1).eq(interval)
    more, less = ((scale.double() * factor).to(scale.dtype) for factor in (growth, backoff))
    more = torch.where(is_over & more.isfinite(), more, scale)
    steps.copy_(torch.where(is_found | is_over, 0, steps + 1))
    return scale.copy_(torch.where(is_found, less, more))


# Of GradScaler.
SCALING: Decompositions = {
    torch.ops.aten._amp_foreach_non_finite_check_and_unscale_.default: _unscale,
    torch.ops.aten._amp_update_scale_.default: _update_scale,
}


@cache
def first_decompositions() -> Decompositions:
    """Those of ops that write their arguments, and of normalisation's, whose schema does not say so."""
    found: Decompositions = get_decompositions([torch.ops.aten.native_batch_norm])
    return {**found, **SCALING}


# What ops of lists are called where the op of one tensor has another name.
OF_ONE_TENSOR = {"norm": "linalg_vector_norm"}
# What the op of one tensor calls the argument that ops of lists have after its positional ones.
BY_NAME = {"addcmul": "value", "addcdiv": "value"}


def _lists_apart() -> Decompositions:
    """``_foreach_mul`` and its like: the op of each tensor, one after the other."""
    found: Decompositions = {}
    for full_name in all_op_names():
        name, _, variant = full_name.removeprefix("aten::").partition(".")
        short = name.removeprefix("_foreach_")
        one = getattr(torch.ops.aten, OF_ONE_TENSOR.get(short, short), None)
        if short != name and not name.endswith("_") and "out" not in variant and one is not None:
            found[overload_of(full_name)] = _for_each(one, BY_NAME.get(short))
    return found


def _for_each(one: Callable[..., Any], last: str | None) -> Callable[..., Any]:
    def decomposition(*args: Any, **kwargs: Any) -> list[Any]:
        lists, count = args, len(args[0])
        if last and len(args) > 3:
            lists, kwargs = args[:3], {last: args[3]}

        def made(i: int) -> Any:
            def of(given: Any) -> Any:
                return given[i] if isinstance(given, (list, tuple)) else given

            return one(*map(of, lists), **{name: of(x) for name, x in kwargs.items()})

        return [made(i) for i in range(count)]

    return decomposition
