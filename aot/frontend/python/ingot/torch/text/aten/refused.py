"""Ops that cannot be written: why, and what to do instead."""

from __future__ import annotations

from typing import Any

from ingot.stablehlo import Value
from ingot.torch.text.lowering import Lowering, Rule, aten

SPECTRUM = "how many rounds it takes depends on the values"
BEFORE = "compute it before the program, and pass it as an argument"

REFUSED = {
    "_unique.default": (
        "the gradient of a tensor that index_fill puts asks how many different indices there are",
        "use torch.where(mask, value, x)",
    ),
    "linalg_eig.default": (SPECTRUM, BEFORE),
    "linalg_eigvals.default": (SPECTRUM, BEFORE),
    "linalg_lstsq.default": ("its rank depends on the values", "use torch.linalg.qr or torch.linalg.pinv"),
    "linalg_matrix_exp.default": ("how many terms it takes depends on the values", "sum as many terms as are needed"),
    "_sparse_coo_tensor_with_dims_and_tensors.default": (
        "a program's tensors are dense",
        "take sparse=False, or give the whole step to ingot.torch.compile, which takes sparse gradients of embeddings",
    ),
    "multilabel_margin_loss_forward.default": (
        "PyTorch's own decomposition of it is another function",
        "call torch.nn.functional.multilabel_margin_loss",
    ),
    "poisson.default": ("how many random numbers it takes depends on the values", "use the normal approximation"),
}


def _refusal(overload: str, why: str, instead: str) -> Rule:
    def refuse(e: Lowering, *_: Any, **__: Any) -> Value:
        raise e.refuse(f"aten.{overload} is not supported: {why}", instead)

    return refuse


for _overload, (_why, _instead) in REFUSED.items():
    aten(_overload)(_refusal(_overload, _why, _instead))
