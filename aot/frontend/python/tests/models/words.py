"""Batches of random words, and what trainings of language models share."""

from __future__ import annotations

import torch
from agreement import Training, classifier_step
from torch import nn

STEPS, BATCH, LENGTH = 5, 2, 10
WORDS, PADDING, MASK = 53, 1, 2  # the vocabulary's size, and two words of it
IGNORED = -100  # as a label


def sentences() -> tuple[torch.Tensor, torch.Tensor]:
    """Words and 1 where there is one, 0 where there is padding, [steps, batch, length]."""
    words = torch.randint(MASK + 1, WORDS, (STEPS, BATCH, LENGTH))
    lengths = torch.randint(LENGTH // 2, LENGTH + 1, (STEPS, BATCH, 1))
    present = (torch.arange(LENGTH) < lengths).long()
    return torch.where(present == 1, words, PADDING), present


def labelled(classes: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Sentences and a class for each."""
    return *sentences(), torch.randint(0, classes, (STEPS, BATCH))


def masked() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Sentences with every third word masked, and those words."""
    words, present = sentences()
    hidden = torch.arange(LENGTH) % 3 == 0
    return torch.where(hidden, MASK, words), present, torch.where(hidden, words, IGNORED)


def continued() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Sentences, and they again as what is to be said next."""
    words, present = sentences()
    return words, present, torch.where(present == 1, words, IGNORED)


def freeze(model: nn.Module, name: str) -> None:
    """Freezes the biases of attention's keys, whose name is given.

    They add the same to all scores of a query, so that their gradients are rounding alone.
    """
    for module in model.modules():
        if hasattr(module, name):
            getattr(module, name).bias.requires_grad_(False)


def training(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    clip: float | None = None,
) -> Training:
    """Trains a model of `transformers`, which computes its loss itself."""

    def loss_of(model: nn.Module, words: torch.Tensor, present: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return model(input_ids=words, attention_mask=present, labels=labels).loss

    return Training(model, optimizer, classifier_step(model, optimizer, loss_of, clip), batches)
