"""Lazy tensors do what PyTorch's do; what they compile and run is counted."""

from __future__ import annotations

import copy
import io
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from at_once import at_once
from torch import nn
from torch.utils import _pytree as pytree
from torch.utils.checkpoint import checkpoint

import ingot.torch
from ingot.torch import lazy
from ingot.torch.base import metrics
from ingot.torch.lazy.numbers import RULES

DEVICE = ingot.torch.device()


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path_factory.getbasetemp() / "lazy"))
    ingot.torch.mark_step()
    lazy.clear()
    yield
    ingot.torch.mark_step()


def tensor(device: Any, *shape: int) -> torch.Tensor:
    """Numbers from -1 on."""
    return (torch.arange(float(torch.Size(shape).numel())).reshape(shape) / 7 - 1).to(device)


def mark(device: Any) -> None:
    if device != "cpu":
        ingot.torch.mark_step()


def write_through_views(device: Any) -> Any:
    x = tensor(device, 3, 4)
    row = x[1]
    row.mul_(3)
    x.t()[0].add_(1)
    a, b = x.split(2, 1)
    a.copy_(b)
    x.unbind(0)[0].fill_(5.0)
    return x, row, a, b


def write_through_views_of_before(device: Any) -> Any:
    x = tensor(device, 3, 4)
    column, turned = x[:, 1], x.t()
    mark(device)
    column.add_(1)
    turned[0].mul_(2)
    return x, column, turned, x.view(4, 3)


def views_that_overlap(device: Any) -> Any:
    x = tensor(device, 12)
    windows = x.unfold(0, 4, 2)
    mark(device)
    return windows * 2, x


def turned_in_place(device: Any) -> Any:
    x = tensor(device, 3, 1, 4)
    other = x.detach()
    x.squeeze_(1)
    x.unsqueeze_(0)
    x.transpose_(1, 2)
    x[0, 1] = 7.0
    y = tensor(device, 2, 3)
    y.t_()
    y[0] = 1.0
    return x + 1, other, y


def expanded(device: Any) -> Any:
    x = tensor(device, 1, 3).expand(2, 3)
    y = x.contiguous()
    y[0] += 1
    return x, y


def by_mask_and_position(device: Any) -> Any:
    x = tensor(device, 3, 4)
    x[x > 0] = 0.5
    x[torch.tensor([0, 2])] = 1.0
    return x, x[torch.tensor([1, 2])], torch.where(x > 0, x, torch.tensor(0.0))


def whole_numbers(device: Any) -> Any:
    x = torch.arange(6, device=device)
    return x * 3 + 1, x // 2, x.float() / 4, x % 4, 7 - x


def complex_numbers(device: Any) -> Any:
    x = torch.view_as_complex(tensor(device, 3, 2))
    y = x.conj()
    return y * 2, x.abs(), torch.view_as_real(y.resolve_conj()), torch.fft.rfft(tensor(device, 8))


def conjugates_of_before(device: Any) -> Any:
    x = torch.view_as_complex(tensor(device, 3, 2))
    y, z, whole = x.conj(), x.conj().imag, x * 2
    part, row = whole.conj().imag, torch.arange(4, device=device)[1:]
    mark(device)
    x.mul_(2)
    whole.mul_(3)
    return y * 2j, z + 1, x.norm(), x.std(), part * 2, row + 1


def narrow_floats(device: Any) -> Any:
    x, parameter = tensor(device, 3, 4).bfloat16(), tensor(device, 4).half().requires_grad_()
    (parameter * parameter).sum().backward()
    torch.optim.Adam([parameter], 0.1).step()
    return x * 2 + 1, x.sum(), parameter


def nothing_at_all(device: Any) -> Any:
    x = torch.zeros(0, 3, device=device)
    return x + 1, torch.cat([x, torch.ones(1, 3, device=device)])


def python_asks(device: Any) -> Any:
    x = tensor(device, 2, 2)
    return torch.tensor([float(x[0, 1]), int(x[1, 1]), bool(x[0, 0] < 0), len(x), sum(x.tolist()[0]), x.max().item()])


def written_to_out(device: Any) -> Any:
    x, out = tensor(device, 3), torch.empty(3, device=device)
    torch.add(x, x, out=out)
    return out


