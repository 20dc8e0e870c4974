"""Changes to the model between calls."""

from __future__ import annotations

import copy
import io

import torch
from torch import nn
from torch.nn import functional as F

from odd import XS, YS, Step, classifier, mlp, sgd


def layer_is_frozen_and_thawed(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        model[0].requires_grad_(i not in (2, 3))
        train_step(XS[i], YS[i])


def state_dict_is_loaded(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    train_step = classifier(step, model, optimizer)
    best = {}
    for i in range(6):
        train_step(XS[i], YS[i])
        if i == 1:
            best = copy.deepcopy([model.state_dict(), optimizer.state_dict()])
        if i == 3:
            model.load_state_dict(best[0])
            optimizer.load_state_dict(best[1])


def whole_model_is_saved_and_loaded(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    train_step = classifier(step, model, optimizer)
    for i in range(3):
        train_step(XS[i], YS[i])
    file = io.BytesIO()
    torch.save((model, optimizer), file)
    model, optimizer = torch.load(io.BytesIO(file.getvalue()), weights_only=False)
    train_step = classifier(step, model, optimizer)
    for i in range(3, 6):
        train_step(XS[i], YS[i])


def head_is_replaced_without_the_optimizer(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, torch.optim.SGD(model.parameters(), 0.1))
    for i in range(6):
        train_step(XS[i], YS[i])
        if i == 2:
            torch.manual_seed(7)
            model[4] = nn.Linear(8, 3)


def weights_are_tied_later(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, torch.optim.SGD(model.parameters(), 0.1))
    for i in range(6):
        train_step(XS[i], YS[i])
        if i == 2:
            torch.manual_seed(7)
            model.insert(2, nn.Linear(8, 8))
            model[2].weight = model[3].weight


class Scaled(nn.Module):
    """A model with a buffer, a plain tensor, a flag and a float."""

    def __init__(self) -> None:
        super().__init__()
        self.net = mlp()
        self.register_buffer("scale", torch.ones(4))
        self.shift = torch.zeros(4)
        self.is_bent, self.factor = False, 1.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x * self.scale + self.shift
        return self.net(x.tanh() if self.is_bent else x) * self.factor


def buffer_is_replaced(step: Step) -> None:
    model = Scaled()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        train_step(XS[i], YS[i])
        model.scale = torch.full((4,), 1.0 + i)


def plain_tensor_is_written(step: Step) -> None:
    model = Scaled()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        train_step(XS[i], YS[i])
        model.shift += 0.5


def batch_norm_is_frozen(step: Step) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        model[1].train(i < 3)
        train_step(XS[i], YS[i])


def forward_hook_is_added_and_removed(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        handle = model[1].register_forward_hook(lambda module, args, out: out * 2) if i in (2, 3) else None
        train_step(XS[i], YS[i])
        if handle:
            handle.remove()


def model_becomes_double(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, torch.optim.SGD(model.parameters(), 0.1))
    for i in range(6):
        if i == 3:
            model.double()
        train_step(XS[i].to(model[0].weight.dtype), YS[i])


def data_is_set(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        train_step(XS[i], YS[i])
        model[0].weight.data = model[0].weight.data.clone() * 0.9


def memory_is_shared(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        if i == 3:
            model.share_memory()
        train_step(XS[i], YS[i])


def parametrized_later(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, torch.optim.SGD(model.parameters(), 0.1))
    for i in range(6):
        if i == 3:
            nn.utils.parametrizations.weight_norm(model[0])
        train_step(XS[i], YS[i])


class Mask(nn.Module):
    """Makes its mask again where the length is another."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.net, self.mask = nn.Linear(4, 3), None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.mask is None or self.mask.size(0) != x.size(0):
            self.mask = torch.tril(torch.ones(x.size(0), x.size(0)))
        return self.mask @ self.net(x)


def mask_is_made_again(step: Step) -> None:
    model = Mask()
    train_step = classifier(step, model, sgd(model))
    for rows in (6, 6, 6, 4, 6, 3):
        train_step(XS[0, :rows], YS[0, :rows])


class Stateful(nn.Module):
    """Carries its hidden state from call to call in a plain attribute."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.cell, self.head = nn.GRUCell(4, 5), nn.Linear(5, 3)
        self.hidden = torch.zeros(6, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.cell(x, self.hidden)
        self.hidden = hidden.detach()
        return self.head(hidden)


def hidden_state_is_an_attribute(step: Step) -> None:
    model = Stateful()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        train_step(XS[i], YS[i])


def buffer_becomes_a_parameter(step: Step) -> None:
    model = Scaled()
    train_step = classifier(step, model, torch.optim.SGD(model.parameters(), 0.1))
    for i in range(6):
        if i == 3:
            del model.scale
            model.scale = nn.Parameter(torch.ones(4))
        train_step(XS[i], YS[i])


class Tagger(nn.Module):
    """Reads sequences of several lengths packed, as PyTorch's documentation does."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.cell, self.head = nn.LSTM(4, 5, batch_first=True), nn.Linear(5, 3)

    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        outputs, _ = nn.utils.rnn.pad_packed_sequence(self.cell(packed)[0], batch_first=True)
        return self.head(outputs.mean(1))


def lengths_are_packed(step: Step) -> None:
    model = Tagger()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, lengths: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x, lengths), y)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        train_step(XS[i : i + 2], torch.tensor([6, 1 + i % 3]), YS[i, :2])
