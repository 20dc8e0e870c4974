"""Image classifiers of the `transformers` library, small and with random weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from agreement import Make, Training, classifier_step
from torch import nn
from transformers import (
    ResNetConfig,
    ResNetForImageClassification,
    SwinConfig,
    SwinForImageClassification,
    ViTConfig,
    ViTForImageClassification,
)

STEPS, BATCH, SIZE, CLASSES = 5, 4, 32, 10
MakeOptimizer = Callable[[Iterator[nn.Parameter]], torch.optim.Optimizer]


def vit() -> nn.Module:
    config = ViTConfig(
        image_size=SIZE,
        patch_size=8,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        qkv_bias=False,
        num_labels=CLASSES,
    )
    return ViTForImageClassification(config)


def swin() -> nn.Module:
    config = SwinConfig(
        image_size=SIZE,
        patch_size=2,
        embed_dim=16,
        depths=[2, 2],
        num_heads=[2, 4],
        window_size=4,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        drop_path_rate=0.0,
        qkv_bias=False,
        num_labels=CLASSES,
    )
    return SwinForImageClassification(config)


def resnet() -> nn.Module:
    config = ResNetConfig(
        embedding_size=16, hidden_sizes=[16, 32], depths=[2, 2], layer_type="basic", num_labels=CLASSES
    )
    return ResNetForImageClassification(config)


def trained(build: Callable[[], nn.Module], make_optimizer: MakeOptimizer, clip: float | None = None) -> Make:
    """How a model is trained on images; it returns its own loss."""

    def make(dtype: torch.dtype) -> Training:
        torch.manual_seed(0)
        model = build().to(dtype)
        optimizer = make_optimizer(model.parameters())
        images = torch.randn(STEPS, BATCH, 3, SIZE, SIZE).to(dtype)
        labels = torch.randint(0, CLASSES, (STEPS, BATCH))
        step = classifier_step(model, optimizer, lambda m, x, y: m(pixel_values=x, labels=y).loss, clip)
        return Training(model, optimizer, step, (images, labels))

    return make


make_vit = trained(vit, lambda p: torch.optim.Adam(p, lr=1e-3))
make_swin = trained(swin, lambda p: torch.optim.AdamW(p, lr=5e-4, weight_decay=0.05), clip=1.0)
make_resnet = trained(resnet, lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9, weight_decay=1e-4))