def resized_for_out(device: Any) -> Any:
    x, made = tensor(device, 2, 3), []
    for _ in range(2):  # the second time, PyTorch is not asked again what is made of such tensors
        made += [torch.empty(0, device=device), torch.empty(0, device=device)]
        torch.add(x, x, out=made[-2])
        torch.stack([x, x], out=made[-1])
    where = torch.empty(0, dtype=torch.int64, device=device)
    made.append(torch.nonzero(x > 0, out=where))
    return made, where, torch.tensor([size for y in made for size in y.shape])


def resized(device: Any) -> Any:
    x = tensor(device, 6)
    part = x[2:4]
    x.resize_(2, 5)  # moves to more memory, with its views
    x.view(-1)[6:] = 7
    part.add_(10)
    turned = tensor(device, 2, 3).t().resize_(4)
    like = torch.empty(0, device=device).resize_as_(x).copy_(x)
    return x, part, turned, like, part.resize_(3), torch.tensor([*x.stride(), *part.shape])


def calls_that_are_alike(device: Any) -> Any:
    x, y, z = (tensor(device, 3) * i for i in (1, 2, 3))
    made = [torch.add(x, y, out=x), torch.add(x, y, out=z), x.add_(x), x.add_(y)]  # one layout, other tensors
    whole = tensor(device, 2, 3)
    rows = [torch.add(whole[0], whole[1], out=whole[0]), torch.add(x, y, out=whole[1])]
    signs = [torch.full((2,), zero, device=device) for zero in (0.0, -0.0)]
    return made, x, z, rows, whole, [sign.signbit() for sign in signs], x * True, x * 1, x * 1.0


def set_to_another(device: Any) -> Any:
    x, whole, some, nothing = tensor(device, 3, 4), tensor(device, 2), tensor(device, 2), tensor(device, 2)
    whole.set_(x).mul_(2)
    some.set_(x.t().as_strided((2, 2), (1, 3), 1)).add_(100)
    return x, whole, some, nothing.set_(), torch.tensor([*whole.shape, *some.stride(), *nothing.shape])


def data_exchanged(device: Any) -> Any:
    x = tensor(device, 4).requires_grad_()
    x.data = tensor(device, 4) * 2
    x.data.add_(1)
    x.data[0] = 3.0
    return x


def written_before_backward(device: Any) -> Any:
    x = tensor(device, 4, 4).requires_grad_()
    y = x * 2
    y[0].mul_(3)
    y.t_()
    y.square().sum().backward()
    return x.grad, y


def gradients_of_gradients(device: Any) -> Any:
    x = tensor(device, 3).requires_grad_()
    (gradient,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    gradient.sum().backward()
    return x.grad


def computed_again(device: Any) -> Any:
    x = tensor(device, 4).requires_grad_()
    checkpoint(lambda x: (x * 2).sin().sum(), x, use_reentrant=False).backward()
    return x.grad


def recurrent(device: Any) -> Any:
    layers = [kind(3, 4).to(device) for kind in (nn.LSTM, nn.GRU)]
    outputs = [layer(tensor(device, 2, 2, 3))[0] for layer in layers]
    sum(output.sum() for output in outputs).backward()
    return outputs, [layer.weight_hh_l0.grad for layer in layers], layers[1].bias_hh_l0.grad


def attention_and_dropout(device: Any) -> Any:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.1).to(device)
    output = layer(tensor(device, 2, 3, 8))
    output.square().sum().backward()
    return output, layer.self_attn.in_proj_weight.grad


def without_autograd(device: Any) -> Any:
    layers = [nn.LSTM(3, 4), nn.Linear(3, 2), nn.Conv1d(2, 2, 1)]
    with torch.inference_mode():
        return [layer.to(device)(tensor(device, 2, 2, 3)) for layer in layers]


def changed_without_autograd(device: Any) -> Any:
    x, y = tensor(device, 3, 2), tensor(device, 2)
    view = x[1:]
    with torch.inference_mode():
        x.add_(y)
        mark(device)
        z = view.mul_(2)[0] * 1
        y.copy_(torch.ones(2))
    view.sub_(1)
    x[0].copy_(torch.zeros(2))
    y.t_().copy_(torch.full((2,), 3.0))
    mark(device)
    y.copy_(torch.full((2,), 4.0))
    return x, y, view, z


