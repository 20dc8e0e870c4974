"""Training steps of models at real sizes: `ingot.torch.compile` beside eager PyTorch and torch.compile, in one process.

Each model has random weights and one batch. The contestants train copies of it, and take turns, round after round, so
that what else the machine does touches all alike; a number of the table is the median over rounds of the median step.
A step of one thread takes the processor's time, which does not count what other processes do meanwhile.
The losses of the first steps are compared: how far ingot's are from PyTorch's, as a part of them.

Types of numbers take turns as well: bf16 is `torch.autocast` around the model, for all contestants alike.
Memory is what a step of ingot's needs beside its batch: state and arena.
Seconds to compile are those of the first call, less the step itself. Rows that are not measured stay as they are.

    build/python/bin/python bench/torch_large.py [MODEL ...]
"""

from __future__ import annotations

import argparse
import copy
import platform
import resource
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
import transformers as hf
from torch import nn

import ingot.torch

TABLE = Path(__file__).parents[1] / "docs/torch_large_models.md"
HEAD = """# Models at real sizes

One training step through `ingot.torch.compile`, beside eager PyTorch and `torch.compile`, on one batch: made by
`bench/torch_large.py`, which says how. Milliseconds of one step; *gain* is the faster peer's time by ingot's. Where the
type is bf16, the model is under `torch.autocast`, for all of them.

"""
COLUMNS = [
    "model",
    "parameters",
    "type",
    "threads",
    "eager",
    "torch.compile",
    "ingot",
    "gain",
    "compile, s",
    "MB",
    "losses apart",
    "processor",
    "measured",
]
COMPARED = 3  # steps
TYPES = {"f32": torch.float32, "bf16": torch.bfloat16}

Batch = dict[str, torch.Tensor]
Adam, AdamW = torch.optim.Adam, torch.optim.AdamW


def images(count: int, size: int, classes: int = 1000) -> Batch:
    return {"pixel_values": torch.randn(count, 3, size, size), "labels": torch.randint(0, classes, (count,))}


def words(count: int, length: int, vocabulary: int) -> Batch:
    ids = torch.randint(0, vocabulary, (count, length))
    return {"input_ids": ids, "labels": ids}


def sentences(count: int, length: int, vocabulary: int) -> Batch:
    return {"input_ids": torch.randint(0, vocabulary, (count, length)), "labels": torch.randint(0, 2, (count,))}


def segments() -> Batch:
    return {"pixel_values": torch.randn(2, 3, 128, 128), "labels": torch.randint(0, 2, (2, 128, 128))}


class LstmWords(nn.Module):
    """A language model of two recurrent layers: Zaremba and others 2014, without dropout."""

    def __init__(self, configuration: SimpleNamespace) -> None:
        super().__init__()
        width, vocabulary = configuration.width, configuration.vocabulary
        self.embedding = nn.Embedding(vocabulary, width)
        self.layers = nn.LSTM(width, width, num_layers=2, batch_first=True)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, input_ids: torch.Tensor, labels: torch.Tensor) -> SimpleNamespace:
        scores = self.head(self.layers(self.embedding(input_ids))[0])
        return SimpleNamespace(loss=nn.functional.cross_entropy(scores.flatten(0, 1), labels.flatten()))


def momentum(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.01, momentum=0.9)


