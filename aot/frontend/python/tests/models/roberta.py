"""RoBERTa: Liu, Ott, Goyal and others, "RoBERTa: a robustly optimized BERT pretraining approach", 2019."""

from __future__ import annotations

import torch
from agreement import Training
from transformers import RobertaConfig, RobertaForMaskedLM

from models import words


def make(dtype: torch.dtype) -> Training:
    torch.manual_seed(0)
    config = RobertaConfig(
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
        attn_implementation="eager",
    )
    model = RobertaForMaskedLM(config).to(dtype)
    words.freeze(model, "key")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=0.01)
    return words.training(model, optimizer, words.masked())