def embedding(device: Any) -> Any:
    layer = nn.Embedding(5, 3).to(device)
    output = layer(torch.tensor([[0, 1], [4, 1]], device=device))
    output.sin().sum().backward()
    return output, layer.weight.grad


def channels_last(device: Any) -> Any:
    layer = nn.Conv2d(2, 3, 3).to(device)
    output = layer(tensor(device, 2, 2, 5, 5).to(memory_format=torch.channels_last)).flatten(1)
    output.sum().backward()
    return output, layer.weight.grad


def lists_of_tensors(device: Any) -> Any:
    parameters = [tensor(device, 3).requires_grad_() for _ in range(2)]
    optimizer = torch.optim.Adam(parameters, foreach=True, lr=0.1)
    for _ in range(3):
        sum((p * p).sum() for p in parameters).backward()
        norm = nn.utils.clip_grad_norm_(parameters, 0.5)
        optimizer.step()
    return parameters, norm


def copied(device: Any) -> Any:
    layer = nn.Linear(3, 2).to(device)
    other = copy.deepcopy(layer)
    assert isinstance(other.weight, nn.Parameter)
    other.weight.data.mul_(2)
    return layer(tensor(device, 1, 3)), other(tensor(device, 1, 3))


def copied_with_views(device: Any) -> Any:
    x = tensor(device, 2, 3)
    row, x.name_of_mine = x[0], ["kept"]
    others = copy.deepcopy([x, row, x])
    assert others[0] is others[2] and others[0].name_of_mine == ["kept"] != x.name_of_mine.clear()
    others[1].mul_(2)
    parameter, leaf = nn.Parameter(tensor(device, 3)), tensor(device, 3).requires_grad_()
    (parameter * leaf).sum().backward()
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(parameter * 2)
    assert copy.deepcopy(parameter).grad is None
    return x, others, copy.deepcopy(leaf).grad


def values_that_decide_shapes(device: Any) -> Any:
    x = tensor(device, 5)
    repeats = torch.arange(5, device=device)
    repeated = x.repeat_interleave(repeats), x.repeat_interleave(repeats, output_size=10)
    return x.nonzero(), torch.unique((x * 2).round()), x.view(torch.int32), repeated


def types_that_programs_lack(device: Any) -> Any:
    x, half = tensor(device, 4), torch.complex32
    halves = x.to(half)
    wide = [halves[1:], halves.view(2, 2), torch.zeros(4, dtype=half, device=device).copy_(x)]
    leaf = tensor(device, 4).requires_grad_()
    torch.view_as_real(leaf.to(half)).double().sum().backward()
    counts = torch.arange(3, dtype=torch.int32).to(torch.uint16).to(device)
    counts.unsqueeze_(0)
    return *(y.to(torch.complex64) for y in wide), counts.to(torch.int32) + 1, leaf.grad


def one_loss(device: Any) -> Any:
    x, labels = tensor(device, 5).requires_grad_(), torch.tensor([1, 3, -1, 0, 2], device=device)
    loss = F.multilabel_margin_loss(x, labels, reduction="none")
    loss.backward()
    return loss, x.grad


def nothing_is_chosen(device: Any) -> Any:
    x = tensor(device, 1).requires_grad_()
    torch.combinations(x).sum().backward()
    return x.grad


def batch_normalised(device: Any) -> Any:
    given = tensor(device, 4, 3), *(tensor(device, 3).abs() for _ in range(4))
    functions = torch.native_batch_norm, torch.ops.aten._native_batch_norm_legit
    return [function(*given, training, 0.1, 1e-5) for function in functions for training in (False, True)]


SAME = [
    *(write_through_views, write_through_views_of_before, views_that_overlap, turned_in_place, expanded),
    *(by_mask_and_position, whole_numbers, complex_numbers, narrow_floats, nothing_at_all, python_asks),
    *(conjugates_of_before, types_that_programs_lack, nothing_is_chosen, one_loss),
    *(
        written_to_out,
        resized_for_out,
        resized,
        set_to_another,
        data_exchanged,
        written_before_backward,
        gradients_of_gradients,
        computed_again,
        recurrent,
    ),
    *(without_autograd, changed_without_autograd, batch_normalised),
    *(attention_and_dropout, embedding, channels_last, lists_of_tensors, copied, copied_with_views),
    *(values_that_decide_shapes, calls_that_are_alike),
]


