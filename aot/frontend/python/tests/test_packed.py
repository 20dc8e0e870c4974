"""Packed sequences in recurrent layers: lengths that differ from call to call are inputs of one program."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence as pack
from torch.nn.utils.rnn import pack_sequence
from torch.nn.utils.rnn import pad_packed_sequence as pad
from trainings import Training, agrees

import ingot.torch

LENGTHS = [[5, 3, 1], [5, 5, 2], [5, 4, 4]]
LAYERS: dict[str, Callable[[], nn.Module]] = {
    "LSTM": lambda: nn.LSTM(4, 3, num_layers=2, bidirectional=True, batch_first=True),
    "projected": lambda: nn.LSTM(4, 3, proj_size=2, batch_first=True),
    "GRU": lambda: nn.GRU(4, 3, bidirectional=True, bias=False, batch_first=True),
    "RNN": lambda: nn.RNN(4, 3, nonlinearity="relu", batch_first=True),
}


def compared(layer: nn.Module, loss_of: Callable[..., torch.Tensor], calls: list[tuple[Any, ...]]) -> Any:
    """A step of a loss, which is PyTorch's in each call: what it returns, and the weights that it leaves."""
    other = copy.deepcopy(layer)
    optimizers = [torch.optim.SGD(model.parameters(), lr=0.1) for model in (layer, other)]

    def stepping(model: nn.Module, optimizer: torch.optim.Optimizer) -> Callable[..., torch.Tensor]:
        def step(*batch: Any) -> torch.Tensor:
            optimizer.zero_grad()
            loss = loss_of(model, *batch)
            loss.backward()
            optimizer.step()
            return loss

        return step

    step = ingot.torch.compile(stepping(layer, optimizers[0]), layer, optimizers[0])
    eager = stepping(other, optimizers[1])
    for batch in calls:
        torch.testing.assert_close(step(*batch).detach(), eager(*batch).detach(), rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(layer.state_dict(), other.state_dict(), rtol=1e-4, atol=1e-5)
    return step


@pytest.mark.parametrize("name", LAYERS)
def test_lengths_are_inputs(name: str) -> None:
    def loss_of(layer: nn.Module, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        y, last = layer(pack(x, lengths, batch_first=True, enforce_sorted=False))
        y, counts = pad(y, batch_first=True, padding_value=0.5)
        last = torch.cat(last, -1) if isinstance(last, tuple) else last
        return y.square().mean() + last.square().sum() + (y.sum((1, 2)) / counts).sum()

    torch.manual_seed(0)
    orders = [[1, 2, 0], [0, 1, 2], [2, 0, 1]]
    lengths = [torch.tensor(given)[order] for given, order in zip(LENGTHS, orders, strict=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        step = compared(LAYERS[name](), loss_of, [(torch.randn(3, 5, 4), given) for given in lengths])
    assert step.programs == 1


def test_rows_that_are_packed_are_reduced() -> None:
    class Captions(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.layer, self.head = nn.Embedding(7, 4), nn.GRU(4, 3, batch_first=True), nn.Linear(3, 7)

    def loss_of(model: Captions, words: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        outputs, _ = model.layer(pack(model.table(words), lengths, batch_first=True))
        targets = pack(words.roll(-1, 1), lengths, batch_first=True).data
        return functional.cross_entropy(model.head(outputs.data), targets)

    torch.manual_seed(0)
    calls = [(torch.randint(7, (3, 5)), torch.tensor(lengths)) for lengths in LENGTHS]
    assert compared(Captions(), loss_of, calls).programs == 1


class Captions(nn.Module):
    """Reads a start before the words: what it packs is longer than the targets, by one step that no length reaches."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.layer, self.head = nn.Embedding(7, 4), nn.LSTM(4, 3, batch_first=True), nn.Linear(3, 7)

    def forward(self, words: torch.Tensor, lengths: Any) -> torch.Tensor:
        start = words.new_zeros((len(words), 1))
        outputs, _ = self.layer(pack(self.table(torch.cat([start, words], 1)), lengths, batch_first=True))
        made: torch.Tensor = self.head(outputs.data)
        return made


@pytest.mark.parametrize("are_lists", [False, True])
def test_one_mask_selects_what_is_packed_by_the_same_lengths(are_lists: bool) -> None:
    def loss_of(model: Captions, words: torch.Tensor, lengths: Any) -> torch.Tensor:
        targets = pack(words, lengths, batch_first=True)[0]
        return functional.cross_entropy(model(words, lengths), targets)

    torch.manual_seed(0)
    calls = [(torch.randint(7, (3, 5)), given if are_lists else torch.tensor(given)) for given in LENGTHS]
    said = r"`argument 1\[1\]` is 5, and was 3 .* read in each call from now on"
    with pytest.warns(UserWarning, match=said) if are_lists else nullcontext():
        step = compared(Captions(), loss_of, calls)
    assert step.programs == (2 if are_lists else 1), "numbers of lists are inputs once they changed"


def test_a_step_that_asks_how_many_rows_are_packed_is_pytorchs() -> None:
    def loss_of(layer: nn.Module, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        y, _ = layer(pack(x, lengths, batch_first=True))
        return y.data.cumsum(0).square().mean()

    with pytest.warns(UserWarning, match="this call is PyTorch's"):
        step = compared(LAYERS["GRU"](), loss_of, [(torch.randn(3, 5, 4), torch.tensor(LENGTHS[0]))])
    assert step.programs == 0


def test_a_call_whose_lengths_are_not_right_is_pytorchs() -> None:
    def loss_of(layer: nn.Module, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        return pad(layer(pack(x, lengths, batch_first=True))[0], batch_first=True)[0].square().mean()

    torch.manual_seed(0)
    x = torch.randn(3, 5, 4)
    layer = LAYERS["GRU"]()
    step = compared(layer, loss_of, [(x, torch.tensor(given)) for given in (LENGTHS[0], [3, 2, 2], LENGTHS[1])])
    assert step.programs == 1
    with pytest.raises(RuntimeError, match="sorted"):
        step(x, torch.tensor([5, 1, 3]))
    with pytest.raises(RuntimeError, match="greater than 0"):
        step(x, torch.tensor([5, 1, 0]))


def test_lists_of_lengths_are_known(tmp_path: Path) -> None:
    model = nn.LSTM(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        first, (last, _) = model(pack(x.reshape(3, 2, 3), [2, 1]))
        shorter, _ = model(pack(x.reshape(3, 2, 3), [1, 2], enforce_sorted=False))
        second, _ = model(pack_sequence([x[:2], x[2:5], x[5:]], enforce_sorted=False))
        y, lengths = pad(first, total_length=4)
        loss = y.square().mean() + last.sum() + second.data.square().mean() + lengths.sum()
        loss = loss + pad(shorter)[0].exp().sum()
        loss.backward()
        optimizer.step()
        return loss

    agrees(Training(model, optimizer, step), tmp_path, steps=2)


@pytest.mark.filterwarnings("ignore:.*this call is PyTorch's")
def test_dropout_between_layers_is_pytorchs() -> None:
    layer = nn.LSTM(4, 3, num_layers=2, dropout=0.5, batch_first=True)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)

    @ingot.torch.step(layer, optimizer)
    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = layer(pack(x, [5, 4], batch_first=True))[0].data.square().mean()
        loss.backward()
        optimizer.step()
        return loss

    step(torch.randn(2, 5, 4))
    assert step.programs == 0
