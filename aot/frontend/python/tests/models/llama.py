"""Llama, with heads that share keys and values: Touvron and others, "Llama 2: open foundation models", 2023."""

from __future__ import annotations

import torch
from agreement import Training
from transformers import LlamaConfig, LlamaForCausalLM

from models import words


def make(dtype: torch.dtype) -> Training:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=words.WORDS,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=16,
        initializer_range=0.1,
        use_cache=False,
        attn_implementation="sdpa",
    )
    model = LlamaForCausalLM(config).to(dtype)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1)
    return words.training(model, optimizer, words.continued(), clip=1.0)