@pytest.mark.parametrize("function", SAME, ids=lambda function: function.__name__)
def test_same_as_pytorch(function: Callable[[Any], Any]) -> None:
    torch.manual_seed(3)
    mine = function(DEVICE)
    torch.manual_seed(3)
    expected = function("cpu")
    for x, y in zip(pytree.tree_leaves(mine), pytree.tree_leaves(expected), strict=True):
        torch.testing.assert_close(x.detach().cpu(), y.detach(), rtol=1e-5, atol=1e-5)


def test_an_op_without_a_row_is_counted_by_name() -> None:
    x = (tensor(DEVICE, 5) > 0).nonzero()
    assert x.tolist() == [[4]] or x.device == DEVICE
    assert lazy.counter("aten::nonzero") == 1
    assert "Counter: aten::nonzero\n  Value: 1\n" in ingot.torch.metrics()


def test_an_op_whose_row_refuses_runs_in_pytorch() -> None:
    def gradient(device: Any) -> Any:
        x = tensor(device, 1, 2, 6).requires_grad_()
        torch.nn.functional.pad(x, (-1, 2), mode="replicate").square().sum().backward()
        return x.grad.cpu()

    for times in (1, 2):
        torch.testing.assert_close(gradient(DEVICE), gradient("cpu"))
        assert lazy.counter("aten::replication_pad1d_backward") == times


def test_three_prints_run_once() -> None:
    x = tensor(DEVICE, 2, 2) @ tensor(DEVICE, 2, 2)
    assert lazy.samples("ExecuteTime") == 0
    shown = {repr(x), repr(x), repr(x)}
    assert lazy.samples("ExecuteTime") == 1
    assert shown == {repr(x.cpu()).removesuffix(")") + ", device='ingot:0')"}


def test_text() -> None:
    x = torch.tensor(1, device=DEVICE)
    dead = x + x
    y = x * x
    assert dead is not None
    assert lazy.text(y) == "IR {\n  %0 = i64[] input()\n  %2 = i64[] aten.mul.Tensor(%0, %0), ROOT=0\n}"
    assert lazy.samples("ExecuteTime") == 0
    with pytest.raises(TypeError, match="a tensor of cpu waits for nothing"):
        lazy.text(torch.ones(1))


def test_calls_of_one_kind_are_planned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def recorded() -> None:
        x = tensor(DEVICE, 3, 4)
        y = F.linear(x[1:].relu(), tensor(DEVICE, 5, 4), tensor(DEVICE, 5)).add_(0.5, alpha=2)
        torch.cat([y, y.view(5, 2).t()], 0).sum(1, keepdim=True).div_(7.0)

    recorded()
    monkeypatch.setattr("ingot.torch.lazy.record.plan_of", None)  # PyTorch is not asked again
    recorded()


def test_dead_tensors_are_no_results() -> None:
    results = []
    for keep in (True, False):
        x = tensor(DEVICE, 3)
        y = x.exp()
        kept = y if keep else None
        z = y.sum()
        del y
        ingot.torch.mark_step()
        results.append(z.item())
        del kept
    assert results[0] == pytest.approx(results[1])
    assert lazy.samples("CompileTime") == 2  # with one result more, and without
    tensor(DEVICE, 3).exp()
    ingot.torch.mark_step()
    assert lazy.samples("ExecuteTime") == 2


def test_numbers_that_change_compile_nothing() -> None:
    x = tensor(DEVICE, 3)
    for number in (0.5, 0.25, 2, 7.0):
        y = x.clone().mul_(number).add_(x, alpha=number + 1).addcdiv_(x, x - 9, value=number + 2).lerp_(x, number / 9)
        y = (3 - y) / (number + 3) - number
        reference = tensor("cpu", 3)
        z = reference * number + reference * (number + 1) + (number + 2) * reference / (reference - 9)
        z = (3 - z.lerp(reference, number / 9)) / (number + 3) - number
        torch.testing.assert_close(y.cpu(), z)
    assert lazy.samples("CompileTime") == 1


