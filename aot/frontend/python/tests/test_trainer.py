"""The Trainer of Hugging Face over ``model.compile(backend="ingot")``, with the model's default attention."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

import ingot.torch  # noqa: F401  (the backend has a name from here on)

pytest.importorskip("accelerate")
ROWS, WORDS, LENGTH = 22, 50, 8


def losses(folder: Path, dropout: float, is_compiled: bool) -> list[float]:
    """An epoch over rows of which the last batch has fewer; gradients of two batches are added up."""
    torch._dynamo.reset()
    config = BertConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, vocab_size=WORDS,
        hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout,
    )  # fmt: skip
    torch.manual_seed(0)
    model = BertForSequenceClassification(config)
    if is_compiled:
        model.compile(backend="ingot", dynamic=False)
    words = torch.randint(0, WORDS, (ROWS, LENGTH), generator=torch.Generator().manual_seed(0))
    mask = torch.ones(LENGTH, dtype=torch.long)
    rows = [{"input_ids": row, "attention_mask": mask, "labels": torch.tensor(i % 2)} for i, row in enumerate(words)]
    options = TrainingArguments(
        str(folder), per_device_train_batch_size=4, gradient_accumulation_steps=2, num_train_epochs=1, logging_steps=1,
        report_to=[], save_strategy="no", use_cpu=True, learning_rate=1e-2, disable_tqdm=True,
    )  # fmt: skip
    trainer = Trainer(model=model, args=options, train_dataset=rows)
    trainer.train()
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def test_losses_are_pytorchs(tmp_path: Path) -> None:
    expected = losses(tmp_path, 0.0, False)
    assert losses(tmp_path, 0.0, True) == pytest.approx(expected, rel=2e-3)
    assert len(expected) == 3


@pytest.mark.nightly
def test_trains_with_dropout(tmp_path: Path) -> None:
    assert losses(tmp_path, 0.1, True) == pytest.approx(losses(tmp_path, 0.1, False), rel=0.1)
