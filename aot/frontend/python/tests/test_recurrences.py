"""Recurrences that Python or PyTorch unrolls: code does not grow with the sequence, and steps are PyTorch's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from bundle import Bundle, distance
from tool import call
from torch import nn

import ingot.torch

STEPS, ROWS, WIDTH, WORDS = 3, 4, 24, 17
TOLERANCE = 2e-5
SHORT, LONG = 8, 24


class Words(nn.Module):
    """Scores of the next word by a layer that goes through the words."""

    def __init__(self, layer: nn.Module, width: int = WIDTH) -> None:
        super().__init__()
        self.embedding, self.layer, self.head = nn.Embedding(WORDS, WIDTH), layer, nn.Linear(width, WORDS)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        made = self.layer(self.embedding(x))
        return self.head(made[0] if isinstance(made, tuple) else made).transpose(1, 2)


class Cells(nn.Module):
    """A loop of Python's over [rows, length, width]."""

    def __init__(self, cell: nn.Module) -> None:
        super().__init__()
        self.cell = cell

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state, made = None, []
        for t in range(x.shape[1]):
            state = self.cell(x[:, t], state)
            made.append(state[0] if isinstance(state, tuple) else state)
        return torch.stack(made, dim=1)


class Gated(nn.Module):
    """A cell of one's own, with a norm and a residual; from the last word to the first."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.made, self.norm = nn.Linear(2 * WIDTH, WIDTH), nn.Linear(2 * WIDTH, WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state, made = torch.zeros_like(x[:, 0]), []
        for t in reversed(range(x.shape[1])):
            both = torch.cat([x[:, t], state], dim=-1)
            state = self.norm(state + torch.sigmoid(self.gate(both)) * torch.tanh(self.made(both)))
            made.append(state)
        return torch.stack(made[::-1], dim=1)


LAYERS: dict[str, Callable[[], nn.Module]] = {
    "LSTM": lambda: Words(nn.LSTM(WIDTH, WIDTH, batch_first=True)),
    "LSTM of two layers": lambda: Words(nn.LSTM(WIDTH, WIDTH, num_layers=2, batch_first=True)),
    "LSTM in both directions": lambda: Words(nn.LSTM(WIDTH, WIDTH, bidirectional=True, batch_first=True), 2 * WIDTH),
    "LSTM projected": lambda: Words(nn.LSTM(WIDTH, WIDTH, proj_size=8, batch_first=True), 8),
    "GRU": lambda: Words(nn.GRU(WIDTH, WIDTH, batch_first=True)),
    "RNN": lambda: Words(nn.RNN(WIDTH, WIDTH, batch_first=True)),
    "LSTMCell": lambda: Words(Cells(nn.LSTMCell(WIDTH, WIDTH))),
    "GRUCell": lambda: Words(Cells(nn.GRUCell(WIDTH, WIDTH))),
    "a cell of one's own": lambda: Words(Gated()),
}
FEW = ("LSTM", "LSTM in both directions", "GRUCell")  # the others take minutes, nightly


def trained(make: Callable[[], nn.Module], length: int, folder: Path) -> int:
    """Steps of a bundle beside PyTorch's, with words of so many; the bytes of machine code."""
    torch.manual_seed(0)
    model = make()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    xs, ys = (torch.randint(0, WORDS, (STEPS, ROWS, length)) for _ in range(2))

    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    program = ingot.torch.Program(model, optimizer)
    program.add("train_step", step, (xs[0], ys[0]))
    log, final = Bundle(program, folder).train({"x": xs, "y": ys})
    for row, x, y in zip(log, xs, ys, strict=True):
        assert row["loss"] == pytest.approx(step(x, y).item(), rel=TOLERANCE)
    far = {name: distance(final[name], value) for name, value in program.state.tensors.items()}
    assert max(far.values()) < TOLERANCE, far
    report = json.loads(call("inspect", folder / "bundle.ingot", "--json"))
    return int(report["targets"][0]["code_bytes"])


@pytest.mark.parametrize("layer", [pytest.param(x, marks=() if x in FEW else pytest.mark.nightly) for x in LAYERS])
def test_code_does_not_grow_with_the_sequence(layer: str, tmp_path: Path) -> None:
    short = trained(LAYERS[layer], SHORT, tmp_path / "short")
    assert trained(LAYERS[layer], LONG, tmp_path / "long") < 2 * short, "three times as long"
