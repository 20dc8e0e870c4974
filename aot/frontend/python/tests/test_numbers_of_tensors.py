"""Integers that Python computes of what tensors give: those that do not fit are refused before anything changes."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from trainings import Training, linear, usual_step

import ingot.torch
from ingot.torch.numbers.tensor_bounds import MOVING, RULES, of_constant, of_tensor

XS = torch.randn(4, 6, 3, generator=torch.Generator().manual_seed(0))
WIDE = "64 bits"
Factor = Callable[[nn.Module, torch.Tensor], float]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))


def scaled(factor: Factor) -> Training:
    """Steps whose batches are multiplied by what is computed of integers in buffers."""
    torch.manual_seed(0)
    model, optimizer = linear()
    model.register_buffer("n", torch.tensor(5))
    model.register_buffer("ids", torch.tensor([5, 2, 9]))
    return Training(model, optimizer, lambda x: usual_step(model, optimizer, x * factor(model, x)))


def part(number: Any) -> float:
    return 1 / (1 + number % 7)


# What is computed; whether a program of its own is refused, for which nobody looks at each run.
LARGE: dict[str, tuple[Factor, bool]] = {
    "tripled": (lambda model, _: part(model.n.item() * 3), False),
    "counted": (lambda model, _: part(model.n.add_(1).item() + 1), False),
    "squared": (lambda model, _: part(model.n.item() ** 2), False),
    "of_several": (lambda model, _: part(model.ids.sum().item() * 3), True),
    "added": (lambda model, _: part(sum(model.ids.tolist())), True),
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.filterwarnings("ignore:.*is traced again", "ignore:.*is not verified")
def test_what_does_not_fit_is_pytorchs(name: str) -> None:
    factor, is_refused_alone = LARGE[name]
    mine, theirs = scaled(factor), scaled(factor)
    program = ingot.torch.Program(mine.model, mine.optimizer)
    if is_refused_alone:
        with pytest.raises(ingot.torch.TraceError, match=rf"test_numbers_of_tensors\.py:\d+: .*{WIDE}"):
            program.add("train_step", mine.step, (XS[0],))
    else:
        program.add("train_step", mine.step, (XS[0],))
    step = ingot.torch.compile(mine.step, mine.model, mine.optimizer)
    for x in XS[:3]:
        assert step(x).item() == pytest.approx(theirs.step(x).item(), rel=1e-5)
    for training in (mine, theirs):
        training.model.n.fill_(2**62)
        training.model.ids.fill_(2**61)
    with pytest.warns(UserWarning, match=rf"call is PyTorch's: .*:\d+, .*too large for {WIDE}"):
        assert step(XS[3]).item() == pytest.approx(theirs.step(XS[3]).item(), rel=1e-5)


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.filterwarnings("ignore:.*is not verified")
def test_what_does_not_fit_is_refused_where_changes_are_errors(name: str) -> None:
    mine = scaled(LARGE[name][0])
    step = ingot.torch.compile(mine.step, mine.model, mine.optimizer, on_change="error")
    step(XS[0])
    mine.model.n.fill_(2**62)
    mine.model.ids.fill_(2**61)
    before = mine.model.weight.detach().clone()
    with pytest.raises(ingot.torch.TraceError, match="Python would be given other values of tensors"):
        step(XS[3])
    assert torch.equal(before, mine.model.weight)


# What always fits; what is cut where Python would have more digits than 64 bits is looked at in each run.
FITTING: dict[str, Factor] = {
    "count": lambda _, x: part((x > 0).sum().item() * 3 + 1),
    "place": lambda _, x: part(x.flatten().argmax().item() * 31),
    "remainder": lambda model, _: part((model.n * 77 % 100).item() * 3),
    "narrow": lambda model, _: part(model.ids.int().sum().item() * 3),
    "cut": lambda model, _: part(model.ids.clamp(0, 50).sum().item() * 3),
    "cut_in_python": lambda model, _: part(max(min(model.n.item(), 100), -100) * 3),
    "chosen": lambda model, x: part(torch.where(model.ids > 3, 7, -1).sum().item() * 3),
}


@pytest.mark.parametrize("name", FITTING)
def test_what_fits_is_not_looked_at(name: str) -> None:
    mine, theirs = scaled(FITTING[name]), scaled(FITTING[name])
    program = ingot.torch.Program(mine.model, mine.optimizer)
    program.add("train_step", mine.step, (XS[0],), guards=True)
    assert not program.traced["train_step"].computed.limited
    step = ingot.torch.compile(mine.step, mine.model, mine.optimizer)
    for x in XS:
        assert step(x).item() == pytest.approx(theirs.step(x).item(), rel=1e-5)


@pytest.mark.filterwarnings("ignore:.*is traced again", "ignore:.*is not verified", "ignore:.*are taken as they are")
def test_floats_that_are_made_whole_must_be_small() -> None:
    def factor(_: nn.Module, x: torch.Tensor) -> float:
        return part(math.floor(x.abs().sum().item() * 1e10) * 3)

    mine, theirs = scaled(factor), scaled(factor)
    step = ingot.torch.compile(mine.step, mine.model, mine.optimizer)
    small = torch.ones(6, 3)
    assert step(small).item() == pytest.approx(theirs.step(small).item(), rel=1e-5)
    with pytest.warns(UserWarning, match=f"call is PyTorch's: .*{WIDE}"):
        assert step(small * 1e6).item() == pytest.approx(theirs.step(small * 1e6).item(), rel=1e-5)


INTS = torch.tensor([[3, -4, 5], [7, 11, -2]])
APPLIED: dict[Any, tuple[Any, ...]] = {
    **dict.fromkeys(MOVING, ()),
    torch.ops.aten.view.default: ([3, 2],),
    torch.ops.aten.reshape.default: ([6],),
    torch.ops.aten._unsafe_view.default: ([6],),
    torch.ops.aten.expand.default: ([2, 2, 3],),
    torch.ops.aten.permute.default: ([1, 0],),
    torch.ops.aten.transpose.int: (0, 1),
    torch.ops.aten.squeeze.dim: (0,),
    torch.ops.aten.squeeze.dims: ([0],),
    torch.ops.aten.unsqueeze.default: (0,),
    torch.ops.aten.select.int: (0, 1),
    torch.ops.aten.index.Tensor: ([torch.tensor([1, 0])],),
    torch.ops.aten.index_select.default: (0, torch.tensor([1])),
    torch.ops.aten.gather.default: (0, torch.zeros(1, 3, dtype=torch.int64)),
    torch.ops.aten.embedding.default: (torch.tensor([1]),),
    torch.ops.aten.flip.default: ([0],),
    torch.ops.aten.where.self: (INTS, INTS * 2),
    torch.ops.aten.sum.dim_IntList: ([0],),
    torch.ops.aten.neg.default: (),
    torch.ops.aten.abs.default: (),
    torch.ops.aten.sum.default: (),
    torch.ops.aten.argmax.default: (),
    torch.ops.aten.argmin.default: (),
    torch.ops.aten.count_nonzero.default: (),
    torch.ops.aten.clamp.default: (-1, 6),
}


@pytest.mark.parametrize("op", [op for op in RULES if "arange" not in str(op)], ids=str)
@pytest.mark.parametrize("scale", [1, 2**60])
def test_bounds_hold_what_is_computed(op: Any, scale: int) -> None:
    """Also where integers of 64 bits wrap."""
    others = APPLIED.get(op, (3,) if "Scalar" in str(op) else (INTS + 6,))
    first = INTS > 0 if op is torch.ops.aten.where.self else INTS * scale
    first = torch.tensor(7 * scale) if op is torch.ops.aten.scalar_tensor.default else first
    graph = torch.fx.Graph()
    operand = graph.placeholder("x")
    operand.meta["val"] = first
    node = graph.call_function(op, (operand, *others))
    given = first.item() if op is torch.ops.aten.scalar_tensor.default else first
    made = op(given, *others, **({"dtype": torch.int64} if "scalar_tensor" in str(op) else {}))

    def known(value: Any) -> Any:
        if value is operand:
            return of_constant(first)
        return of_constant(value) if isinstance(value, torch.Tensor) else (value, value)

    low, high = of_tensor(node, made, known)
    assert low <= int(made.min()) <= int(made.max()) <= high


@pytest.mark.parametrize("numbers", [(5,), (1,), (-3, 4), (2, 9, 3), (9, -2, -4), (0, 6, 7)])
def test_bounds_of_counting(numbers: tuple[int, ...]) -> None:
    graph = torch.fx.Graph()
    op = getattr(torch.ops.aten.arange, ("default", "start", "start_step")[len(numbers) - 1])
    node = graph.call_function(op, numbers)
    made = torch.arange(*numbers)
    assert of_tensor(node, made, lambda _: None) == of_constant(made)
