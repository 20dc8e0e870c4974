"""torch.utils.checkpoint and auto_checkpoint: less memory, the same training."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import torch
from bundle import Bundle, distance
from tool import call
from torch import nn
from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts

import ingot.torch
from ingot.torch.auto_checkpoint import limit_of

STEPS, ROWS, WIDTH = 3, 64, 32


class Blocks(nn.Module):
    def __init__(self, run: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self.run = run
        self.into = nn.Linear(WIDTH, WIDTH)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.Tanh(), nn.Linear(4 * WIDTH, WIDTH)) for _ in range(6)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.into(x)
        for block in self.blocks:
            x = x + self.run(block, x)
        return x


def trained(run: Callable[..., torch.Tensor], folder: Path) -> tuple[int, float]:
    """The bytes of the arena, and how far the last weights are from PyTorch's."""
    torch.manual_seed(0)
    model = Blocks(run)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    xs = torch.randn(STEPS, ROWS, WIDTH)

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    program = ingot.torch.Program(model, optimizer)
    program.add("train_step", step, (xs[0],))
    bundle = Bundle(program, folder)
    _, final = bundle.train({"x": xs})
    for x in xs:
        step(x)
    far = max(distance(final[name], tensor) for name, tensor in program.state.tensors.items())
    (entry,) = json.loads(call("inspect", folder / "bundle.ingot", "--json"))["entries"]
    return entry["plans"][0]["arena_bytes"], far


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_checkpoints_take_less_memory(use_reentrant: bool, tmp_path: Path) -> None:
    plain, far = trained(lambda block, x: block(x), tmp_path / "plain")
    assert far < 1e-6
    less, far = trained(lambda block, x: checkpoint(block, x, use_reentrant=use_reentrant), tmp_path / "less")
    assert far < 1e-6
    assert less < 0.8 * plain


def test_chosen_ops_are_computed_once(tmp_path: Path) -> None:
    contexts = partial(create_selective_checkpoint_contexts, [torch.ops.aten.addmm.default])
    _, far = trained(lambda block, x: checkpoint(block, x, use_reentrant=False, context_fn=contexts), tmp_path)
    assert far < 1e-6


class Stepped:
    """A model that drops out, and a step of its training, which may be compiled."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.model = Blocks(lambda block, x: nn.functional.dropout(block(x), 0.1, self.model.training))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.01)

    def step(self, x: torch.Tensor) -> torch.Tensor:
        self.optimizer.zero_grad()
        loss = self.model(x).square().mean()
        loss.backward()
        self.optimizer.step()
        return loss

    def trained(self, **options: object) -> tuple[int, list[torch.Tensor]]:
        """What the compiled step holds, and its losses and the weights after three calls."""
        step = ingot.torch.compile(self.step, self.model, self.optimizer, verify=False, **options)
        torch.manual_seed(0)  # the same numbers are dropped
        losses = [step(x) for x in torch.randn(STEPS, ROWS, WIDTH, generator=torch.Generator().manual_seed(0))]
        return step.memory_bytes, [*losses, *self.model.state_dict().values()]


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))


def test_a_model_computes_again_to_the_same_bits(own_cache: None) -> None:
    most, expected = Stepped().trained()
    limited, least = Stepped(), Stepped()
    assert ingot.torch.auto_checkpoint(limited.model, most) is limited.model
    assert limited.trained()[0] == most  # what fits anyway stays as it is
    ingot.torch.auto_checkpoint(least.model)
    reached, given = least.trained()
    assert reached < 0.8 * most
    for mine, tensor in zip(given, expected, strict=True):
        assert torch.equal(mine, tensor)


def step_bytes(file: Path) -> int:
    """Arena and scratch of a bundle's training step."""
    (plan,) = [
        row["plans"][0] for row in json.loads(call("inspect", file, "--json"))["entries"] if row["name"] == "train_step"
    ]
    return plan["arena_bytes"] + plan["scratch_bytes"]


def test_ops_are_values_that_python_shows(own_cache: None) -> None:
    model = nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    kept = [torch.ops.aten.mm.default, torch.ops.aten.addmm]

    @ingot.torch.step(model, optimizer)
    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        contexts = partial(create_selective_checkpoint_contexts, [*kept[:1], torch.ops.aten.addmm.default])
        loss = checkpoint(lambda x: model(x).sin(), x, use_reentrant=False, context_fn=contexts).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        step(torch.randn(2, 3))
    kept[0] = torch.ops.aten.bmm.default
    with pytest.warns(UserWarning, match="aten.bmm"):
        step(torch.randn(2, 3))


def test_a_program_has_the_limit_of_its_model(tmp_path: Path) -> None:
    training = Stepped()
    example = (torch.ones(ROWS, WIDTH),)
    program = ingot.torch.Program(ingot.torch.auto_checkpoint(training.model, "180KiB"), training.optimizer)
    program.add("train_step", training.step, example)
    program.add("predict", training.model, example, training=False)
    assert program.memory_limits == {"train_step": "180KiB"}
    ingot.compile(program, tmp_path / "net.ingot")
    assert step_bytes(tmp_path / "net.ingot") <= 180 << 10
    ingot.compile(program, tmp_path / "whole.ingot", memory_limit="100MiB")
    assert step_bytes(tmp_path / "whole.ingot") > 180 << 10
    with pytest.warns(UserWarning, match="ingot compile .* --memory-limit train_step=180KiB"):
        program.save(tmp_path / "net")


def test_limits_are_of_modules_and_the_same() -> None:
    one, two = nn.Linear(1, 1), nn.Linear(1, 1)
    assert limit_of({"one": one, "two": two}) is None
    ingot.torch.auto_checkpoint(one, 65536)
    assert limit_of({"one": one, "two": two}) == 65536
    ingot.torch.auto_checkpoint(two, "1MiB")
    with pytest.raises(ValueError, match="different limits, 65536 and 1MiB: give them the same"):
        limit_of({"one": one, "two": two})
    with pytest.raises(TypeError, match="auto_checkpoint takes a module, and was given a function"):
        ingot.torch.auto_checkpoint(lambda x: x)


def test_a_batch_in_parts_trains_the_same(own_cache: None) -> None:
    _, expected = Stepped().trained()
    _, given = Stepped().trained(micro_batches=4)
    for mine, tensor in zip(given, expected, strict=True):
        torch.testing.assert_close(mine, tensor, rtol=1e-4, atol=1e-5)


def test_words_that_do_not_count_are_counted_before(own_cache: None) -> None:
    """What the loss divides by is of the whole batch; the step is compared with PyTorch's."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(20, 16), nn.Linear(16, 16), nn.GELU(), nn.Linear(16, 20))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @ingot.torch.step(model, optimizer, memory_limit="1MiB", micro_batches=4)
    def step(words: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(words).flatten(0, 1), labels.flatten())
        loss.backward()
        optimizer.step()
        return loss

    words, labels = torch.randint(0, 20, (2, 8, 5))
    labels[0, 1:] = -100
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        losses = [step(words, labels).item() for _ in range(3)]
    assert losses == sorted(losses, reverse=True)
