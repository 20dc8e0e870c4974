"""Linear equations, inverses and determinants of matrices [..., n, n], by LU with rows exchanged."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from ingot.stablehlo import TensorType, Value
from ingot.torch.text.aten.creation import triangle
from ingot.torch.text.aten.linear_algebra import (
    adjoint_of,
    identity,
    is_diagonal,
    lapack,
    solved,
    transposed,
    with_extents,
)
from ingot.torch.text.lowering import Lowering, aten


@dataclass(frozen=True)
class Lu:
    """P A = L U of matrices [..., m, n]: L and U in one; pivots [..., min(m, n)], from 1 on; the first that is zero."""

    factors: Value
    pivots: Value
    info: Value


def factorised(e: Lowering, a: Value) -> Lu:
    """The factors of a matrix."""
    pivots = with_extents(a, min(a.shape[-2:]), dtype="i32")
    return Lu(*lapack(e, "getrf", [a], [a.type, pivots, with_extents(a, dtype="i32")]))


def order_of(e: Lowering, pivots: Value, count: int) -> Value:
    """Which row of A is each row of P A: [..., count], from 0 on."""
    from_0 = e.binary("subtract", pivots, e.constant(1, pivots.type))
    type_ = pivots.type.with_shape((*pivots.shape[:-1], count))
    return e.op("stablehlo.custom_call", [from_0], type_, 'call_target_name = "lu_pivots_to_permutation"')


def taken_rows(e: Lowering, x: Value, rows: Value) -> Value:
    """The rows [..., r] of matrices [..., m, n]: [..., r, n]."""
    batch, last = x.type.rank - 2, x.type.rank - 1
    window = [*[1] * last, x.shape[-1]]
    shape = (*rows.shape, x.shape[-1])
    vectors = e.reshape(rows, (*rows.shape, 1))
    return e.gather(
        x,
        vectors,
        offset_dims=[last],
        collapsed=[batch],
        index_map=[batch],
        slice_sizes=window,
        shape=shape,
        batch=batch,
    )


def permutation(e: Lowering, order: Value, dtype: str) -> Value:
    """The matrix P of A = P L U: column i has its one in the row that row i was."""
    count, last = order.shape[-1], order.type.rank
    square = order.type.with_shape((*order.shape, count))
    column = e.broadcast_in_dim(order, square.shape, [*range(last - 1), last])
    return e.convert(e.compare("EQ", e.iota(last - 1, square), column), dtype)


def inverse(e: Lowering, order: Value) -> Value:
    """Where each row of A is among those of P A."""
    places = permutation(e, order, order.dtype)
    last = order.type.rank
    return e.reduce("add", e.binary("multiply", places, e.iota(last, places.type)), [last])


def solution(e: Lowering, lu: Value, pivots: Value, b: Value, *, adjoint: bool = False) -> Value:
    """X of A X = B, or of Aᴴ X = B, for the factors of A; of B's shape, which has all batch dimensions."""
    batch = b.shape[:-2]
    order = order_of(e, pivots, lu.shape[-1])
    if adjoint:
        y = solved(e, lu, b, upper=True, left=True, unit=False, transpose="ADJOINT", batch=batch)
        z = solved(e, lu, y, upper=False, left=True, unit=True, transpose="ADJOINT", batch=batch)
        return taken_rows(e, z, e.broadcast(inverse(e, order), (*batch, lu.shape[-1])))
    b = taken_rows(e, b, e.broadcast(order, (*batch, lu.shape[-1])))
    y = solved(e, lu, b, upper=False, left=True, unit=True, batch=batch)
    return solved(e, lu, y, upper=True, left=True, unit=False, batch=batch)


def solution_of(e: Lowering, lu: Value, pivots: Value, b: Value, *, left: bool, adjoint: bool) -> Value:
    """X of A X = B, or of X A = B; with `adjoint` of the like with Aᴴ."""
    if left:
        return solution(e, lu, pivots, b, adjoint=adjoint)
    return adjoint_of(e, solution(e, lu, pivots, adjoint_of(e, b), adjoint=not adjoint))


@aten("_linalg_solve_ex.default")
def solve(
    e: Lowering, a: Value, b: Value, *, left: bool = True, check_errors: bool = False
) -> tuple[Value, Value, Value, Value]:
    """X of A X = B, or of X A = B, and A's factors; inf or NaN where A is singular."""
    lu = factorised(e, a)
    is_vector = b.type.rank == 1 or b.shape == a.shape[:-1]
    columns = e.reshape(b, (*b.shape, 1)) if is_vector else b
    batch = e.result.shape[: -1 if is_vector else -2]
    columns = e.broadcast(columns, (*batch, *columns.shape[-2:]))
    x = solution_of(e, lu.factors, lu.pivots, columns, left=left, adjoint=False)
    return e.reshape(x, e.result.shape), lu.factors, lu.pivots, lu.info


