"""Ordinary models with optimizers at their usual settings, and batches that look like data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

Batch = tuple[torch.Tensor, ...]


class Ordinary(NamedTuple):
    """A model, its optimizer, its loss of a batch, and what makes a batch of so many samples."""

    model: nn.Module
    optimizer: torch.optim.Optimizer
    loss: Callable[..., torch.Tensor]
    batch: Callable[[int], Batch]
    clip: float = 0.0
    autocast: bool = False

    def step(self, *batch: torch.Tensor) -> torch.Tensor:
        self.optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=self.autocast):
            loss = self.loss(*batch)
        loss.backward()
        if self.clip:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimizer.step()
        return loss


def rows(features: int, classes: int) -> Callable[[int], Batch]:
    """Points of a few clusters, and which cluster each is of."""
    centers = torch.randn(classes, features)

    def batch(n: int) -> Batch:
        y = torch.arange(n) % classes
        return centers[y] + 0.3 * torch.randn(n, features), y

    return batch


def pictures(channels: int, size: int, classes: int = 5) -> Callable[[int], Batch]:
    """Bytes as pictures have them, normalised, with black borders; classes differ in brightness."""

    def batch(n: int) -> Batch:
        y = torch.arange(n) % classes
        x = torch.randint(0, 256, (n, channels, size, size)).float() * (y + 1).view(-1, 1, 1, 1) / classes
        x[:, :, :2] = 0
        return (x / 255 - 0.5) / 0.25, y

    return batch


def words(length: int, vocabulary: int, classes: int = 0) -> Callable[[int], Batch]:
    def batch(n: int) -> Batch:
        x = torch.randint(0, vocabulary, (n, length))
        return x, (x.sum(1) % classes if classes else (x + 1) % vocabulary)

    return batch


def binary(features: int) -> Callable[[int], Batch]:
    inner = rows(features, 2)

    def batch(n: int) -> Batch:
        x, y = inner(n)
        return x, y.float()[:, None]

    return batch


def curve(features: int) -> Callable[[int], Batch]:
    weights = torch.randn(features, 1)

    def batch(n: int) -> Batch:
        x = torch.randn(n, features)
        return x, torch.sin(x @ weights)

    return batch


def mlp(features: int, *widths: int, activation: type[nn.Module] = nn.ReLU, dropout: float = 0.0) -> nn.Sequential:
    layers: list[nn.Module] = []
    for width in widths[:-1]:
        layers += [nn.Linear(features, width), activation(), *([nn.Dropout(dropout)] if dropout else [])]
        features = width
    return nn.Sequential(*layers, nn.Linear(features, widths[-1]))


def normed_mlp() -> nn.Sequential:
    return nn.Sequential(nn.Linear(20, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 5))


def cnn(channels: int, size: int, norm: Callable[[int], nn.Module], classes: int = 5) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(channels, 8, 3, padding=1),
        norm(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1),
        norm(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(size * size, classes),
    )


class Residual(nn.Module):
    def __init__(self, width: int = 8, classes: int = 5) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, padding=1, bias=False)
        self.a, self.b = (nn.Conv2d(width, width, 3, padding=1, bias=False) for _ in range(2))
        self.norms = nn.ModuleList(nn.BatchNorm2d(width) for _ in range(3))
        self.head = nn.Linear(width, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.norms[0](self.stem(x)))
        x = F.relu(x + self.norms[2](self.b(F.relu(self.norms[1](self.a(x))))))
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


class Mobile(nn.Module):
    def __init__(self, classes: int = 5) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1, bias=False),
            nn.BatchNorm2d(8),
            nn.Hardswish(),
            nn.Conv2d(8, 8, 3, 1, 1, groups=8, bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU6(),
            nn.Conv2d(8, 16, 1),
            nn.SiLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(16, classes),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


class Recurrent(nn.Module):
    def __init__(self, kind: type[nn.Module], classes: int = 4) -> None:
        super().__init__()
        self.table = nn.Embedding(20, 8)
        self.layer = kind(8, 12, batch_first=True)
        self.head = nn.Linear(12, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.layer(self.table(x))[0][:, -1])


class Transformer(nn.Module):
    def __init__(self, is_causal: bool, classes: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.is_causal = is_causal
        self.table, self.places = nn.Embedding(20, 16), nn.Parameter(torch.randn(8, 16) * 0.02)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout, batch_first=True, activation="gelu", norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(16, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1]) if self.is_causal else None
        x = self.layers(self.table(x) + self.places, mask=mask, is_causal=self.is_causal)
        return self.head(x if self.is_causal else x.mean(1))


class Variational(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.enc, self.mu, self.var = nn.Linear(16, 24), nn.Linear(24, 4), nn.Linear(24, 4)
        self.dec = mlp(4, 24, 16)

    def loss(self, x: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
        x = torch.sigmoid(x).round()
        h = F.relu(self.enc(x))
        mu, var = self.mu(h), self.var(h)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * var)
        of_data = F.binary_cross_entropy(torch.sigmoid(self.dec(z)), x, reduction="sum")
        return of_data - 0.5 * torch.sum(1 + var - mu.pow(2) - var.exp())


class Factors(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.users, self.items = nn.Embedding(30, 6), nn.Embedding(30, 6)
        self.biases = nn.Embedding(30, 1)

    def loss(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        u, v = x[:, 0], x[:, 1]
        rating = (self.users(u) * self.items(v)).sum(1) + self.biases(v)[:, 0]
        return F.mse_loss(rating, (y % 5).float())


def classified(model: nn.Module, **how: Any) -> Callable[..., torch.Tensor]:
    return lambda x, y: F.cross_entropy(model(x), y, **how)


def decayed(model: nn.Module) -> Callable[..., torch.Tensor]:
    """Weight decay by hand, in the loss."""
    return lambda x, y: F.cross_entropy(model(x), y) + 1e-2 * sum(p.pow(2).sum() for p in model.parameters())


def normed(channels: int) -> nn.Module:
    return nn.GroupNorm(2, channels)


def distilled(model: nn.Module, teacher: nn.Module) -> Callable[..., torch.Tensor]:
    def loss(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            wanted = F.softmax(teacher(x) / 2, 1)
        return F.kl_div(F.log_softmax(model(x) / 2, 1), wanted, reduction="batchmean") + F.cross_entropy(model(x), y)

    return loss


def triplets(model: nn.Module) -> Callable[..., torch.Tensor]:
    def loss(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        made = F.normalize(model(x))
        return F.triplet_margin_loss(made, made.roll(5, 0), made.roll(1, 0), margin=0.5)

    return loss


SGD, Adam, AdamW = torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW


Optimizers = Callable[[Any], torch.optim.Optimizer]


def _of(model: nn.Module, optimizer: Optimizers, loss: Any, batch: Any, **how: Any) -> Ordinary:
    return Ordinary(model, optimizer(model.parameters()), loss(model), batch, **how)


def usual_sgd(parameters: Any) -> torch.optim.Optimizer:
    return SGD(parameters, lr=0.05, momentum=0.9, weight_decay=5e-4)


def nesterov(parameters: Any) -> torch.optim.Optimizer:
    return SGD(parameters, lr=0.1, momentum=0.9, weight_decay=1e-4, nesterov=True)


def adam(parameters: Any) -> torch.optim.Optimizer:
    return Adam(parameters, lr=1e-3)


def adamw(parameters: Any) -> torch.optim.Optimizer:
    return AdamW(parameters, lr=3e-4, weight_decay=0.01, betas=(0.9, 0.95))


def own_loss(model: Any) -> Callable[..., torch.Tensor]:
    return model.loss


def by_bce(model: nn.Module) -> Callable[..., torch.Tensor]:
    return lambda x, y: nn.BCELoss()(torch.sigmoid(model(x)), y)


def by_logits(model: nn.Module) -> Callable[..., torch.Tensor]:
    weight = torch.tensor([2.0])
    return lambda x, y: F.binary_cross_entropy_with_logits(model(x), y, pos_weight=weight)


def by_tokens(model: nn.Module) -> Callable[..., torch.Tensor]:
    return lambda x, y: F.cross_entropy(model(x).flatten(0, 1), y.flatten())


def by_huber(model: nn.Module) -> Callable[..., torch.Tensor]:
    return lambda x, y: F.smooth_l1_loss(model(x), y)


def by_squares(model: nn.Module) -> Callable[..., torch.Tensor]:
    return lambda x, y: F.mse_loss(model(x), y)


def itself(model: nn.Module) -> Callable[..., torch.Tensor]:
    return lambda x, _: F.mse_loss(model(x), x)


def smoothed(model: nn.Module) -> Callable[..., torch.Tensor]:
    return classified(model, label_smoothing=0.1)


ORDINARY: dict[str, Callable[[], Ordinary]] = {
    "perceptron, SGD": lambda: _of(mlp(20, 64, 5), usual_sgd, classified, rows(20, 5)),
    "perceptron, Adam": lambda: _of(mlp(20, 64, 5), adam, classified, rows(20, 5)),
    "perceptron, dropout, AdamW": lambda: _of(mlp(20, 64, 64, 5, dropout=0.2), adamw, classified, rows(20, 5)),
    "perceptron, batch norm": lambda: _of(normed_mlp(), usual_sgd, classified, rows(20, 5)),
    "softmax regression, decay in the loss": lambda: _of(mlp(20, 5), lambda p: SGD(p, lr=0.1), decayed, rows(20, 5)),
    "convolutions, batch norm, SGD": lambda: _of(cnn(3, 16, nn.BatchNorm2d), usual_sgd, classified, pictures(3, 16)),
    "convolutions, Nesterov": lambda: _of(cnn(3, 16, nn.BatchNorm2d), nesterov, classified, pictures(3, 16)),
    "convolutions, batch norm, Adam": lambda: _of(cnn(1, 16, nn.BatchNorm2d), adam, classified, pictures(1, 16)),
    "convolutions, group norm": lambda: _of(cnn(1, 16, normed), adamw, classified, pictures(1, 16)),
    "convolutions, RMSprop": lambda: _of(
        cnn(1, 16, nn.BatchNorm2d), lambda p: torch.optim.RMSprop(p, lr=1e-3), smoothed, pictures(1, 16)
    ),
    "residual": lambda: _of(Residual(), usual_sgd, smoothed, pictures(3, 16)),
    "mobile": lambda: _of(Mobile(), usual_sgd, classified, pictures(3, 16)),
    "LSTM": lambda: _of(Recurrent(nn.LSTM), adam, classified, words(8, 20, 4), clip=1.0),
    "GRU": lambda: _of(Recurrent(nn.GRU), adam, classified, words(8, 20, 4)),
    "transformer": lambda: _of(Transformer(False, 4), adamw, classified, words(8, 20, 4), clip=1.0),
    "transformer, dropout": lambda: _of(Transformer(False, 4, 0.1), adamw, classified, words(8, 20, 4)),
    "causal transformer": lambda: _of(Transformer(True, 20), adamw, by_tokens, words(8, 20), clip=1.0),
    "variational autoencoder": lambda: _of(Variational(), adam, own_loss, rows(16, 4)),
    "autoencoder": lambda: _of(mlp(16, 8, 3, 8, 16, activation=nn.Tanh), adam, itself, rows(16, 4)),
    "BCELoss of labels 0 and 1": lambda: _of(mlp(8, 16, 1), lambda p: SGD(p, lr=0.1), by_bce, binary(8)),
    "BCE of logits": lambda: _of(mlp(8, 16, 1, activation=nn.GELU), adam, by_logits, binary(8)),
    "regression, Huber": lambda: _of(mlp(8, 32, 1, activation=nn.Tanh), adam, by_huber, curve(8)),
    "regression, squares": lambda: _of(
        mlp(8, 32, 1, activation=nn.Softplus), lambda p: SGD(p, lr=0.01, momentum=0.9), by_squares, curve(8)
    ),
    "factors, Adagrad": lambda: _of(Factors(), lambda p: torch.optim.Adagrad(p, lr=0.05), own_loss, words(2, 30, 7)),
    "triplets": lambda: _of(mlp(20, 32, 8), adam, triplets, rows(20, 5)),
    "distilled": lambda: _of(mlp(20, 16, 5), adam, lambda m: distilled(m, mlp(20, 32, 5)), rows(20, 5)),
    "Adadelta, dropout": lambda: _of(mlp(20, 64, 5, dropout=0.5), torch.optim.Adadelta, classified, rows(20, 5)),
    "perceptron, autocast": lambda: _of(mlp(20, 64, 5), adamw, classified, rows(20, 5), autocast=True),
    "convolutions, autocast": lambda: _of(
        cnn(3, 16, nn.BatchNorm2d), usual_sgd, classified, pictures(3, 16), autocast=True
    ),
    "transformer, autocast": lambda: _of(Transformer(False, 4), adamw, classified, words(8, 20, 4), autocast=True),
    "perceptron in bf16": lambda: _in_bf16(_of(mlp(20, 64, 5), lambda p: SGD(p, lr=0.1), classified, rows(20, 5))),
}


def _in_bf16(program: Ordinary) -> Ordinary:
    program.model.to(torch.bfloat16)

    def batch(n: int) -> Batch:
        return tuple(x.bfloat16() if x.is_floating_point() else x for x in program.batch(n))

    return program._replace(batch=batch)
