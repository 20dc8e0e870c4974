"""T5: Raffel, Shazeer, Roberts and others, "Exploring the limits of transfer learning", JMLR 2020."""

from __future__ import annotations

import torch
from agreement import Training
from transformers import T5Config, T5ForConditionalGeneration

from models import words


def make(dtype: torch.dtype) -> Training:
    torch.manual_seed(0)
    config = T5Config(
        vocab_size=words.WORDS,
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        dropout_rate=0,
        pad_token_id=words.PADDING,
        decoder_start_token_id=words.PADDING,
        use_cache=False,
    )
    model = T5ForConditionalGeneration(config).to(dtype)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    return words.training(model, optimizer, words.continued(), clip=1.0)
