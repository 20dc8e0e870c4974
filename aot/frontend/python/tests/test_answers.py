"""Values that Python must have: those of the first call, and a program that says where they are others."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from trainings import Training, agrees

import ingot.torch
from ingot.torch.text.emit import HELD

POOL = torch.randn(60, 6, 3, generator=torch.Generator().manual_seed(0))
XS = [next(x for x in POOL[8 * i :] if (x[:, 0] > 0).sum() == count) for i, count in enumerate((3, 3, 4, 2, 4, 3))]
Loss = Callable[[nn.Module, torch.Tensor], torch.Tensor]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))


def made(loss_of: Loss) -> tuple[nn.Module, torch.optim.Optimizer, Callable[[torch.Tensor], torch.Tensor]]:
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.5)

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = loss_of(model, x)
        loss.backward()
        optimizer.step()
        return loss

    return model, optimizer, step


def positive(x: torch.Tensor) -> torch.Tensor:
    return x[:, 0] > 0


def repeated(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    loss = model(x).square().mean()
    for _ in range(int(positive(x).sum())):
        loss = loss * 1.1
    return loss


def asked_often(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    y = model(x)
    for i in range(10):
        if (y > i / 4).any():
            y = y * 0.9
    return y.square().mean()


def halved(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    y = model(x)
    while y.norm() > 0.1:
        y = y * 0.5
    return y.square().mean()


def halved_by_torch(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    (y,) = torch.while_loop(lambda y: y.norm() > 0.1, lambda y: (y * 0.5,), (model(x),))
    return y.square().mean()


def of_groups(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    groups, which, counts = torch.unique(positive(x).long() * 3, return_inverse=True, return_counts=True)
    return (model(x).sum(1) * counts[which]).square().mean() + groups.sum()


def of_runs(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    _, counts = torch.unique_consecutive(positive(x), return_counts=True)
    return model(x).square().mean() * counts.float().norm()


def of_experts(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    y, choice = torch.zeros(6, 2), x.argmax(1)
    for expert in torch.unique(choice):
        (rows,) = torch.where(choice == expert)
        y.index_add_(0, rows, model(x[rows]) * (expert + 1))
    return y.square().mean()


def split(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    lengths = positive(x).long() + 1
    parts = torch.split(x.repeat(2, 1)[: int(lengths.sum())], lengths.tolist())
    return sum(model(part).sum().square() for part in parts)


def written(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    y = model(x) * 1
    y[positive(x), 1] = y[positive(x), 0].sort()[0]
    return y.square().mean()


LOSSES: dict[str, Loss] = {
    "scale": lambda model, x: model(x / int(x.abs().max().round() + 1)).square().mean(),
    "length": lambda model, x: model(x[: positive(x).sum().item()]).square().sum(),
    "cut_number_of_the_state": lambda model, x: (model(x) * (int(model(x).abs().max() * 3) + 1)).square().mean(),
    "bincount": lambda model, x: (
        model(x).square().mean() * torch.bincount((x[:, 0].abs() * 2).long(), minlength=3).float().norm()
    ),
    "repeat_interleave": lambda model, x: model(x.repeat_interleave(positive(x).long() + 1, 0)).square().mean(),
    "cat": lambda model, x: torch.cat([model(x)[positive(x)], model(x)]).square().mean(),
    "sort": lambda model, x: model(x)[positive(x)].sort(0)[0][0].sum(),
    "masked_select": lambda model, x: model(x).masked_select(positive(x)[:, None]).sort()[0][:2].sum(),
    "column_by_mask": lambda model, x: model(x).T[:, positive(x)].std(),
    "numbers_in_a_text": lambda model, x: (
        (model(x) * sum(len(f"{i}") for i in (positive(x).nonzero()[:, 0] * 7).tolist())).square().mean()
    ),
    "positions_one_by_one": lambda model, x: sum(model(x)[int(i)].square().sum() for i in positive(x).nonzero()),
    "covariance": lambda model, x: torch.cov(model(x).T).square().sum() + torch.corrcoef(x[:2]).square().sum(),
    "dropout": lambda model, x: F.dropout(model(x), 0.0)[positive(x)].std(),
    **{
        f.__name__: f
        for f in (repeated, asked_often, halved, halved_by_torch, of_groups, of_runs, of_experts, split, written)
    },
}


@pytest.mark.parametrize("name", LOSSES)
def test_is_traced_again_where_values_are_others(name: str) -> None:
    _, _, eager = made(LOSSES[name])
    model, optimizer, function = made(LOSSES[name])
    step = ingot.torch.compile(function, model, optimizer)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for x in XS:
            assert step(x).item() == pytest.approx(eager(x).item(), rel=1e-4)
    taken = [str(w.message) for w in said if "taken as they are in this call" in str(w.message)]
    assert len(taken) == 1
    assert "test_answers.py:" in taken[0]


def test_counts_have_as_many_bins_as_are_asked_for_where_these_are_enough() -> None:
    def loss_of(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
        return model(x).square().mean() * torch.bincount((x[:, 0].abs() * 2).long(), minlength=3).float().norm()

    _, _, eager = made(loss_of)
    model, optimizer, function = made(loss_of)
    step = ingot.torch.compile(function, model, optimizer)
    with pytest.warns(UserWarning, match="taken as they are"):
        for x in (XS[0] / 9, XS[0] / 3, XS[0] * 0):
            assert step(x).item() == pytest.approx(eager(x).item(), rel=1e-4)
    assert step.programs == 1


def test_a_file_counts_positions(tmp_path: Path) -> None:
    def loads(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
        shares = model(x).softmax(-1)
        loads = torch.bincount(shares.topk(1).indices.flatten(), minlength=2)
        return (shares.mean(0) * loads).sum() + shares.argmax(-1).bincount(minlength=3).numel()

    model, optimizer, step = made(loads)
    agrees(Training(model, optimizer, step), tmp_path, steps=3)


def test_equal_tensors_choose_a_branch() -> None:
    def loss_of(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
        y = model(x)
        return y.square().mean() * (2 if torch.equal(x, x.abs()) or torch.equal(x, x[:2]) else 1)

    _, _, eager = made(loss_of)
    model, optimizer, function = made(loss_of)
    step = ingot.torch.compile(function, model, optimizer)
    for x in (XS[0], XS[0].abs(), XS[1]):
        assert step(x).item() == pytest.approx(eager(x).item(), rel=1e-4)


def test_nothing_changes_where_values_are_others() -> None:
    """A program's own answer, in a run of its own: state, random numbers' too, stays as it was."""
    model, optimizer, step = made(lambda model, x: F.dropout(model(x[: int(positive(x).sum())])).square().mean())
    program = ingot.torch.Program(model, optimizer)
    program.add("train_step", step, (XS[0],), guards=True)
    session = ingot.Session(ingot.compile(program))
    before = {name: session.state.torch(name).clone() for name in session.state}
    other = next(x for x in XS if positive(x).sum() != positive(XS[0]).sum())
    assert not session.entries["train_step"](x=other)[HELD]
    assert all(torch.equal(before[name], session.state.torch(name)) for name in before)
    assert session.entries["train_step"](x=XS[0])[HELD]
    assert not torch.equal(before["weight"], session.state.torch("weight"))


def test_a_file_has_no_such_values() -> None:
    model, optimizer, step = made(repeated)
    with pytest.raises(ingot.torch.TraceError, match="value of a tensor"):
        ingot.torch.Program(model, optimizer).add("train_step", step, (XS[0],))


@pytest.mark.filterwarnings("ignore:.*taken as they are")
def test_other_values_are_refused_where_nothing_may_be_traced_again() -> None:
    model, optimizer, step = made(repeated)
    strict = ingot.torch.compile(step, model, optimizer, on_change="error")
    strict(XS[0])
    weight = model.weight.detach().clone()
    other = next(x for x in XS if positive(x).sum() != positive(XS[0]).sum())
    with pytest.raises(ingot.torch.TraceError, match="Python would be given other values of tensors"):
        strict(other)
    assert torch.equal(weight, model.weight)


def test_a_float_of_the_state_is_computed() -> None:
    """It is another in each call."""

    def loss(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
        return model(x).square().mean() / float(model.weight.detach().norm())

    _, _, eager = made(loss)
    model, optimizer, function = made(loss)
    step = ingot.torch.compile(function, model, optimizer)
    for x in XS:
        torch.testing.assert_close(step(x), eager(x))
    assert step.programs == 1


def test_carried_numbers_are_no_such_values() -> None:
    calls = 0

    def counted(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
        nonlocal calls
        calls += 1
        return model(x[: int(positive(x).sum())]).square().sum() / calls

    _, _, eager = made(counted)
    expected = [eager(XS[0]).item() for _ in range(4)]
    calls = 0
    model, optimizer, step = made(counted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = ingot.torch.compile(step, model, optimizer)
        assert [compiled(XS[0]).item() for _ in range(4)] == pytest.approx(expected, rel=1e-4)
    assert compiled.programs == 1