@aten("linalg_inv_ex.default")
def inv(e: Lowering, a: Value, *, check_errors: bool = False) -> tuple[Value, Value]:
    """The inverse; inf or NaN where there is none. And the first pivot that is zero, from 1 on."""
    lu = factorised(e, a)
    return solution(e, lu.factors, lu.pivots, identity(e, a.type)), lu.info


@aten("linalg_lu_factor_ex.default")
def lu_factor(e: Lowering, a: Value, *, pivot: bool = True, check_errors: bool = False) -> tuple[Value, Value, Value]:
    """L and U in one matrix, pivots, and the first pivot that is zero."""
    check_pivots(e, pivot)
    lu = factorised(e, a)
    return lu.factors, lu.pivots, lu.info


@aten("linalg_lu.default")
def plu(e: Lowering, a: Value, *, pivot: bool = True) -> tuple[Value, Value, Value]:
    """P, L and U of A = P L U."""
    check_pivots(e, pivot)
    lu = factorised(e, a)
    return unpack(e, lu.factors, lu.pivots)


def check_pivots(e: Lowering, pivot: bool) -> None:
    """An error for factors without exchanged rows."""
    if not pivot:
        raise e.refuse("LU without pivots is not supported", "leave out pivot=False")


@aten("lu_unpack.default")
def unpack(
    e: Lowering, lu: Value, pivots: Value, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Value, Value, Value]:
    """P, L and U of packed factors; empty what is not asked for."""
    rows, columns = lu.shape[-2:]
    count = min(rows, columns)
    nothing = e.constant(0, TensorType(lu.dtype, (0,)))
    p = permutation(e, order_of(e, pivots, rows), lu.dtype) if unpack_pivots else nothing
    if not unpack_data:
        return p, nothing, nothing
    left = e.slice_dim(lu, lu.type.rank - 1, 0, count)
    lower = e.select(is_diagonal(e, left.type), e.constant(1, left.type), triangle(e, left, "LE", 0))
    return p, lower, triangle(e, e.slice_dim(lu, lu.type.rank - 2, 0, count), "GE", 0)


@aten("linalg_lu_solve.default")
def lu_solve(e: Lowering, lu: Value, pivots: Value, b: Value, *, left: bool = True, adjoint: bool = False) -> Value:
    """X of A X = B, X A = B or the like with Aᴴ, for the factors of A."""
    return solution_of(e, lu, pivots, e.broadcast(b, e.result.shape), left=left, adjoint=adjoint)


def factorised_for_gradient(e: Lowering, a: Value) -> Lu:
    """What autograd expects of determinants: of contiguous matrices their transposes' factors."""
    flips = torch.empty_strided(a.shape, e.strides, device="meta").is_contiguous()
    return factorised(e, transposed(e, a) if flips else a)


def diagonal_and_sign(e: Lowering, lu: Lu) -> tuple[Value, Value]:
    """U's diagonal, and for each row -1 where it was exchanged, else 1: [..., n]."""
    rank = lu.factors.type.rank
    on_diagonal = e.select(is_diagonal(e, lu.factors.type), lu.factors, e.constant(0, lu.factors.type))
    diagonal = e.reduce("add", on_diagonal, [rank - 2])
    own = e.binary("add", e.iota(rank - 2, lu.pivots.type), e.constant(1, lu.pivots.type))
    stays = e.compare("EQ", lu.pivots, own)
    return diagonal, e.select(stays, e.constant(1, diagonal.type), e.constant(-1, diagonal.type))


@aten("_linalg_det.default")
def det(e: Lowering, a: Value) -> tuple[Value, Value, Value]:
    """The determinant, and what autograd reads of the factors."""
    lu = factorised_for_gradient(e, a)
    diagonal, sign = diagonal_and_sign(e, lu)
    return e.reduce("multiply", e.binary("multiply", diagonal, sign), [diagonal.type.rank - 1]), lu.factors, lu.pivots


@aten("_linalg_slogdet.default")
def slogdet(e: Lowering, a: Value) -> tuple[Value, Value, Value, Value]:
    """The determinant's sign, the logarithm of its magnitude, and what autograd reads of the factors."""
    lu = factorised_for_gradient(e, a)
    diagonal, sign = diagonal_and_sign(e, lu)
    last = [diagonal.type.rank - 1]
    signs = e.reduce("multiply", e.binary("multiply", e.unary("sign", diagonal), sign), last)
    return signs, e.reduce("add", e.unary("log", e.unary("abs", diagonal)), last), lu.factors, lu.pivots
