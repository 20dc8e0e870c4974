"""BERT: Devlin, Chang, Lee, Toutanova, "BERT: pre-training of deep bidirectional transformers", NAACL 2019."""

from __future__ import annotations

from typing import Any

import torch
from agreement import Training
from transformers import BertConfig, BertForMaskedLM, BertForSequenceClassification

from models import words

CLASSES = 3


def config(**more: Any) -> BertConfig:
    return BertConfig(
        vocab_size=words.WORDS,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=16,
        hidden_dropout_prob=0,
        attention_probs_dropout_prob=0,
        initializer_range=0.1,
        pad_token_id=words.PADDING,
        **more,
    )


def classify(dtype: torch.dtype) -> Training:
    torch.manual_seed(0)
    model = BertForSequenceClassification(config(num_labels=CLASSES, attn_implementation="sdpa")).to(dtype)
    words.freeze(model, "key")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    return words.training(model, optimizer, words.labelled(CLASSES), clip=1.0)


def masked(dtype: torch.dtype) -> Training:
    torch.manual_seed(0)
    model = BertForMaskedLM(config(attn_implementation="eager")).to(dtype)
    words.freeze(model, "key")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    return words.training(model, optimizer, words.masked())
