"""Factors and solutions of matrices [..., n, n]."""

from __future__ import annotations

from collections.abc import Sequence

from ingot.stablehlo import TensorType, Value
from ingot.torch.text.aten.complex_numbers import conjugate_of
from ingot.torch.text.aten.creation import triangle
from ingot.torch.text.lowering import Lowering, aten

LETTERS = {"f32": "s", "f64": "d"}  # LAPACK's


def lapack(
    e: Lowering, name: str, operands: Sequence[Value], results: Sequence[TensorType], **options: str
) -> tuple[Value, ...]:
    """What a function of LAPACK gives, called as JAX calls it: ``lapack(e, "syevd", [x], types, uplo="L")``."""
    dtype = operands[0].dtype
    if dtype not in LETTERS:
        raise e.refuse(f"{name} of {dtype} matrices is not supported", "use torch.float32 or torch.float64")
    config = ", ".join(f"{key} = {ord(letter)} : ui8" for key, letter in options.items())
    attributes = (
        f'api_version = 4 : i32, backend_config = {{{config}}}, call_target_name = "lapack_{LETTERS[dtype]}{name}_ffi"'
    )
    return e.ops("stablehlo.custom_call", operands, results, attributes)


def with_extents(x: Value, *extents: int, dtype: str | None = None) -> TensorType:
    """A type with these extents after the batch dimensions of x."""
    return TensorType(dtype or x.dtype, (*x.shape[:-2], *extents))


def transposed(e: Lowering, x: Value) -> Value:
    """Each matrix with rows and columns exchanged."""
    return e.transpose(x, [*range(x.type.rank - 2), x.type.rank - 1, x.type.rank - 2])


def adjoint_of(e: Lowering, x: Value) -> Value:
    """Each matrix with rows and columns exchanged and its elements conjugated."""
    return conjugate_of(e, transposed(e, x))


def product(e: Lowering, x: Value, y: Value) -> Value:
    """Matrix products x y; equal batch dimensions."""
    batch = range(x.type.rank - 2)
    return e.dot_general(x, y, ([x.type.rank - 1], [x.type.rank - 2]), (batch, batch))


def is_diagonal(e: Lowering, type_: TensorType) -> Value:
    """Whether each element stands on the diagonal."""
    numbers = type_.with_dtype("i64")
    return e.compare("EQ", e.iota(numbers.rank - 2, numbers), e.iota(numbers.rank - 1, numbers))


def identity(e: Lowering, type_: TensorType) -> Value:
    """Ones on the diagonal of each matrix."""
    return e.convert(is_diagonal(e, type_), type_.dtype)


@aten("linalg_cholesky_ex.default", "cholesky.default")
def cholesky(e: Lowering, x: Value, upper: bool = False, check_errors: bool = False) -> tuple[Value, ...] | Value:
    """The lower L of L Lᴴ, or the upper U of Uᴴ U; NaN where the matrix is not positive definite, and 0 for success."""
    factor = e.op("stablehlo.cholesky", [x], x.type, f"lower = {'false' if upper else 'true'}")
    factor = triangle(e, factor, "GE" if upper else "LE", 0)
    if len(e.results) == 1:
        return factor
    assert e.results[1]
    return factor, e.constant(0, e.results[1])


@aten("_linalg_check_errors.default")
def check_errors(e: Lowering, *_: object, **__: object) -> tuple[Value, ...]:
    """Nothing: a program raises nothing."""
    return ()


def solved(
    e: Lowering,
    a: Value,
    b: Value,
    *,
    upper: bool,
    left: bool,
    unit: bool,
    transpose: str = "NO_TRANSPOSE",
    batch: tuple[int, ...] | None = None,
) -> Value:
    """X of A X = B, or of X A = B, for a triangular matrix; batches broadcast, to the result's if none is given."""
    batch = e.result.shape[:-2] if batch is None else batch
    a, b = (e.broadcast(v, (*batch, *v.shape[-2:])) for v in (a, b))
    flags = {"left_side": left, "lower": not upper, "unit_diagonal": unit}
    attributes = ", ".join(f"{name} = {'true' if value else 'false'}" for name, value in flags.items())
    attributes += f", transpose_a = #stablehlo<transpose {transpose}>"
    return e.op("stablehlo.triangular_solve", [a, b], b.type, attributes)


@aten("linalg_solve_triangular.default")
def solve_triangular(
    e: Lowering, a: Value, b: Value, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Value:
    """X of A X = B, or of X A = B, for a triangular matrix A."""
    return solved(e, a, b, upper=upper, left=left, unit=unitriangular)


@aten("triangular_solve.default")
def triangular_solve(
    e: Lowering, b: Value, a: Value, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Value, Value]:
    """X of A X = B for a triangular matrix A, or its transpose; and A."""
    how = "TRANSPOSE" if transpose else "NO_TRANSPOSE"
    return solved(e, a, b, upper=upper, left=True, unit=unitriangular, transpose=how), a


@aten("cholesky_solve.default", "_cholesky_solve_helper.default")
def cholesky_solve(e: Lowering, b: Value, factor: Value, upper: bool = False) -> Value:
    """X of A X = B, for A's Cholesky factor."""
    first, second = ("ADJOINT", "NO_TRANSPOSE") if upper else ("NO_TRANSPOSE", "ADJOINT")
    y = solved(e, factor, b, upper=upper, left=True, unit=False, transpose=first)
    return solved(e, factor, y, upper=upper, left=True, unit=False, transpose=second)


@aten("cholesky_inverse.default")
def cholesky_inverse(e: Lowering, factor: Value, upper: bool = False) -> Value:
    """The inverse of A, for its Cholesky factor."""
    return cholesky_solve(e, identity(e, factor.type), factor, upper)
