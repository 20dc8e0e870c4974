"""Orthogonal factors of matrices [..., m, n]: QR, eigenvectors of symmetric matrices, singular vectors."""

from __future__ import annotations

import torch

from ingot.stablehlo import TensorType, Value
from ingot.torch.text.aten.creation import triangle
from ingot.torch.text.aten.linear_algebra import lapack, with_extents
from ingot.torch.text.dtypes import TORCH_DTYPES
from ingot.torch.text.lowering import Lowering, aten


@aten("geqrf.default")
def geqrf(e: Lowering, a: Value) -> tuple[Value, Value]:
    """R and, below it, the vectors of Householder reflections; and their factors."""
    packed, taus = lapack(e, "geqrf", [a], [a.type, with_extents(a, min(a.shape[-2:]))])
    return packed, taus


@aten("linalg_householder_product.default")
def householder_product(e: Lowering, packed: Value, taus: Value) -> Value:
    """The first columns of the product of Householder reflections."""
    return lapack(e, "orgqr", [packed, taus], [packed.type])[0]


@aten("linalg_qr.default")
def qr(e: Lowering, a: Value, mode: str = "reduced") -> tuple[Value, Value]:
    """Q and R of A = Q R; with `complete` a square Q, with `r` an empty one."""
    rank, (rows, columns) = a.type.rank, a.shape[-2:]
    packed, taus = geqrf(e, a)
    count = rows if mode == "complete" else min(rows, columns)
    r = triangle(e, e.slice_dim(packed, rank - 2, 0, count), "GE", 0)
    if mode == "r":
        return e.constant(0, TensorType(a.dtype, (0,))), r
    if count > columns:
        packed = e.pad(packed, 0.0, [0] * rank, [*[0] * (rank - 1), count - columns])
    return householder_product(e, e.slice_dim(packed, rank - 1, 0, count), taus), r


@aten("_linalg_eigh.default")
def eigh(e: Lowering, a: Value, uplo: str = "L", compute_v: bool = True) -> tuple[Value, Value]:
    """The eigenvalues of symmetric matrices, ascending, and eigenvectors whose largest elements are positive."""
    types = [a.type, with_extents(a, a.shape[-1]), with_extents(a, dtype="i32")]
    vectors, values, _ = lapack(e, "syevd", [a], types, mode="V", uplo=uplo)
    return values, vectors if compute_v else e.constant(0, TensorType(a.dtype, (0,)))


@aten("_linalg_svd.default")
def svd(
    e: Lowering, a: Value, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None
) -> tuple[Value, Value, Value]:
    """U, the singular values in descending order, and Vᵀ."""
    rows, columns = a.shape[-2:]
    count = min(rows, columns)
    wide, tall = (rows, columns) if full_matrices else (count, count)
    types = [
        a.type,
        with_extents(a, count),
        with_extents(a, rows, wide),
        with_extents(a, tall, columns),
        with_extents(a, dtype="i32"),
    ]
    job = "N" if not compute_uv else "A" if full_matrices else "S"
    _, s, u, vt, _ = lapack(e, "gesdd", [a], types, mode=job)
    if compute_uv:
        return u, s, vt
    nothing = e.constant(0, TensorType(a.dtype, (0,)))
    return nothing, s, nothing


@aten("linalg_pinv.atol_rtol_tensor")
def pinv(
    e: Lowering, a: Value, *, atol: Value | None = None, rtol: Value | None = None, hermitian: bool = False
) -> Value:
    """The pseudoinverse: singular values within max(atol, rtol times the largest) count as zero."""
    u, s, vt = svd(e, a)
    largest = e.slice_dim(s, s.type.rank - 1, 0, 1)
    epsilon = torch.finfo(TORCH_DTYPES[a.dtype]).eps * max(a.shape[-2:])

    def each(x: Value | float) -> Value:
        return e.tensor(e.reshape(x, (*x.shape, 1)) if isinstance(x, Value) else x, largest.type)

    absolute = each(0 if atol is None else atol)
    none_given = e.select(e.compare("GT", absolute, each(0)), each(0), each(epsilon))
    relative = e.binary("multiply", none_given if rtol is None else each(rtol), largest)
    cutoff = e.binary("maximum", absolute, relative)
    one, zero = e.constant(1, s.type), e.constant(0, s.type)
    inverses = e.select(e.compare("GT", s, e.broadcast(cutoff, s.shape)), e.binary("divide", one, s), zero)
    scaled = e.binary("multiply", vt, e.broadcast_in_dim(inverses, vt.shape, range(s.type.rank)))
    batch = range(a.type.rank - 2)
    return e.dot_general(scaled, u, ([a.type.rank - 2], [a.type.rank - 1]), (batch, batch))