def test_an_op_with_numbers_is_recorded_as_it_was_called() -> None:
    x = tensor(DEVICE, 3)
    y = x.addcmul(x, x, value=0.5).add(x, alpha=2)
    assert [line.split("(")[0].split(" = ")[1] for line in lazy.text(y).splitlines()[1:-1]] == [
        *("f32[3] input", "f32[] input", "f32[] input"),
        *("f32[3] aten.addcmul.default", "f32[3] aten.add.Tensor"),
    ]
    del y
    ingot.torch.mark_step()
    for number in (2, 3.0):  # also those of a reversed difference with a factor
        expected = torch.rsub(tensor("cpu", 3), 1, alpha=number)
        torch.testing.assert_close(torch.rsub(tensor(DEVICE, 3), 1, alpha=number).cpu(), expected)
    assert lazy.samples("CompileTime") == 1
    narrow, wide = tensor("cpu", 3), tensor("cpu", 3).double()  # products are of the wider type
    given = narrow.to(DEVICE), wide.to(DEVICE)
    torch.testing.assert_close(given[1].add(given[0], alpha=0.1).cpu(), wide.add(narrow, alpha=0.1))


def test_every_rule_for_numbers_is_of_an_op() -> None:
    assert all(hasattr(torch.ops.aten, name) for name in RULES)


def model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8, bias=False), nn.BatchNorm1d(8), nn.GELU(), nn.Dropout(0.1), nn.Linear(8, 3))


def train(device: Any, make_optimizer: Callable[..., Any], steps: int) -> tuple[list[float], dict[str, Any]]:
    network = model()
    optimizer = make_optimizer(network.parameters())
    network.to(device)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    generator = torch.Generator().manual_seed(1)
    losses = []
    for _ in range(steps):
        x, y = torch.randn(4, 6, generator=generator), torch.randint(0, 3, (4,), generator=generator)
        optimizer.zero_grad()
        loss = F.cross_entropy(network(x.to(device)), y.to(device))
        loss.backward()
        if device == "cpu":
            optimizer.step()
        else:
            ingot.torch.optimizer_step(optimizer)
        scheduler.step()
        losses.append(loss.detach())
    return [float(loss) for loss in losses], network.state_dict()


@pytest.mark.parametrize(
    "make_optimizer",
    [
        lambda parameters: torch.optim.Adam(parameters, lr=0.01),
        lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9, weight_decay=0.01, nesterov=True),
    ],
    ids=["adam", "sgd"],
)
def test_training_equals_pytorch_and_compiles_twice(make_optimizer: Callable[..., Any]) -> None:
    losses, state = train(DEVICE, make_optimizer, 6)
    assert lazy.samples("ExecuteTime") == 6
    assert lazy.samples("CompileTime") == 2  # the first step, which makes the slots, and the others
    assert lazy.counter("CachedCompile") == 4
    expected, reference = train("cpu", make_optimizer, 6)
    assert losses == pytest.approx(expected, rel=1e-4)
    for name, value in reference.items():
        torch.testing.assert_close(state[name].cpu(), value, rtol=1e-3, atol=1e-4)


def test_metrics_of_many_steps() -> None:
    train(DEVICE, lambda parameters: torch.optim.SGD(parameters, lr=0.01), 61)
    report = ingot.torch.metrics()
    assert lazy.samples("ExecuteTime") == 61
    assert lazy.samples("CompileTime") == lazy.counter("UncachedCompile") == 1
    assert "Metric: ExecuteTime\n  TotalSamples: 61\n  Accumulator: " in report
    assert "Counter: CachedCompile\n  Value: 60\n" in report


def test_durations_are_written_as_pytorch_xla_does() -> None:
    assert metrics.duration(262_555_668.071) == "04m22s555ms668.071us"
    assert metrics.duration(3.4) == "003.400us"


def test_a_second_process_finds_the_bundle(monkeypatch: pytest.MonkeyPatch) -> None:
    (tensor(DEVICE, 3) * 2).cpu()
    lazy.programs.PROGRAMS.clear()
    monkeypatch.setattr("ingot.cache.compile", None)  # nothing is compiled
    torch.testing.assert_close((tensor(DEVICE, 3) * 2).cpu(), tensor("cpu", 3) * 2)


