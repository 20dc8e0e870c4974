"""What PyTorch's modules, losses and optimizers compute in f64, from bundles: forward, gradients, trajectories.

INGOT_GOLDENS names a folder of cases (modules, losses, optimizers: a .json list and a .safetensors file each). Each
case runs in f64, and in f32 within what rounding does to PyTorch itself.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from agreement import Training, agreement, default_dtype
from batch import Batch, Tensors
from bundle import Bundle, distance
from rounding import Alter, f32_bounds, in_dtype
from safetensors.torch import load_file
from tool import ROOT
from torch import nn

import ingot.torch

GOLDENS = Path(os.environ.get("INGOT_GOLDENS", ROOT.parent / "shared/goldens/torch"))
TOLERANCE = 1e-9
DTYPES = {"f64": torch.float64, "f32": torch.float32}

Case = dict[str, Any]
LISTS = ("normalized_shape", "milestones")  # keyword arguments that stay lists


@cache
def cases(group: str) -> dict[str, Case]:
    file = GOLDENS / f"{group}.json"
    return {case["name"]: case for case in json.loads(file.read_text())} if file.exists() else {}


@cache
def tensors(group: str) -> Tensors:
    return load_file(GOLDENS / f"{group}.safetensors")


def data(group: str, name: str) -> Tensors:
    return {k.removeprefix(f"{name}/"): v for k, v in tensors(group).items() if k.startswith(f"{name}/")}


def arguments(case: Case) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) and k not in LISTS else v for k, v in case["kwargs"].items()}


class Golden:
    """A module in an element type, its state and arguments passed through `alter`."""

    def __init__(self, group: str, name: str, dtype: torch.dtype, alter: Alter = lambda tensor: tensor):
        self.case = cases(group)[name]
        self.expected = data(group, name)
        given = {key: alter(in_dtype(value, dtype)) for key, value in self.expected.items()}
        with default_dtype(dtype):
            self.module = getattr(nn, self.case["class"])(**arguments(self.case))
        self.module.train(self.case.get("training", True))
        with torch.no_grad():
            for kind, held in (("param", self.module.named_parameters()), ("buffer", self.module.named_buffers())):
                for key, tensor in held:
                    tensor.copy_(given[f"{kind}.{key}"])
        self.arguments = (*(given[f"input.{i}"] for i in range(self.case["inputs"])), given["grad_output"])

    def run(self, *arguments: torch.Tensor) -> Tensors:
        """The module's output and the gradients that the case has."""
        *given, weight = arguments
        wanted = [int(key.removeprefix("input.")) for key in self.case["grads"] if key.startswith("input.")]
        given = [x.detach().requires_grad_() if i in wanted else x for i, x in enumerate(given)]
        output = self.module(*given)
        output = output[0] if isinstance(output, tuple) else output
        parameters = dict(self.module.named_parameters())
        outputs = {"output": output}
        of = {f"grad.input.{i}": given[i] for i in wanted} | {f"grad.param.{n}": p for n, p in parameters.items()}
        if of:
            outputs |= dict(zip(of, torch.autograd.grad((output * weight).sum(), list(of.values())), strict=True))
        return outputs

    def run_eager(self) -> Tensors:
        """What PyTorch gives: the outputs, and the buffers afterwards."""
        outputs = {name: value.detach() for name, value in self.run(*self.arguments).items()}
        return outputs | {f"after.{key}": buffer for key, buffer in self.module.named_buffers()}

    def program(self, entry: str) -> ingot.torch.Program:
        program = ingot.torch.Program({entry: self.module})
        program.add(entry, self.run, self.arguments)
        return program


MODULES = [
    pytest.param(group, name, dtype, id=f"{name}-{dtype}")
    for group in ("modules", "losses")
    for name in cases(group)
    for dtype in DTYPES
]


@pytest.fixture(scope="module")
def batch(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Batch:
    """The modules and losses that are asked for."""
    made = Batch(tmp_path_factory.mktemp("goldens"))
    for item in request.session.items:
        if getattr(item, "originalname", "") == "test_module":
            group, name, dtype = (item.callspec.params[key] for key in ("group", "name", "dtype"))
            entry = f"{name}_{dtype}"
            made.add(entry, Golden(group, name, DTYPES[dtype]).program)
    made.compile()
    return made


@pytest.mark.parametrize(("group", "name", "dtype"), MODULES)
def test_module(group: str, name: str, dtype: str, batch: Batch) -> None:
    golden = Golden(group, name, DTYPES[dtype])
    entry = f"{name}_{dtype}"
    outputs, state = batch.run(entry, golden.arguments)
    outputs |= {f"after.{key}": state[f"{entry}.{key}"] for key, _ in golden.module.named_buffers()}
    assert set(outputs) <= set(golden.expected), "outputs without a reference"
    bounds = dict.fromkeys(outputs, TOLERANCE)
    if dtype == "f32":
        bounds = f32_bounds(lambda alter: Golden(group, name, torch.float32, alter).run_eager(), golden.expected)
    far = {key: distance(value, golden.expected[key]) for key, value in outputs.items()}
    assert all(far[key] <= bounds[key] for key in outputs), (far, bounds)


def make_optimizer(name: str) -> Callable[[torch.dtype], Training]:
    """Makes the training of an optimizer's case: gradients are given."""
    case, expected = cases("optimizers")[name], data("optimizers", name)
    # A buffer with dampening is made of the first gradient.
    taken = 1 if case["kwargs"].get("dampening") else 0

    def make(dtype: torch.dtype) -> Training:
        model = nn.Module()
        model.param = nn.Parameter(in_dtype(expected["param"], dtype).clone())
        optimizer = getattr(torch.optim, case["class"])([model.param], **arguments(case))
        grads = in_dtype(expected["grads"], dtype)

        def step(grads: torch.Tensor) -> torch.Tensor:
            model.param.grad = grads
            optimizer.step()
            return model.param.sum()

        for first in grads[:taken]:
            step(first)
        return Training(model, optimizer, step, (grads[taken:],))

    return make


@pytest.mark.parametrize("name", cases("optimizers"))
def test_optimizer(name: str, tmp_path: Path) -> None:
    expected = data("optimizers", name)["params"]
    with default_dtype(torch.float64):
        training = make_optimizer(name)(torch.float64)
        (grads,) = training.batches
        program = ingot.torch.Program(training.model, training.optimizer)
        program.add("train_step", training.step, (grads[0],))
    log, final = Bundle(program, tmp_path).train({"grads": grads})
    sums = expected[-len(grads) :].flatten(1).sum(1).tolist()
    for row, total in zip(log, sums, strict=True):
        assert row["loss"] == pytest.approx(total, rel=TOLERANCE)
    assert distance(final["param"], expected[-1]) < TOLERANCE


@pytest.mark.parametrize("name", cases("optimizers"))
def test_optimizer_in_f32(name: str, tmp_path: Path) -> None:
    found = agreement(make_optimizer(name), tmp_path)
    assert found.holds, found
