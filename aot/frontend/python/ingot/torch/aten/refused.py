"""Ops that cannot be written: why, and what to do instead."""

from __future__ import annotations

from typing import Any

from ingot.stablehlo import Value
from ingot.torch.lowering import Lowering, Rule, aten

PIVOTS = "how its rows are exchanged depends on the values"
DEFINITE = "of A Aᵀ + εI use torch.linalg.cholesky, torch.cholesky_solve or torch.cholesky_inverse"
SPECTRUM = "how many rounds it takes depends on the values"
BEFORE = "compute it before the program, and pass it as an argument"

REFUSED = {
    "_linalg_det.default": (
        PIVOTS,
        "if it is definite, multiply the Cholesky factor's diagonal",
    ),
    "_linalg_eigh.default": (SPECTRUM, BEFORE),
    "_linalg_slogdet.default": (
        PIVOTS,
        "if it is definite, sum the log of the Cholesky factor's diagonal",
    ),
    "_linalg_solve_ex.default": (PIVOTS, DEFINITE),
    "_linalg_svd.default": (SPECTRUM, BEFORE),
    "grid_sampler_3d.default": ("volumes have no rule", "sample images"),
    "linalg_eig.default": (SPECTRUM, BEFORE),
    "linalg_eigvals.default": (SPECTRUM, BEFORE),
    "linalg_inv_ex.default": (PIVOTS, DEFINITE),
    "linalg_lstsq.default": (PIVOTS, "solve the normal equations by Cholesky"),
    "linalg_lu_factor_ex.default": (PIVOTS, DEFINITE),
    "linalg_matrix_exp.default": ("how many terms it takes depends on the values", "sum as many terms as are needed"),
    "linalg_qr.default": ("it has no op", "take the Cholesky factor of Aᵀ A"),
    "poisson.default": ("how many random numbers it takes depends on the values", "use the normal approximation"),
    "_standard_gamma.default": ("how many random numbers it takes depends on the values", BEFORE),
}


def _refusal(overload: str, why: str, instead: str) -> Rule:
    def refuse(e: Lowering, *_: Any, **__: Any) -> Value:
        raise e.refuse(f"aten.{overload} is not supported: {why}", instead)

    return refuse


for _overload, (_why, _instead) in REFUSED.items():
    aten(_overload)(_refusal(_overload, _why, _instead))
