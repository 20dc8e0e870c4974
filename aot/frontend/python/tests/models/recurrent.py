"""Language models of recurrent layers: Hochreiter, Schmidhuber 1997 (LSTM); Cho and others 2014 (GRU)."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from agreement import Training, classifier_step
from torch import nn

STEPS, BATCH, LENGTH, WORDS, WIDTH = 5, 3, 7, 23, 16


class WordModel(nn.Module):
    """What comes next after each word."""

    def __init__(self, layers: nn.RNNBase) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.layers = layers
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        hidden, _ = self.layers(self.embedding(words))
        return self.head(hidden)


def loss_of(model: nn.Module, words: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(model(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())


def lstm(dtype: torch.dtype) -> Training:
    torch.manual_seed(0)
    model = WordModel(nn.LSTM(WIDTH, WIDTH, num_layers=2, batch_first=True)).to(dtype)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
    batches = (torch.randint(0, WORDS, (STEPS, BATCH, LENGTH + 1)),)
    return Training(model, optimizer, classifier_step(model, optimizer, loss_of, clip=0.25), batches)


def gru(dtype: torch.dtype) -> Training:
    torch.manual_seed(0)
    model = WordModel(nn.GRU(WIDTH, WIDTH, batch_first=True)).to(dtype)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    batches = (torch.randint(0, WORDS, (STEPS, BATCH, LENGTH + 1)),)
    return Training(model, optimizer, classifier_step(model, optimizer, loss_of), batches)
