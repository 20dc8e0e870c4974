"""GPT-2: Radford, Wu, Child, Luan, Amodei, Sutskever, "Language models are unsupervised multitask learners", 2019."""

from __future__ import annotations

import torch
from agreement import Training
from transformers import GPT2Config, GPT2LMHeadModel

from models import words


def make(dtype: torch.dtype) -> Training:
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=words.WORDS,
        n_positions=16,
        n_embd=32,
        n_layer=2,
        n_head=4,
        resid_pdrop=0,
        embd_pdrop=0,
        attn_pdrop=0,
        initializer_range=0.1,
        use_cache=False,
        attn_implementation="sdpa",
    )
    model = GPT2LMHeadModel(config).to(dtype)
    # With Adam the biases of keys, whose gradients are rounding alone, would move as far as the others.
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    return words.training(model, optimizer, words.continued(), clip=1.0)
