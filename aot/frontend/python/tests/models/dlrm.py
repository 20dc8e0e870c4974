"""DLRM: Naumov et al., "Deep learning recommendation model for personalization and recommendation systems", 2019.

Numbers go through a bottom network, categories through embeddings, one column of several categories through a bag of
them; products of all pairs go through a top network.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from agreement import Training, classifier_step
from torch import nn

from models.mlp import MLP

STEPS, BATCH, NUMBERS, WIDTH = 6, 32, 13, 16
CATEGORIES = (100, 37, 500, 12)
BAG_CATEGORIES, BAG_SIZE = 200, 5


class DLRM(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bottom = nn.Sequential(MLP(NUMBERS, 64, WIDTH), nn.ReLU())
        self.tables = nn.ModuleList(nn.Embedding(count, WIDTH) for count in CATEGORIES)
        self.bags = nn.EmbeddingBag(BAG_CATEGORIES, WIDTH, mode="mean")
        features = 2 + len(CATEGORIES)
        first, second = torch.tril_indices(features, features, offset=-1)
        self.register_buffer("first", first)
        self.register_buffer("second", second)
        self.top = MLP(WIDTH + len(first), 64, 1)

    def forward(self, numbers: torch.Tensor, categories: torch.Tensor, bags: torch.Tensor) -> torch.Tensor:
        """Scores [batch] of numbers [batch, 13], categories [batch, 4] and bags [batch, 5]."""
        x = self.bottom(numbers)
        embedded = [table(categories[:, i]) for i, table in enumerate(self.tables)]
        features = torch.stack([x, *embedded, self.bags(bags)], dim=1)
        products = features @ features.mT
        return self.top(torch.cat([x, products[:, self.first, self.second]], dim=1)).squeeze(1)


def make(dtype: torch.dtype) -> Training:
    torch.manual_seed(0)
    model = DLRM().to(dtype)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.02)
    numbers = torch.rand(STEPS, BATCH, NUMBERS).to(dtype)
    categories = torch.stack([torch.randint(0, count, (STEPS, BATCH)) for count in CATEGORIES], dim=2)
    bags = torch.randint(0, BAG_CATEGORIES, (STEPS, BATCH, BAG_SIZE))
    clicks = torch.randint(0, 2, (STEPS, BATCH)).to(dtype)
    step = classifier_step(model, optimizer, lambda m, n, c, b, y: F.binary_cross_entropy_with_logits(m(n, c, b), y))
    return Training(model, optimizer, step, (numbers, categories, bags, clicks))
