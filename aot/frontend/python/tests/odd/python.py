"""Python inside and around the step: closures, generators, counters, random numbers, exceptions."""

from __future__ import annotations

import collections
import contextlib
import functools
import math
import random
import time
from collections.abc import Iterator

import numpy as np
import torch
from torch.nn import functional as F

from odd import XS, YS, Step, classifier, mlp, sgd

COUNT = 0


def closure_float_falls(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    temperature = 1.0

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x) / temperature, y)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        train_step(XS[i], YS[i])
        temperature *= 0.9


def closure_int_grows(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    depth = 1

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        for _ in range(depth):
            x = x.sin() + 1
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        depth = 1 + i // 2
        train_step(XS[i], YS[i])


def configuration_is_a_dict(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    config = {"loss": "ce", "weight": 1.0, "layers": [0, 2]}

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        out = model(x)
        loss = F.cross_entropy(out, y) if config["loss"] == "ce" else F.multi_margin_loss(out, y)
        for i in config["layers"]:
            loss = loss + config["weight"] * model[i].weight.square().mean()
        loss.backward()
        optimizer.step()
        return loss

    changes = [{}, {"weight": 0.5}, {"loss": "margin"}, {"layers": [0]}, {"weight": 0.25}, {"loss": "ce"}]
    for i, change in enumerate(changes):
        config.update(change)
        train_step(XS[i], YS[i])


def global_counter_is_incremented(step: Step) -> None:
    global COUNT
    COUNT = 0
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        global COUNT
        COUNT += 1
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y) / math.sqrt(COUNT)
        loss.backward()
        optimizer.step()
        return loss * COUNT

    for i in range(6):
        train_step(XS[i], YS[i])
    assert COUNT == 6


def losses_are_collected_in_a_list(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    history: list[float] = []

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        history.append(loss.item())
        return loss

    for i in range(6):
        train_step(XS[i], YS[i])
    assert len(history) == 6


def metrics_are_summed_in_an_object(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    totals: collections.Counter[str] = collections.Counter()

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        totals["rows"] += len(x)
        totals["loss"] += loss.item()
        return loss

    for rows in (6, 6, 3, 6, 3, 6):
        train_step(XS[0, :rows], YS[0, :rows])
    train_step.totals = None
    assert totals["rows"] == 30


def python_random_decides(step: Step) -> None:
    random.seed(0)
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        out = model(x if random.random() < 0.5 else x.flip(0))
        loss = F.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        train_step(XS[i], YS[i])


def numpy_random_mixes(step: Step) -> None:
    np.random.seed(0)
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        lam = np.random.beta(0.5, 0.5)
        optimizer.zero_grad()
        out = model(lam * x + (1 - lam) * x.flip(0))
        loss = lam * F.cross_entropy(out, y) + (1 - lam) * F.cross_entropy(out, y.flip(0))
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        train_step(XS[i], YS[i])


def random_numbers_are_drawn_outside(step: Step) -> None:
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    model = mlp()
    train_step = classifier(step, model, sgd(model))
    for i in range(6):
        rows = np.random.permutation(6)
        train_step(XS[i][rows] + 0.1 * torch.randn(6, 4) * random.random(), YS[i][rows])


def batch_is_drawn_by_a_generator(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    batches = iter(zip(XS, YS, strict=True))

    @step(model, optimizer)
    def train_step() -> torch.Tensor:
        x, y = next(batches)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    for _ in range(6):
        train_step()


def step_is_called_in_a_generator(step: Step) -> None:
    model = mlp()
    train_step = classifier(step, model, sgd(model))

    def losses() -> Iterator[float]:
        for x, y in zip(XS, YS, strict=True):
            yield float(train_step(x, y))

    for i, _ in enumerate(losses()):
        if i == 5:
            break


def printed_inside(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        print(f"loss {loss.item():.3f}")
        return loss

    for i in range(6):
        train_step(XS[i], YS[i])


def asserted_inside(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        assert x.ndim == 2 and len(x) == len(y), "rows"
        assert torch.isfinite(x).all(), "not finite"
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        train_step(XS[i], YS[i])


def raised_inside_by_a_flag(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor, stop: bool = False) -> torch.Tensor:
        if stop:
            raise StopIteration("enough")
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        with contextlib.suppress(StopIteration):
            train_step(XS[i], YS[i], i == 3)


def raised_inside_by_a_loss(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        if not math.isfinite(loss.item()):
            raise FloatingPointError(f"loss is {loss.item()}")
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        with contextlib.suppress(FloatingPointError):
            train_step(XS[i] * (math.inf if i == 3 else 1.0), YS[i])


def caught_inside(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        try:
            out = model(x)
        except RuntimeError:
            out = model(F.pad(x, (0, 4 - x.shape[1])))
        loss = F.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        train_step(XS[i, :, : 4 - i % 2], YS[i])


def timed_inside(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        began = time.perf_counter()
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        assert time.perf_counter() - began < 1e6
        return loss

    for i in range(6):
        train_step(XS[i], YS[i])


def step_is_a_method(step: Step) -> None:
    class Trainer:
        def __init__(self) -> None:
            self.model = mlp()
            self.optimizer = sgd(self.model)
            self.epoch, self.best, self.log = 0, math.inf, []
            self.train_step = step(self.model, self.optimizer)(self.train_step)  # type: ignore[method-assign]

        def train_step(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            self.optimizer.zero_grad()
            loss = F.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            return loss

        def fit(self) -> None:
            for i in range(6):
                self.epoch = i
                self.log.append(float(self.train_step(XS[i], YS[i])))
                self.best = min(self.best, self.log[-1])

    Trainer().fit()


def step_is_a_partial(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    def train_step(scale: float, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y) * scale
        loss.backward()
        optimizer.step()
        return loss

    for scale in (1.0, 0.5):
        half = step(model, optimizer)(functools.partial(train_step, scale))
        for i in range(3):
            half(XS[i], YS[i])


def decorated_in_each_epoch(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    def train(epoch: int) -> None:
        weight = 1.0 / (1 + epoch)

        @step(model, optimizer)
        def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y) * weight
            loss.backward()
            optimizer.step()
            return loss

        for i in range(2):
            train_step(XS[2 * epoch + i], YS[2 * epoch + i])

    for epoch in range(3):
        train(epoch)


def decorated_in_each_call(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    for i in range(6):
        classifier(step, model, optimizer)(XS[i], YS[i])


def steps_call_each_other(step: Step) -> None:
    model = mlp()
    inner = classifier(step, model, sgd(model))
    for i in range(6):
        inner(*((XS[i], inner(XS[i], YS[i]).detach().long().expand(6).clamp(0, 2)) if i % 2 else (XS[i], YS[i])))


def loop_ends_by_a_value(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        for _ in range(int(y.max()) + 1):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        return loss

    for i in range(6):
        train_step(XS[i], YS[i].clamp(max=i % 3))


def rows_are_selected_by_a_mask(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        kept = y != 0
        if not kept.any():
            return x.new_zeros(())
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x[kept]), y[kept])
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        train_step(XS[i], YS[i] * (i != 3))


def losses_are_weighted_by_what_they_were(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    running = [1.0, 1.0]

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        out = model(x)
        first, second = F.cross_entropy(out, y), out.square().mean()
        loss = first / running[0] + second / running[1]
        loss.backward()
        optimizer.step()
        running[0] = 0.9 * running[0] + 0.1 * first.item()
        running[1] = 0.9 * running[1] + 0.1 * second.item()
        return loss

    for i in range(6):
        train_step(XS[i], YS[i])


def baseline_is_a_tensor_outside(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    baseline = torch.zeros(())

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        nonlocal baseline
        optimizer.zero_grad()
        loss = (F.cross_entropy(model(x), y) - baseline).abs()
        loss.backward()
        optimizer.step()
        baseline = 0.9 * baseline + 0.1 * loss.detach()
        return loss

    for i in range(6):
        train_step(XS[i], YS[i])


def replay_buffer_is_a_deque(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    memory: collections.deque[torch.Tensor] = collections.deque(maxlen=3)

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y) + sum(model(old).square().mean() for old in memory)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        train_step(XS[i], YS[i])
        memory.append(XS[i])


def function_is_replaced(step: Step) -> None:
    model = mlp()
    optimizer = sgd(model)
    criterion = F.cross_entropy

    @step(model, optimizer)
    def train_step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    for i in range(6):
        criterion = F.multi_margin_loss if i in (2, 3) else F.cross_entropy
        train_step(XS[i], YS[i])
