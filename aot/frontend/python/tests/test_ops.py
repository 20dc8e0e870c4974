"""Single functions of tensors beside eager PyTorch: values and gradients in f64, some in f32, others exactly.

The cases are in ops/, by family.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from agreement import default_dtype
from batch import Batch, Tensors
from bundle import distance
from ops import FAMILIES
from rounding import f32_bounds, in_dtype
from torch import nn
from torch.utils import _pytree as pytree

import ingot.torch

TOLERANCE = 1e-9
EVERY = 4  # of so many cases one runs in f32 too
DTYPES = {"f64": torch.float64, "f32": torch.float32}
CASES = {f"{family}_{name}": case for family, cases in FAMILIES.items() for name, case in cases.items()}
PARAMETERS = [(name, dtype) for i, name in enumerate(CASES) for dtype in DTYPES if dtype == "f64" or i % EVERY == 0]


def values_and_gradients(name: str) -> Callable[..., Tensors]:
    """A case's tensors, and the gradients of their sum with weights for every argument that has one.

    Complex numbers come and go as their parts.
    """
    function, originals = CASES[name]

    def whole(*arguments: torch.Tensor) -> Tensors:
        leaves = [x.detach().requires_grad_(x.is_floating_point()) for x in arguments]
        given = [torch.view_as_complex(x) if o.is_complex() else x for x, o in zip(leaves, originals, strict=True)]
        results = [parts(r) for r in pytree.tree_leaves(function(*given)) if isinstance(r, torch.Tensor)]
        outputs = {f"value{i}": result for i, result in enumerate(results)}
        smooth = [r for r in results if r.requires_grad]
        if smooth:
            loss = torch.stack([(r * weights(r)).sum() for r in smooth]).sum()
            wanted = [x for x in leaves if x.requires_grad]
            gradients = torch.autograd.grad(loss, wanted, allow_unused=True)
            outputs |= {f"gradient{i}": g for i, g in enumerate(gradients) if g is not None}
        return outputs

    return whole


def parts(x: torch.Tensor) -> torch.Tensor:
    """Complex numbers as pairs of real ones."""
    return torch.view_as_real(x.resolve_conj()) if x.is_complex() else x


def weights(result: torch.Tensor) -> torch.Tensor:
    """Numbers in the result's shape, so that each element counts otherwise."""
    return torch.arange(1, result.numel() + 1).reshape(result.shape).to(result.dtype).mul(0.7).sin()


def converted(name: str, dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    return tuple(in_dtype(parts(x), dtype) for x in CASES[name][1])


@pytest.fixture(scope="module")
def batch(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Batch:
    """The cases that are asked for."""
    made = Batch(tmp_path_factory.mktemp("ops"))
    for item in request.session.items:
        if getattr(item, "originalname", "") == "test_op":
            name, dtype = item.callspec.params["name"], item.callspec.params["dtype"]

            def program(entry: str, name: str = name, dtype: str = dtype) -> ingot.torch.Program:
                made = ingot.torch.Program(nn.Identity())
                with default_dtype(DTYPES[dtype]):
                    made.add(entry, values_and_gradients(name), converted(name, DTYPES[dtype]), capture=True)
                return made

            made.add(f"{name}_{dtype}", program)
    made.compile()
    return made


@pytest.mark.parametrize(("name", "dtype"), PARAMETERS)
def test_op(name: str, dtype: str, batch: Batch) -> None:
    run = values_and_gradients(name)
    outputs, _ = batch.run(f"{name}_{dtype}", converted(name, DTYPES[dtype]))
    with default_dtype(DTYPES[dtype]):
        eager = {key: value.detach() for key, value in run(*converted(name, DTYPES[dtype])).items()}
    assert set(outputs) == set(eager)
    assert {key: v.dtype for key, v in outputs.items()} == {key: v.dtype for key, v in eager.items()}
    bounds = dict.fromkeys(outputs, TOLERANCE)
    reference = eager
    if dtype == "f32":
        with default_dtype(torch.float64):
            reference = run(*converted(name, torch.float64))
        with default_dtype(torch.float32):
            bounds = f32_bounds(lambda alter: run(*map(alter, converted(name, torch.float32))), reference)
    for key, value in outputs.items():
        if value.dtype.is_floating_point:
            far = distance(value, reference[key].detach())
            assert far <= bounds[key], (key, far, bounds[key], value, reference[key])
        else:
            assert torch.equal(value, eager[key]), (key, value, eager[key])
