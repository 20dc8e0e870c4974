"""DistilBERT: Sanh, Debut, Chaumond, Wolf, "DistilBERT, a distilled version of BERT", 2019."""

from __future__ import annotations

import torch
from agreement import Training
from transformers import DistilBertConfig, DistilBertForSequenceClassification

from models import words

CLASSES = 3


def make(dtype: torch.dtype) -> Training:
    torch.manual_seed(0)
    config = DistilBertConfig(
        vocab_size=words.WORDS,
        dim=32,
        n_layers=2,
        n_heads=4,
        hidden_dim=64,
        max_position_embeddings=16,
        dropout=0,
        attention_dropout=0,
        seq_classif_dropout=0,
        initializer_range=0.1,
        pad_token_id=words.PADDING,
        num_labels=CLASSES,
        attn_implementation="sdpa",
    )
    model = DistilBertForSequenceClassification(config).to(dtype)
    words.freeze(model, "k_lin")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    return words.training(model, optimizer, words.labelled(CLASSES))
