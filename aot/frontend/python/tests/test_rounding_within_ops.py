"""What rounding within ops decides is told from what differs."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from tool import TOOL
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode

import ingot.torch
from ingot.judge import Agreement
from ingot.stablehlo import Port
from ingot.torch.judge import verify
from ingot.torch.judge.observe import Graph
from ingot.torch.judge.part import first_parting
from ingot.torch.judge.reference import Noise, Reference
from ingot.torch.judge.wide import Wide
from ingot.torch.text.lowering import TABLE


@pytest.fixture(autouse=True)
def tool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT", str(TOOL))


def test_the_reference_is_f64_and_what_is_moved_is_near_it() -> None:
    x = torch.rand(3, 50) + 1
    ports = [Port("w", is_state=True), Port("x")]
    way = Graph(make_fx(lambda w, x: [(w * x).sum(), torch.full_like(w, 0.1) + x.sum(0)])(torch.ones(50), x), ports)
    found = {}
    for seed in (None, 0):
        reference = Reference(way, None if seed is None else Noise(seed))
        found[seed] = reference({"w": torch.ones(50), "x": x}, [], [*way.outputs(1), *way.states(1)])
    total, w = found[None]
    assert total.dtype is w.dtype is torch.float64
    assert total == x.double().sum()
    assert torch.equal(w, 0.1 + x.double().sum(0))
    assert total != found[0][0]
    assert found[0][0].item() == pytest.approx(total.item(), rel=1e-4)
    assert torch.allclose(found[0][1], w, rtol=1e-4)


class LargeTensors(TorchDispatchMode):
    """Counts the tensors of 1000 elements that are alive at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.most = 0
        self._made: list[StorageWeakRef] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        if isinstance(made, torch.Tensor) and made.numel() == 1000:
            self._made = [*(storage for storage in self._made if not storage.expired()), storage_of(made)]
            self.most = max(self.most, len({storage.cdata for storage in self._made}))
        return made


def storage_of(tensor: torch.Tensor) -> StorageWeakRef:
    return StorageWeakRef(tensor.untyped_storage())


def chain(x: torch.Tensor) -> list[torch.Tensor]:
    for _ in range(50):
        x = (x * 1.5).tanh()
    return [x.sum()]


@pytest.mark.parametrize("noise", [None, Noise(0), Noise(0, is_measured=True)])
def test_the_reference_keeps_no_value_that_nothing_reads(noise: Noise | None) -> None:
    way = Graph(make_fx(chain)(torch.ones(1000)), [Port("x")])
    with LargeTensors() as large:
        Reference(way, noise)({"x": torch.ones(1000)}, [], way.outputs(0))
    assert large.most < 20


def test_what_runs_in_f64_beside_pytorch_is_kept_as_long_as_pytorch_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingot.torch.judge.wide.FIRST_SWEEP_BYTES", 500_000)
    with LargeTensors() as large, torch.no_grad(), Wide() as wide:
        (total,) = chain(torch.ones(1000))
    assert wide.of(total).dtype is torch.float64
    assert large.most < 30


def parting_of_product(factor: float) -> str:
    """Of a product of matrices along 4096 places whose sums nearly cancel, beside PyTorch's in f32: the exact one."""
    torch.manual_seed(0)
    a, b = torch.rand(4, 4096) + 1, torch.randn(4096, 3).sort(0).values
    b -= ((a.mean(0) @ b) / a.mean(0).sum())[None]
    module = make_fx(torch.mm)(a, b)
    (node,) = (node for node in module.graph.nodes if node.op == "call_function")
    exact = (a.double() @ b.double()).float()
    return first_parting(Graph(module, ()), [a, b], {node: exact * factor})


def test_sums_that_nearly_cancel_are_as_near_as_rounding_takes_them() -> None:
    assert parting_of_product(1.0) == ""
    assert re.match(r"mm\.default \(mm\w*\) at .* is off by", parting_of_product(1.1))


def test_memory_that_holds_anything_is_not_compared() -> None:
    x = torch.ones(3)
    module = make_fx(lambda x: torch.empty_like(x).copy_(x))(x)
    (empty, copied) = (node for node in module.graph.nodes if node.op == "call_function")
    assert first_parting(Graph(module, ()), [x], {empty: x + 1, copied: x}) == ""


def normalised(x: torch.Tensor, weight: torch.Tensor, mean: torch.Tensor, var: torch.Tensor) -> torch.Tensor:
    """The mean of what is centred is zero but for rounding, and so is the running mean."""
    return F.batch_norm((x - x.mean(0)) * weight, mean, var, training=True, momentum=1.0)


class Centred(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(16))
        self.register_buffer("mean", torch.zeros(16))
        self.register_buffer("var", torch.ones(16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(normalised(x, self.weight, self.mean, self.var))


def verified() -> Agreement:
    torch.manual_seed(0)
    model = Centred()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = (model(x) * x).sum()
        loss.backward()
        optimizer.step()
        return loss

    batch = torch.randn(2, 300, 16) + 3
    program = ingot.torch.Program(model, optimizer)
    program.add("train_step", step, (batch[0],))
    return program.verify({"x": batch})


@pytest.mark.parametrize("outputs", [5, 4096])
def test_one_of_several_results_that_is_zero_but_for_rounding_is_no_difference(
    outputs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify, "MOST_OUTPUTS", outputs)
    found = verified()
    assert found.holds, found


@pytest.mark.parametrize("outputs", [5, 4096])
def test_the_op_after_it_that_differs_is_named(outputs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "MOST_OUTPUTS", outputs)
    monkeypatch.setitem(TABLE, "tanh.default", lambda e, x: e.unary("logistic", x))
    found = verified()
    assert not found.holds
    assert "; tanh.default (tanh" in str(found), found
