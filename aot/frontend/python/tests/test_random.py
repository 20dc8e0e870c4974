"""Dropout in bundles: keyed by seed and step."""

from __future__ import annotations

from pathlib import Path

import torch
import torch.nn.functional as F
from bundle import Bundle
from torch import nn
from torch.utils.checkpoint import checkpoint

import ingot.torch


def test_dropout_is_reproducible_and_differs_between_steps(tmp_path: Path) -> None:
    dropout = nn.Dropout(0.25)

    def step(x: torch.Tensor) -> dict[str, torch.Tensor]:
        y = dropout(x)
        at = torch.arange(1.0, 4001.0)
        return {"loss": (y * at).sum() / at.sum(), "kept": (y > 0).float().mean(), "top": y.max()}

    program = ingot.torch.Program(dropout, seed=7)
    program.add("train_step", step, (torch.ones(4000),))
    program.add("predict", dropout, (torch.ones(4000),), training=False)
    bundle = Bundle(program, tmp_path)
    log, state = bundle.train({"x": torch.ones(3, 4000)})
    again, _ = bundle.train({"x": torch.ones(3, 4000)})
    assert log == again
    assert len({row["loss"] for row in log}) == 3
    assert all(abs(row["kept"] - 0.75) < 0.03 for row in log)
    assert all(abs(row["top"] - 4 / 3) < 1e-6 for row in log)
    assert state["rng.step"].item() == 3


class Dropped(nn.Module):
    """Ones that dropout leaves, and weights that another leaves, which backward computes again."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1000))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return F.dropout(x, 0.5), checkpoint(lambda: F.dropout(self.weight * x, 0.25), use_reentrant=False)


def test_checkpoints_drop_the_same_again(tmp_path: Path) -> None:
    model = Dropped()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)

    def step(x: torch.Tensor) -> dict[str, torch.Tensor]:
        optimizer.zero_grad()
        ones, weights = model(x)
        weights.sum().backward()
        optimizer.step()
        return {"ones": ones, "weights": weights}

    before = torch.get_rng_state()
    program = ingot.torch.Program(model, optimizer)
    program.add("train_step", step, (torch.ones(1000),))
    assert torch.equal(torch.get_rng_state(), before)
    outputs, state = Bundle(program, tmp_path).run({"x": torch.ones(1000)}, "train_step")
    assert torch.allclose(state["weight"], 1 - outputs["weights"])
    both = ((outputs["ones"] > 0) & (outputs["weights"] > 0)).float().mean()
    assert abs(both - 0.5 * 0.75) < 0.05


def test_random_numbers_have_their_distributions(tmp_path: Path) -> None:
    count = 4000

    def draws(x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {
            "uniform": torch.rand(count),
            "between": torch.empty(count).uniform_(2, 4),
            "normal": torch.randn(count, dtype=torch.float64),
            "moved": torch.normal(torch.full((count,), 3.0), 2.0),
            "filled": torch.empty(count).normal_(1, 0.5),
            "exponential": torch.empty(count).exponential_(2.0),
            "coin": torch.bernoulli(torch.full((count,), 0.3)),
            "die": torch.randint(1, 7, (count,)),
            "order": torch.randperm(count),
            "drawn": torch.multinomial(x, count, replacement=True),
            "distinct": torch.multinomial(x, 3),
            "alpha": F.alpha_dropout(torch.randn(count), 0.2),
            "channels": F.dropout2d(torch.ones(10, 40, 3, 3), 0.5),
            "slopes": F.rrelu(-torch.ones(count), 0.1, 0.3, training=True),
        }

    program = ingot.torch.Program(nn.Identity(), seed=3)
    weights = torch.tensor([1.0, 0, 2, 5, 2])
    program.add("draws", draws, (weights,))
    out, state = Bundle(program, tmp_path).run({"x": weights}, "draws")
    means = {"uniform": 0.5, "between": 3, "normal": 0, "moved": 3, "filled": 1, "exponential": 0.5, "coin": 0.3}
    means |= {"die": 3.5, "alpha": 0, "channels": 1, "slopes": -0.2}
    deviations = {"uniform": 12**-0.5, "between": 3**-0.5, "normal": 1, "moved": 2, "filled": 0.5, "exponential": 0.5}
    deviations |= {"coin": 0.21**0.5, "die": (35 / 12) ** 0.5, "alpha": 1, "slopes": 0.2 * 12**-0.5}
    for name, mean in means.items():
        assert abs(out[name].double().mean() - mean) < 0.15, name
    for name, deviation in deviations.items():
        assert abs(out[name].double().std() / deviation - 1) < 0.08, name
    assert out["die"].unique().tolist() == [1, 2, 3, 4, 5, 6]
    assert out["order"].sort().values.tolist() == list(range(count))
    assert out["order"].tolist() != list(range(count))
    shares = out["drawn"].bincount(minlength=5) / count
    assert (shares - weights / 10).abs().max() < 0.04
    assert len(out["distinct"].unique()) == 3
    assert 1 not in out["distinct"]
    assert set(out["channels"].sum((2, 3)).unique().tolist()) == {0, 18}
    assert state["rng.step"].item() == 1