def test_backward_before_there_is_the_device() -> None:
    program = """
import torch
torch.ones(1, requires_grad=True).sum().backward()
import ingot.torch
x = torch.ones(2, device=ingot.torch.device(), requires_grad=True)
(x * 3).sum().backward()
print(x.grad.tolist())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "[3.0, 3.0]\n", done.stderr


def test_what_failed_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tensor(DEVICE, 3)
    x.mul_(41.5)
    with monkeypatch.context() as broken:
        broken.setattr("ingot.cache.compiled", lambda *_, **__: 1 / 0)
        lazy.programs.PROGRAMS.clear()
        with pytest.raises(ZeroDivisionError):
            ingot.torch.mark_step()
    with pytest.raises(RuntimeError, match="the step that computes this tensor failed before"):
        x.cpu()


def test_saved_and_loaded() -> None:
    layer = nn.Linear(2, 1).to(DEVICE)
    file = io.BytesIO()
    torch.save({"x": tensor(DEVICE, 3) * 2, "layer": layer.state_dict()}, file)
    for where, expected in ((None, DEVICE), ("cpu", torch.device("cpu"))):
        file.seek(0)
        loaded = torch.load(file, map_location=where)
        assert loaded["x"].device == expected
        torch.testing.assert_close(loaded["x"].cpu(), tensor("cpu", 3) * 2)
    file = io.BytesIO()
    torch.save(layer, file)
    file.seek(0)
    again = torch.load(file, weights_only=False)
    assert isinstance(again.weight, nn.Parameter) and again.weight.tolist() == layer.weight.tolist()


def test_an_optimizer_made_before_the_model_moves_trains_it() -> None:
    layer = nn.Linear(2, 1)
    weight = layer.weight
    assert layer.to(DEVICE).weight is weight


def test_tensors_of_the_processor_are_refused() -> None:
    with pytest.raises(RuntimeError, match=r"aten::add is given a tensor of shape \[3\] that is on cpu"):
        tensor(DEVICE, 3) + tensor("cpu", 3)
    with pytest.raises(RuntimeError, match=r"aten::add_ is to change a tensor of the processor .* y\.cpu\(\)"):
        tensor("cpu", 1)[0].add_(tensor(DEVICE, 1)[0])
    with pytest.raises(TypeError, match=r"use Tensor\.cpu\(\)"):
        tensor(DEVICE, 3).numpy()


def test_what_cannot_be_set_is_refused() -> None:
    x, y = tensor(DEVICE, 3), tensor(DEVICE, 4)
    with pytest.raises(NotImplementedError, match=r"use x\.set_\(source\.as_strided"):
        x.set_(y, 1, (2,), (1,))


def test_random_numbers_are_forked_as_pytorchs() -> None:
    torch.manual_seed(6)
    with torch.random.fork_rng():
        inside = torch.randn(3, device=DEVICE).cpu()
    outside = torch.randn(3, device=DEVICE).cpu()
    torch.manual_seed(6)
    assert torch.equal(inside, outside)
    assert torch.equal(inside, torch.randn(3))


def test_random_numbers_are_pytorchs(tmp_path: Path) -> None:
    torch.manual_seed(5)
    mine = [torch.randn(2, 3, device=DEVICE), torch.rand(2, device=DEVICE), torch.empty(4, device=DEVICE).normal_()]
    torch.manual_seed(5)
    for x, y in zip(mine, [torch.randn(2, 3), torch.rand(2), torch.empty(4).normal_()], strict=True):
        assert x.tolist() == y.tolist()
    assert lazy.samples("ExecuteTime") == 0


def trained(device: Any, seed: int, losses: list[float]) -> None:
    random = torch.Generator().manual_seed(seed)
    weight = torch.randn(8, 1, generator=random).to(device).requires_grad_()
    optimizer = torch.optim.Adam([weight], 1e-2)
    for _ in range(8):
        x = torch.randn(4, 8, generator=random).to(device)
        optimizer.zero_grad()
        loss = (x @ weight).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())


def test_threads_record_one_at_a_time() -> None:
    mine, expected = ([list[float]() for _ in range(3)] for _ in range(2))
    at_once([partial(trained, DEVICE, i, losses) for i, losses in enumerate(mine)])
    for i, losses in enumerate(expected):
        trained("cpu", i, losses)
    torch.testing.assert_close(mine, expected, rtol=1e-5, atol=1e-5)