def smaller(layers: int, width: int, **options: Any) -> dict[str, Any]:
    sizes = {"num_hidden_layers": layers, "hidden_size": width, "num_attention_heads": width // 64}
    return {**sizes, "intermediate_size": 4 * width, **options}


def without_chance(configuration: Any) -> Any:
    """What drops out does so nowhere: PyTorch draws other numbers."""
    for name in vars(configuration):
        if name.endswith(("dropout", "dropout_prob", "pdrop", "drop_path_rate", "dropout_rate")):
            setattr(configuration, name, 0.0)
    return configuration


# By name: the model, its configuration, its optimizer, its batch.
Make = tuple[Any, Callable[[], Any], Callable[..., torch.optim.Optimizer], Callable[[], Batch]]
MODELS: dict[str, Make] = {
    "ViT-B/16, 4 images": (
        hf.ViTForImageClassification,
        lambda: hf.ViTConfig(num_labels=1000),
        Adam,
        lambda: images(4, 224),
    ),
    "ViT-B/16, 8 images": (
        hf.ViTForImageClassification,
        lambda: hf.ViTConfig(num_labels=1000),
        Adam,
        lambda: images(8, 224),
    ),
    "BERT-base, 8 x 512": (hf.BertForSequenceClassification, hf.BertConfig, AdamW, lambda: sentences(8, 512, 30000)),
    "ResNet-50, 16 images": (
        hf.ResNetForImageClassification,
        lambda: hf.ResNetConfig(num_labels=1000),
        momentum,
        lambda: images(16, 224),
    ),
    "Swin-T, 8 images": (
        hf.SwinForImageClassification,
        lambda: hf.SwinConfig(num_labels=1000),
        AdamW,
        lambda: images(8, 224),
    ),
    "SegFormer, 2 images of 128": (
        hf.SegformerForSemanticSegmentation,
        lambda: hf.SegformerConfig(hidden_sizes=[32, 64, 160, 256], decoder_hidden_size=256),
        AdamW,
        segments,
    ),
    "Mamba of 2 x 256, 4 x 32": (
        hf.MambaForCausalLM,
        lambda: hf.MambaConfig(hidden_size=256, num_hidden_layers=2, vocab_size=1000),
        AdamW,
        lambda: words(4, 32, 1000),
    ),
    "ResNet-18, 16 images of 64": (
        hf.ResNetForImageClassification,
        lambda: hf.ResNetConfig(
            layer_type="basic", depths=[2, 2, 2, 2], hidden_sizes=[64, 128, 256, 512], num_labels=1000
        ),
        momentum,
        lambda: images(16, 64),
    ),
    "BERT of 4 x 256, 8 x 128": (
        hf.BertForSequenceClassification,
        lambda: hf.BertConfig(**smaller(4, 256), vocab_size=10000),
        AdamW,
        lambda: sentences(8, 128, 10000),
    ),
    "ConvNeXt-T, 4 images of 64": (
        hf.ConvNextForImageClassification,
        lambda: hf.ConvNextConfig(num_labels=1000),
        AdamW,
        lambda: images(4, 64),
    ),
    "LSTM of 2 x 256, 16 x 64": (
        LstmWords,
        lambda: SimpleNamespace(width=256, vocabulary=10000),
        AdamW,
        lambda: words(16, 64, 10000),
    ),
    "GPT-2 of 6 x 384, 8 x 128": (
        hf.GPT2LMHeadModel,
        lambda: hf.GPT2Config(n_layer=6, n_embd=384, n_head=6, vocab_size=10000),
        AdamW,
        lambda: words(8, 128, 10000),
    ),
    "Llama of 4 x 256, 8 x 128": (
        hf.LlamaForCausalLM,
        lambda: hf.LlamaConfig(**smaller(4, 256), vocab_size=10000, num_key_value_heads=2),
        AdamW,
        lambda: words(8, 128, 10000),
    ),
    "ViT of 6 x 256, 16 images of 64": (
        hf.ViTForImageClassification,
        lambda: hf.ViTConfig(**smaller(6, 256), image_size=64, patch_size=8, num_labels=100),
        Adam,
        lambda: images(16, 64, 100),
    ),
}


def training_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, dtype: torch.dtype = torch.float32
) -> Callable[[Batch], torch.Tensor]:
    """A step by the loss that a model of `transformers` computes itself; of bf16 it is under autocast."""

    def train_step(batch: Batch) -> torch.Tensor:
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=dtype == torch.bfloat16):
            loss: torch.Tensor = model(**batch).loss
        loss.backward()
        optimizer.step()
        return loss

    return train_step


