"""Products and solutions of matrices."""

import torch

from ops.data import Cases, normal

X, Y, B1, B2 = normal(3, 4), normal(4, 5), normal(2, 3, 4), normal(2, 4, 5)
SQUARE = normal(2, 4, 4) + 4 * torch.eye(4, dtype=torch.float64)
VECTOR = normal(4)


def definite(x: torch.Tensor) -> torch.Tensor:
    """A positive definite matrix."""
    return x @ x.mT + torch.eye(x.shape[-1], dtype=x.dtype)


def lu_factors(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Packed and unpacked factors, and the solutions that they give."""
    packed, pivots = torch.linalg.lu_factor(x)
    b = x[..., :2] ** 2
    return (
        packed,
        pivots,
        *torch.lu_unpack(packed, pivots),
        torch.linalg.lu_solve(packed, pivots, b),
        torch.linalg.lu_solve(packed, pivots, b, adjoint=True),
        torch.linalg.lu_solve(packed, pivots, b.mT, left=False),
    )


def eigenvectors(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """What the signs of eigenvectors drop out of."""
    values, vectors = torch.linalg.eigh(x)
    upper = torch.linalg.eigh(x, UPLO="U")
    return values, vectors**2, (vectors * values.exp()[..., None, :]) @ vectors.mT, *upper[:1], upper[1] ** 2


def singular_vectors(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """What the signs of singular vectors drop out of, and those that nothing determines."""
    u, s, vt = torch.linalg.svd(x, full_matrices=False)
    whole_u, _, whole_vt = torch.linalg.svd(x.detach())
    return u**2, s, vt**2, u @ vt, whole_u @ whole_u.mT, whole_vt @ whole_vt.mT


linalg = torch.linalg


def of_nothing(x: torch.Tensor) -> list[torch.Tensor]:
    """What there is of matrices without elements."""
    functions = (linalg.inv, linalg.pinv, linalg.det, linalg.slogdet, linalg.cholesky, linalg.eigh, linalg.lu_factor)
    return [functions_of(x) for functions_of in (*functions, linalg.svdvals, linalg.qr, lambda x: linalg.solve(x, x))]


CASES: Cases = {
    "no_matrices": (of_nothing, (normal(0, 3, 3),)),
    "empty_matrices": (of_nothing, (normal(2, 0, 0),)),
    "no_columns": (
        lambda x: (linalg.svd(x.detach())[0], linalg.qr(x.detach(), "complete"), x @ x.mT, x.sum(1)),
        (normal(3, 0),),
    ),
    "solve_of_none": (lambda a, b: linalg.solve(a, b), (normal(0, 3, 3), normal(3, 2))),
    "products": (lambda x, y, v: (x @ y, torch.mm(x, y), x @ v, v @ y, v @ v), (X, Y, VECTOR)),
    "batched": (lambda x, y, v: (x @ y, torch.bmm(x, y), x @ v, torch.matmul(x[0], y)), (B1, B2, VECTOR)),
    "addmm": (lambda c, x, y: torch.addmm(c, x, y, beta=0.5, alpha=2), (normal(3, 5), X, Y)),
    "addmv": (lambda c, x, v: (torch.addmv(c, x, v), torch.addr(x, c, v)), (normal(3), X, VECTOR)),
    "baddbmm": (
        lambda c, x, y: (torch.baddbmm(c, x, y, beta=0.5), torch.addbmm(c[0], x, y)),
        (normal(2, 3, 5), B1, B2),
    ),
    "beta_of_0": (
        lambda c, x, y: [
            *(torch.addmm(c, x, y, beta=0), torch.addmv(c[:, 0], x, y[:, 0], beta=0)),
            *(torch.addbmm(c, x[None], y[None], beta=0), torch.baddbmm(c[None], x[None], y[None], beta=0)),
        ],
        (torch.full((3, 5), torch.nan), X, Y),
    ),
    "outer": (lambda x, y: (torch.outer(x, y), torch.inner(x, x), torch.vdot(x, x)), (VECTOR, normal(3))),
    "einsum": (lambda x, y: (torch.einsum("bij,bjk->bik", x, y), torch.einsum("bij,bjk->ik", x, y)), (B1, B2)),
    "einsum_diagonal": (lambda x: (torch.einsum("bii->bi", x), torch.einsum("bii->b", x)), (SQUARE,)),
    "tensordot": (lambda x, y: torch.tensordot(x, y, dims=([2], [1])), (B1, B2)),
    "multi_dot": (lambda x, y: torch.linalg.multi_dot([x, y, y.T]), (X, Y)),
    "matrix_power": (lambda x: (torch.linalg.matrix_power(x, 3), torch.linalg.matrix_power(x, 0)), (SQUARE,)),
    "int_product": (lambda x: x.long() @ x.long().T, (10 * X,)),
    "cross": (lambda x, y: (torch.linalg.cross(x, y), torch.linalg.vecdot(x, y)), (normal(4, 3), normal(4, 3))),
    "norms": (
        lambda x: (
            torch.linalg.matrix_norm(x),
            torch.linalg.matrix_norm(x, 1),
            torch.linalg.matrix_norm(x, float("inf")),
        ),
        (X,),
    ),
    "cholesky": (lambda x: torch.linalg.cholesky(definite(x)), (SQUARE,)),
    "cholesky_upper": (lambda x: torch.linalg.cholesky(definite(x), upper=True), (SQUARE,)),
    "cholesky_solve": (
        lambda x, b: torch.cholesky_solve(b, torch.linalg.cholesky(definite(x))),
        (SQUARE, normal(2, 4, 3)),
    ),
    "cholesky_inverse": (lambda x: torch.cholesky_inverse(torch.linalg.cholesky(definite(x))), (SQUARE,)),
    "solve_triangular": (
        lambda a, b: (
            torch.linalg.solve_triangular(a.tril(), b, upper=False),
            torch.linalg.solve_triangular(a.triu(), b, upper=True),
            torch.linalg.solve_triangular(a.triu(), b.mT, upper=True, left=False),
            torch.linalg.solve_triangular(a, b, upper=True, unitriangular=True),
        ),
        (SQUARE, normal(2, 4, 3)),
    ),
    "solve": (
        lambda a, b: (
            torch.linalg.solve(a, b),
            torch.linalg.solve(a[0], b),
            torch.linalg.solve(a, b[..., 0]),
            torch.linalg.solve(a, b.mT, left=False),
            torch.linalg.solve(a.mT, b),
        ),
        (SQUARE, normal(2, 4, 3)),
    ),
    "solve_broadcast": (lambda a, b: torch.linalg.solve(a[:, None], b), (SQUARE, normal(3, 4, 2))),
    "inverse": (lambda a: (torch.linalg.inv(a), torch.linalg.inv_ex(a.mT)), (SQUARE,)),
    "determinant": (
        lambda a: (torch.det(a), torch.det(-a.mT), torch.logdet(a), *torch.linalg.slogdet(-a[:, :3, :3])),
        (SQUARE,),
    ),
    "lu_factors": (lu_factors, (normal(2, 5, 5),)),
    "lu": (lambda x: (*torch.linalg.lu(x), *torch.linalg.lu(x.mT)), (normal(2, 5, 3),)),
    "qr": (lambda x: (*torch.linalg.qr(x), torch.linalg.qr(x.detach(), "r")[1]), (normal(2, 5, 3),)),
    "qr_complete": (lambda x: (*torch.linalg.qr(x, "complete"), *torch.linalg.qr(x.mT.detach(), "complete")), (B1,)),
    "householder_product": (lambda x: torch.linalg.householder_product(*torch.geqrf(x.detach())), (normal(2, 5, 3),)),
    "eigh": (eigenvectors, (SQUARE,)),
    "eigvalsh": (lambda x: torch.linalg.eigvalsh(x), (SQUARE,)),
    "svd": (singular_vectors, (normal(2, 5, 3),)),
    "svd_wide": (singular_vectors, (normal(3, 5),)),
    "by_singular_values": (
        lambda x: (
            torch.linalg.svdvals(x),
            torch.linalg.matrix_norm(x, 2),
            torch.linalg.matrix_norm(x, "nuc"),
            torch.linalg.pinv(x),
            torch.linalg.pinv(x, atol=torch.tensor(1.0)),
            torch.linalg.cond(x),
            torch.linalg.matrix_rank(x),
        ),
        (normal(2, 5, 3),),
    ),
    "logdet_by_cholesky": (lambda x: 2 * torch.linalg.cholesky(definite(x)).diagonal(0, 1, 2).log().sum(-1), (SQUARE,)),
    "bilinear": (torch.nn.functional.bilinear, (normal(3, 4), normal(3, 5), normal(2, 4, 5), normal(2))),
}
