"""Modules that count, cache, normalize, embed or change their depth."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from odd import XS, YS, Step, classifier, minimizer, mlp, sgd

WORDS = torch.randint(12, (8, 6), generator=torch.Generator().manual_seed(3))


class Deep(nn.Module):
    """Uses as many of its layers as an attribute says."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))
        self.heads = nn.ModuleDict({"a": nn.Linear(4, 3), "b": nn.Linear(4, 3)})
        self.depth, self.head = 1, "a"

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers[: self.depth]:
            x = x + layer(x).tanh()
        return self.heads[self.head](x)


def depth_and_head_change(step: Step) -> None:
    model = Deep()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        model.depth, model.head = 1 + i // 2, "ab"[i % 2]
        train_step(XS[i], YS[i])


def layers_are_appended_and_popped(step: Step) -> None:
    model = Deep()
    model.depth = 9
    optimizer = sgd(model)
    train_step = classifier(step, model, optimizer)
    for i in range(6):
        if i == 2:
            model.layers.append(nn.Linear(4, 4))
            optimizer.add_param_group({"params": model.layers[3].parameters()})
        if i == 4:
            model.layers.pop(0)
        train_step(XS[i], YS[i])


def averages_are_cumulative(step: Step) -> None:
    """BatchNorm with no momentum averages over all batches, by the number of them; later it does not track."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8, momentum=None), nn.Linear(8, 3))
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        if i == 3:
            model[1].reset_running_stats()
        if i == 4:
            model[1].momentum = 0.3
        if i == 5:
            model[1].track_running_stats = False
        train_step(XS[i], YS[i])


class Counting(nn.Module):
    """Counts its calls in an attribute, in a buffer, and in a list of tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.net, self.calls = mlp(), 0
        self.register_buffer("count", torch.tensor(0))
        self.register_buffer("norms", torch.zeros(4), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        self.count += 1
        self.norms.index_copy_(0, (self.count % 4)[None], x.norm()[None])
        return self.net(x) * (1.0 + 0.1 * self.calls) / self.count


def calls_are_counted_by_a_model(step: Step) -> list[Any]:
    model = Counting()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        train_step(XS[i], YS[i])
        if i == 3:
            model.calls -= 1
    return [model.calls, model.norms]


def statistics_change_places(step: Step) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 3))
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        model.train(i % 2 == 0)
        train_step(XS[i], YS[i])
        if i in (1, 3):
            one, other = model[0], model[2]
            one.running_mean, other.running_mean = other.running_mean, one.running_mean


def ring_is_written_by_a_number(step: Step) -> None:
    """A place in a buffer that goes on by one in each call, as in memories of replay."""
    model = Counting()

    def loss_of(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        model.norms[model.calls] = x.norm()
        model.calls = (model.calls + 1) % 4
        return F.cross_entropy(model.net(x) * model.norms.mean(), y)

    train_step = minimizer(step, model, sgd(model), loss_of)
    for i in range(6):
        train_step(XS[i], YS[i])


def every_third_call_is_other(step: Step) -> None:
    """A buffer of integers decides in Python's `if`, and is set by the caller."""
    model = Counting()

    def loss_of(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        model.count += 1
        out = model.net(x)
        if model.count % 3 == 0:
            return out.square().mean()
        return F.cross_entropy(out, y)

    train_step = minimizer(step, model, sgd(model), loss_of)
    for i in range(6):
        train_step(XS[i], YS[i])
        if i == 3:
            model.count.zero_()


def words_are_renormalized(step: Step) -> None:
    """`max_norm` changes the rows that are read, in the forward; one row is padding."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(12, 5, padding_idx=0, max_norm=1.0), nn.Flatten(), nn.Linear(30, 3))
    train_step = classifier(step, model, torch.optim.SGD(model.parameters(), 0.5))
    for i in range(6):
        train_step(WORDS, YS[:, i])
        if i == 3:
            model[0].max_norm = 0.5


def gradients_of_words_are_sparse(step: Step) -> None:
    torch.manual_seed(0)
    models = {"words": nn.EmbeddingBag(12, 3, mode="sum", sparse=True), "head": nn.Linear(3, 3)}
    optimizers = {
        "words": torch.optim.SparseAdam(models["words"].parameters(), 0.05),
        "head": torch.optim.Adam(models["head"].parameters(), 0.05),
    }

    @step(models, optimizers)
    def train_step(words: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        for optimizer in optimizers.values():
            optimizer.zero_grad()
        loss = F.cross_entropy(models["head"](models["words"](words)), y)
        loss.backward()
        for optimizer in optimizers.values():
            optimizer.step()
        return loss

    for i in range(6):
        optimizers["words"].param_groups[0]["lr"] = 0.05 / (1 + i // 2)
        train_step(WORDS[: 8 - i // 3], YS[: 8 - i // 3, i])


def batch_is_scored_in_eval_inside(step: Step) -> None:
    """Self-training: labels are made in eval() without gradients, then the model is trained."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 3))

    def loss_of(x: torch.Tensor) -> torch.Tensor:
        model.eval()
        with torch.no_grad():
            made = model(x).argmax(1)
        model.train()
        return F.cross_entropy(model(x), made)

    train_step = minimizer(step, model, sgd(model), loss_of)
    for i in range(6):
        train_step(XS[i])
        if i == 2:
            model.eval()


def hidden_state_is_carried_by_the_caller(step: Step) -> list[torch.Tensor]:
    torch.manual_seed(0)
    models = {"cell": nn.LSTM(4, 5, batch_first=True), "head": nn.Linear(5, 3)}
    optimizer = torch.optim.SGD([*models["cell"].parameters(), *models["head"].parameters()], 0.1)

    @step(models, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor, hidden: Any) -> Any:
        optimizer.zero_grad()
        out, hidden = models["cell"](x, hidden)
        loss = F.cross_entropy(models["head"](out).flatten(0, 1), y.flatten())
        loss.backward()
        optimizer.step()
        return loss, tuple(each.detach() for each in hidden)

    hidden, seen = None, []
    for i in range(6):
        _, hidden = train_step(XS[i : i + 2], YS[i : i + 2], hidden if i != 4 else None)
        seen += hidden
    return seen


def memory_is_a_list_of_tensors(step: Step) -> list[torch.Tensor]:
    """A queue of features, as for contrastive losses: the model writes one place of its list in each call."""
    model = mlp()
    model.queue = [torch.zeros(6, 3) for _ in range(2)]

    def loss_of(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = model(x)
        loss = F.cross_entropy(out, y) + (out @ model.queue[0].t()).mean() - (out * model.queue[1]).mean()
        model.queue = [model.queue[1], out.detach()]
        return loss

    train_step = minimizer(step, model, sgd(model), loss_of)
    for i in range(6):
        train_step(XS[i], YS[i])
    return model.queue
