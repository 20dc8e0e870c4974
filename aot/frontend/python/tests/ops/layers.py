"""Layers and losses, with weights as arguments; recurrent layers and attention."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.bias import causal_lower_right

from ops.data import Cases, between, normal, truths, whole

X, Y, IMAGE, SEQUENCE = normal(4, 6), normal(4, 6), normal(3, 4, 5, 5), normal(5, 3, 4)
CLASSES = whole(6, 4)
LABELS = torch.tensor([[1, 2, 2], [3, 1, 4]])
QUERY, KEY = normal(2, 2, 5, 4), normal(2, 2, 6, 4)


def of(
    make: Callable[[], nn.Module], *inputs: torch.Tensor, **options: Any
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A case of a module: its parameters are arguments, before its inputs."""
    torch.manual_seed(0)
    module = make().double()
    names = list(dict(module.named_parameters()))

    def call(*tensors: torch.Tensor) -> Any:
        parameters = dict(zip(names, tensors, strict=False))
        return torch.func.functional_call(module, parameters, tensors[len(names) :], options)

    return call, (*(p.detach() for p in module.parameters()), *inputs)


def by_a_kernel(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """Attention by the kernel of PyTorch's that the user chooses."""
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        return F.scaled_dot_product_attention(q, k, k)


CASES: Cases = {
    "linear": (F.linear, (X, normal(3, 6), normal(3))),
    "layer_norm": (lambda x, w, b: (F.layer_norm(x, (6,), w, b), F.layer_norm(x, (4, 6))), (X, normal(6), normal(6))),
    "rms_norm": (lambda x, w: (F.rms_norm(x, (6,), w), F.rms_norm(x, (6,), eps=1e-3)), (X, normal(6))),
    "group_norm": (lambda x, w, b: F.group_norm(x, 2, w, b), (IMAGE, normal(4), normal(4))),
    "instance_norm": (lambda x, w, b: F.instance_norm(x, weight=w, bias=b), (IMAGE, normal(4), normal(4))),
    "batch_norm": (
        lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
        (IMAGE, normal(4), normal(4)),
    ),
    "batch_norm_eval": (
        lambda x, m, v, w: F.batch_norm(x, m.detach(), v.detach(), w),
        (IMAGE, normal(4), between(0.5, 1, 4), normal(4)),
    ),
    "local_response_norm": (lambda x: F.local_response_norm(x, 3), (IMAGE,)),
    "attention": (lambda q, k: F.scaled_dot_product_attention(q, k, k), (QUERY, KEY)),
    "attention_causal": (lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True), (QUERY,)),
    "attention_mask": (
        lambda q, k, m: F.scaled_dot_product_attention(q, k, k, attn_mask=m),
        (QUERY, KEY, truths(5, 6) | (torch.arange(6) == 0)),
    ),
    "attention_masked_row": (
        lambda q, k: F.scaled_dot_product_attention(q, k, k, attn_mask=torch.arange(5)[:, None] > 0),
        (QUERY, KEY),
    ),
    "attention_bias": (
        lambda q, k, m: F.scaled_dot_product_attention(q, k, k, attn_mask=m),
        (QUERY, KEY, normal(5, 6)),
    ),
    "attention_grouped": (
        lambda q, k: F.scaled_dot_product_attention(q, k, k, enable_gqa=True, scale=0.3),
        (normal(2, 4, 5, 4), KEY),
    ),
    "multihead": of(lambda: nn.MultiheadAttention(4, 2), SEQUENCE, SEQUENCE, SEQUENCE),
    "multihead_masks": of(
        lambda: nn.MultiheadAttention(4, 2, batch_first=True),
        SEQUENCE,
        SEQUENCE,
        SEQUENCE,
        key_padding_mask=torch.arange(3)[None] >= torch.tensor([3, 2, 1, 3, 2])[:, None],
        attn_mask=torch.triu(torch.ones(3, 3, dtype=torch.bool), 1),
        average_attn_weights=False,
    ),
    "multihead_dims": of(
        lambda: nn.MultiheadAttention(4, 2, kdim=6, vdim=6, add_bias_kv=True, add_zero_attn=True),
        SEQUENCE,
        normal(7, 3, 6),
        normal(7, 3, 6),
        need_weights=False,
    ),
    "rnn": of(lambda: nn.RNN(4, 3, num_layers=2, bidirectional=True), SEQUENCE),
    "rnn_relu": of(lambda: nn.RNN(4, 3, nonlinearity="relu", batch_first=True), SEQUENCE, normal(1, 5, 3)),
    "gru": of(lambda: nn.GRU(4, 3, num_layers=2, bidirectional=True), SEQUENCE),
    "lstm": of(lambda: nn.LSTM(4, 3, num_layers=2, bidirectional=True, batch_first=True), SEQUENCE),
    "lstm_projected": of(lambda: nn.LSTM(4, 3, proj_size=2), SEQUENCE),
    "lstm_unbatched": of(lambda: nn.LSTM(4, 3, bias=False), normal(5, 4)),
    "gru_cell": of(lambda: nn.GRUCell(4, 3), normal(5, 4), normal(5, 3)),
    "weight_norm": of(lambda: nn.utils.parametrizations.weight_norm(nn.Linear(6, 3)), X),
    "cross_entropy": (lambda x, t: F.cross_entropy(x, t), (X, CLASSES)),
    "cross_entropy_options": (
        lambda x, t, w: F.cross_entropy(x, t, w.detach(), ignore_index=2, label_smoothing=0.1),
        (X, CLASSES, between(0.5, 1, 6)),
    ),
    "cross_entropy_of_shares": (lambda x, t: F.cross_entropy(x, t.softmax(1)), (X, Y)),
    "cross_entropy_2d": (lambda x, t: F.cross_entropy(x, t, reduction="sum"), (normal(2, 3, 4, 4), whole(3, 2, 4, 4))),
    "nll_loss": (lambda x, t: F.nll_loss(x, t, reduction="none"), (X, CLASSES)),
    "binary_cross_entropy": (F.binary_cross_entropy, (between(0.1, 0.9, 4, 6), between(0, 1, 4, 6))),
    "binary_cross_entropy_logits": (
        lambda x, t, w: F.binary_cross_entropy_with_logits(x, t, pos_weight=w.detach()),
        (X, between(0, 1, 4, 6), between(0.5, 2, 6)),
    ),
    "regressions": (
        lambda x, y: (F.mse_loss(x, y), F.l1_loss(x, y), F.smooth_l1_loss(x, y), F.huber_loss(x, y)),
        (X, Y),
    ),
    "kl_div": (lambda x, y: F.kl_div(x.log_softmax(1), y.softmax(1), reduction="batchmean"), (X, Y)),
    "poisson_nll": (lambda x, y: F.poisson_nll_loss(x, y, full=True), (X, between(0.5, 4, 4, 6))),
    "gaussian_nll": (F.gaussian_nll_loss, (X, Y, between(0.5, 2, 4, 6))),
    "margins": (
        lambda x, y: (
            F.margin_ranking_loss(x, y, torch.ones_like(x)),
            F.soft_margin_loss(x, torch.ones_like(x)),
            F.hinge_embedding_loss(x, -torch.ones_like(x)),
        ),
        (X, Y),
    ),
    "multi_margin": (lambda x, t: F.multi_margin_loss(x, t, margin=0.5), (X, CLASSES)),
    "multilabel_soft_margin": (F.multilabel_soft_margin_loss, (X, truths(4, 6).double())),
    "ctc": (
        lambda x, t: F.ctc_loss(x.log_softmax(2), t, torch.tensor([6, 5]), torch.tensor([3, 2])),
        (normal(6, 2, 5), LABELS),
    ),
    "ctc_of_scores": (
        lambda x, t: F.ctc_loss(x, t, torch.tensor([6, 5]), torch.tensor([3, 2])),
        (normal(6, 2, 5), LABELS),
    ),
    "ctc_one_after_the_other": (
        lambda x, t: F.ctc_loss(x.log_softmax(2), t, torch.tensor([6, 5]), torch.tensor([3, 2]), reduction="none"),
        (normal(6, 2, 5), torch.tensor([1, 2, 2, 4, 1])),
    ),
    "ctc_without_frames_or_labels": (
        lambda x, t: F.ctc_loss(x.log_softmax(2), t, torch.tensor([0, 5]), torch.tensor([0, 0]), reduction="none"),
        (normal(6, 2, 5), LABELS),
    ),
    "ctc_of_impossible_labels": (
        lambda x, t: F.ctc_loss(x, t, torch.tensor([6, 2]), torch.tensor([3, 3]), zero_infinity=True),
        (normal(6, 2, 5), LABELS),
    ),
    "multilabel_margin_of_one": (
        lambda x, t: F.multilabel_margin_loss(x, t, reduction="none"),
        (X[0], torch.tensor([1, 3, -1, 0, 2, 5])),
    ),
    "multilabel_margin": (
        lambda x, t: [F.multilabel_margin_loss(x, t, reduction=r) for r in ("mean", "sum", "none")],
        (normal(2, 4), torch.tensor([[2, 0, -1, 1], [3, -1, 3, 3]])),
    ),
    "attention_by_a_kernel": (by_a_kernel, (QUERY, KEY)),
    "attention_lower_right": (
        lambda q, k: F.scaled_dot_product_attention(q, k, k, attn_mask=causal_lower_right(q.shape[-2], k.shape[-2])),
        (QUERY, KEY),
    ),
    "ctc_single": (
        lambda x, t: F.ctc_loss(x.log_softmax(1), t, torch.tensor(5), torch.tensor(2), blank=4, reduction="sum"),
        (normal(5, 5), torch.tensor([2, 0])),
    ),
    "triplet": (lambda x, y, z: F.triplet_margin_loss(x, y, z), (X, Y, normal(4, 6))),
    "cosine_embedding": (lambda x, y: F.cosine_embedding_loss(x, y, torch.tensor([1, -1, 1, -1])), (X, Y)),
    "eval_dropout": (lambda x: (F.dropout(x, 0.5, training=False), F.alpha_dropout(x, 0.5, training=False)), (X,)),
    "gumbel_free": (partial(F.softmax, dim=-1), (X,)),
}
