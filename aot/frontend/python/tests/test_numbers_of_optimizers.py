"""Numbers of optimizers that are inputs of programs, where they are 0 for a while."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn
from trainings import usual_step

import ingot.torch

XS = torch.randn(6, 6, 3, generator=torch.Generator().manual_seed(0))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))


ZEROED = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.5),
    "rmsprop": lambda parameters: torch.optim.RMSprop(parameters, lr=0.01, momentum=0.5),
}


@pytest.mark.filterwarnings("ignore:.*`momentum` is 0, and was 0.5.*it is traced again")
@pytest.mark.parametrize("name", ZEROED)
def test_momentum_may_be_nothing_for_a_while(name: str) -> None:
    """What is 0 leaves the slots as they are, where a product with 0 would not."""

    def make() -> tuple[nn.Module, torch.optim.Optimizer]:
        torch.manual_seed(0)
        model = nn.Linear(3, 2)
        return model, ZEROED[name](model.parameters())

    (mine, my_optimizer), (theirs, their_optimizer) = make(), make()
    step = ingot.torch.compile(lambda x: usual_step(mine, my_optimizer, x), mine, my_optimizer)
    for x, momentum in zip(XS, (0.0, 0.0, 0.5, 0.25, 0.0, 0.5), strict=True):
        assert step(x).item() == pytest.approx(usual_step(theirs, their_optimizer, x).item(), rel=1e-5)
        assert torch.allclose(mine.weight, theirs.weight, rtol=1e-5, atol=1e-7)
        for optimizer in (my_optimizer, their_optimizer):
            optimizer.param_groups[0]["momentum"] = momentum
