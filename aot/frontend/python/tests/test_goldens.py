"""What PyTorch's modules, losses and optimizers compute in f64, from bundles: forward, gradients, trajectories.

INGOT_GOLDENS names a folder of cases (modules, losses, optimizers: a .json list and a .safetensors file each).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from bundle import Bundle, distance
from safetensors.torch import load_file
from tool import ROOT
from torch import nn

import ingot.torch

GOLDENS = Path(os.environ.get("INGOT_GOLDENS", ROOT.parent / "shared/goldens/torch"))
TOLERANCE = 1e-9

Case = dict[str, Any]
LISTS = ("normalized_shape", "milestones")  # keyword arguments that stay lists


def cases(group: str) -> list[Case]:
    file = GOLDENS / f"{group}.json"
    return json.loads(file.read_text()) if file.exists() else []


def named(case: Case) -> str:
    return str(case["name"])


def data(group: str, case: Case) -> dict[str, torch.Tensor]:
    prefix = f"{case['name']}/"
    return {
        k.removeprefix(prefix): v
        for k, v in load_file(GOLDENS / f"{group}.safetensors").items()
        if k.startswith(prefix)
    }


def arguments(case: Case) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) and k not in LISTS else v for k, v in case["kwargs"].items()}


@pytest.fixture(autouse=True)
def f64() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def agrees_in_module(group: str, case: Case, folder: Path) -> None:
    """Runs a module and its backward pass once."""
    expected = data(group, case)
    module = getattr(nn, case["class"])(**arguments(case)).train(case.get("training", True))
    with torch.no_grad():
        for kind, tensors in (("param", module.named_parameters()), ("buffer", module.named_buffers())):
            for name, tensor in tensors:
                tensor.copy_(expected[f"{kind}.{name}"])
    inputs = [expected[f"input.{i}"] for i in range(case["inputs"])]
    wanted = [int(name.removeprefix("input.")) for name in case["grads"] if name.startswith("input.")]

    def forward_and_backward(*arguments: torch.Tensor) -> dict[str, torch.Tensor]:
        *given, weight = arguments
        given = [x.detach().requires_grad_() if i in wanted else x for i, x in enumerate(given)]
        output = module(*given)
        output = output[0] if isinstance(output, tuple) else output
        parameters = dict(module.named_parameters())
        outputs = {"output": output}
        of = {f"grad.input.{i}": given[i] for i in wanted} | {f"grad.param.{n}": p for n, p in parameters.items()}
        if of:
            outputs |= dict(zip(of, torch.autograd.grad((output * weight).sum(), list(of.values())), strict=True))
        return outputs

    program = ingot.torch.Program(module)
    arguments_ = (*inputs, expected["grad_output"])
    program.add("step", forward_and_backward, arguments_)
    names = [i["name"] for i in program.inputs["step"]]
    outputs, state = Bundle(program, folder).run(dict(zip(names, arguments_, strict=True)), "step")
    outputs |= {f"after.{name}": state[name] for name, _ in module.named_buffers()}
    far = {name: distance(outputs[name], value) for name, value in expected.items() if name in outputs}
    assert set(outputs) <= set(far), "outputs without a reference"
    assert max(far.values()) < TOLERANCE, far


@pytest.mark.parametrize("case", cases("modules"), ids=named)
def test_module(case: Case, tmp_path: Path) -> None:
    agrees_in_module("modules", case, tmp_path)


# Classes that cannot be traced, and why.
REFUSED = {"GaussianNLLLoss": "PyTorch looks at the variances in Python, to refuse negative ones"}


@pytest.mark.parametrize("case", cases("losses"), ids=named)
def test_loss(case: Case, tmp_path: Path) -> None:
    if case["class"] in REFUSED:
        with pytest.raises(ingot.torch.TraceError, match="asks for the value of a tensor"):
            agrees_in_module("losses", case, tmp_path)
        return
    agrees_in_module("losses", case, tmp_path)


@pytest.mark.parametrize("case", cases("optimizers"), ids=named)
def test_optimizer(case: Case, tmp_path: Path) -> None:
    expected = data("optimizers", case)
    model = nn.Module()
    model.param = nn.Parameter(expected["param"].clone())
    optimizer = getattr(torch.optim, case["class"])([model.param], **arguments(case))

    def step(grads: torch.Tensor) -> torch.Tensor:
        model.param.grad = grads
        optimizer.step()
        return model.param.sum()

    first = 1 if case["kwargs"].get("dampening") else 0  # such a buffer is made of the first gradient
    for grads in expected["grads"][:first]:
        step(grads)
    program = ingot.torch.Program(model, optimizer)
    program.add("train_step", step, (expected["grads"][0],))
    log, final = Bundle(program, tmp_path).train({"grads": expected["grads"][first:]})
    sums = expected["params"][first:].flatten(1).sum(1).tolist()
    for row, total in zip(log, sums, strict=True):
        assert row["loss"] == pytest.approx(total, rel=TOLERANCE)
    assert distance(final["param"], expected["params"][-1]) < TOLERANCE
