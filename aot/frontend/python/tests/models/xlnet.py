"""XLNet: Yang, Dai and others, "XLNet: generalized autoregressive pretraining", NeurIPS 2019."""

from __future__ import annotations

import torch
from agreement import Training
from transformers import XLNetConfig, XLNetForSequenceClassification

from models import words

CLASSES = 3


def make(dtype: torch.dtype) -> Training:
    torch.manual_seed(0)
    config = XLNetConfig(
        vocab_size=words.WORDS,
        d_model=32,
        n_layer=2,
        n_head=4,
        d_inner=64,
        dropout=0,
        summary_last_dropout=0,
        initializer_range=0.1,
        pad_token_id=words.PADDING,
        num_labels=CLASSES,
    )
    model = XLNetForSequenceClassification(config).to(dtype)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    return words.training(model, optimizer, words.labelled(CLASSES), clip=1.0)