def processor_seconds() -> float:
    """Of this process, and of those that it started and waited for: the compiler's."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


class Contestant:
    """A copy of a model that is trained in one way."""

    def __init__(self, way: str, dtype: torch.dtype, model: nn.Module, make: Any, threads: int) -> None:
        self.model = copy.deepcopy(model)
        self.threads = threads
        optimizer = make(self.model.parameters())

        self.step: Any = training_step(self.model, optimizer, dtype)
        if way == "ingot":
            self.step = ingot.torch.compile(self.step, self.model, optimizer, threads=threads, verify=False)
        if way == "torch.compile":
            self.model.compile()
            optimizer.step = torch.compile(optimizer.step)

    def times(self, batch: Batch, seconds: float) -> tuple[list[float], list[float]]:
        """Milliseconds of steps that take some seconds together, at least one; and their losses."""
        torch.set_num_threads(self.threads)
        clock = processor_seconds if self.threads == 1 else time.perf_counter
        taken: list[float] = []
        losses: list[float] = []
        while sum(taken) < 1e3 * seconds or not taken:
            start = clock()
            losses.append(self.step(batch).item())
            taken.append(1e3 * (clock() - start))
        return taken, losses


def measured(name: str, threads: int, options: argparse.Namespace) -> list[list[str]]:
    """A row for each type."""
    torch.manual_seed(0)
    kind, configure, make, batch_of = MODELS[name]
    model, batch = kind(without_chance(configure())).train(), batch_of()
    ways = ["eager", *(["torch.compile"] if options.compile else []), "ingot"]
    contestants = {
        (dtype, way): Contestant(way, TYPES[dtype], model, make, threads) for dtype in options.types for way in ways
    }
    first, losses = {}, {}
    for key, contestant in contestants.items():
        steps = [contestant.times(batch, 0) for _ in range(COMPARED)]
        first[key], losses[key] = steps[0][0][0], [step[1][0] for step in steps]
    seen: dict[tuple[str, str], list[float]] = {key: [] for key in contestants}
    for _ in range(options.rounds):
        for key, contestant in contestants.items():
            seen[key].append(statistics.median(contestant.times(batch, options.seconds)[0]))
    parameters = sum(parameter.numel() for parameter in model.parameters())
    rows = []
    for dtype in options.types:
        ms = {way: statistics.median(seen[dtype, way]) for way in ways}
        pairs = zip(losses[dtype, "eager"], losses[dtype, "ingot"], strict=True)
        peer = min(time for way, time in ms.items() if way != "ingot")
        rows.append(
            [
                *(name, f"{parameters / 1e6:.1f} M", dtype, str(threads), f"{ms['eager']:.0f}"),
                *(f"{ms['torch.compile']:.0f}" if options.compile else "", f"{ms['ingot']:.0f}"),
                *(f"{peer / ms['ingot']:.2f}x", f"{(first[dtype, 'ingot'] - ms['ingot']) / 1e3:.0f}"),
                f"{contestants[dtype, 'ingot'].step.memory_bytes / 1e6:.0f}",
                *(f"{max(abs(a - b) / abs(a) for a, b in pairs):.0e}", options.processor),
                f"{time.strftime('%-d %B %Y')}",
            ]
        )
    return rows


def main() -> None:
    """Measures, and writes the table after each model."""
    warnings.filterwarnings("ignore")
    hf.logging.set_verbosity_error()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", default=[*MODELS], help=f"of {'; '.join(MODELS)}")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="numbers of threads; 1 2 by default")
    parser.add_argument(
        "--types", choices=[*TYPES], nargs="+", default=["f32"], help="types of numbers; f32 by default"
    )
    parser.add_argument("--rounds", type=int, default=3, help="how often each contestant has its turn; 3 by default")
    parser.add_argument("--seconds", type=float, default=2, help="how long a turn lasts at least; 2 by default")
    parser.add_argument("--compile", action="store_true", help="with torch.compile")
    parser.add_argument(
        "--processor", default=platform.processor() or platform.machine(), help="what the table calls it"
    )
    parser.add_argument("-o", "--output", type=Path, default=TABLE, help="docs/torch_large_models.md by default")
    options = parser.parse_args()
    for name in options.models:
        for threads in options.threads:
            rows = measured(name, threads, options)
            write(options.output, rows)
            for row in rows:
                print(*row, sep=" | ", flush=True)


def write(table: Path, new: Sequence[Sequence[str]]) -> None:
    """Puts rows into the table, in the order of MODELS."""
    old = table.read_text().splitlines() if table.exists() else []
    found = [line.strip("| ").split(" | ") for line in old if line.startswith("| ")][2:]
    rows = {tuple(cells[i] for i in (0, 2, 3)): [*cells] for cells in [*found, *new]}
    names, types = [*MODELS], [*TYPES]
    ordered = sorted(rows.values(), key=lambda cells: (names.index(cells[0]), types.index(cells[2]), cells[3]))
    lines = [f"| {' | '.join(cells)} |" for cells in (COLUMNS, ["---"] * len(COLUMNS), *ordered)]
    table.write_text(HEAD + "\n".join(lines) + f"\n\nLast measured with PyTorch {torch.__version__}.\n")


if __name__ == "__main__":
    main()
