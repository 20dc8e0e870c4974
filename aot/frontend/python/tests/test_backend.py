"""`torch.compile(..., backend="ingot")`: forward and backward of eager programs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from at_once import at_once
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import checkpoint

import ingot.torch
from ingot import cache

XS = torch.randn(4, 6, 3, generator=torch.Generator().manual_seed(0))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path))
    torch._dynamo.reset()


def training(compiled: bool) -> tuple[nn.Module, list[float]]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    forward = torch.compile(model, backend="ingot", dynamic=False) if compiled else model
    losses = []
    for x in XS:
        optimizer.zero_grad()
        loss = F.mse_loss(forward(x), torch.ones(6, 2))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, losses


def test_trains_as_eager_does() -> None:
    (mine, losses), (reference, expected) = training(True), training(False)
    assert losses == pytest.approx(expected, rel=1e-4)
    for name, tensor in reference.state_dict().items():
        torch.testing.assert_close(mine.state_dict()[name], tensor, rtol=1e-4, atol=1e-5)


def test_forward_and_backward_are_of_one_bundle(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, bundles = cache.compiled, []

    def noted(texts: Mapping[str, str], **options: Any) -> ingot.Bundle:
        bundles.append(sorted(texts))
        return compiled(texts, **options)

    monkeypatch.setattr(cache, "compiled", noted)
    training(True)
    assert bundles == [["backward", "forward"]]
    torch.compile(torch.tanh, backend="ingot", dynamic=False)(XS[0])
    assert bundles[1:] == [["forward"]]


def test_several_graphs_of_one_function() -> None:
    weight = torch.ones(3, requires_grad=True)

    def function(x: torch.Tensor) -> torch.Tensor:
        y = torch.tanh(x * weight)
        torch._dynamo.graph_break()
        y = y + y.sum()
        torch._dynamo.graph_break()
        return (y * weight).square().sum()

    compiled = torch.compile(function, backend="ingot", dynamic=False)
    gradients = []
    for called in (compiled, function):
        (gradient,) = torch.autograd.grad(called(XS[0]), weight)
        gradients.append(gradient)
    torch.testing.assert_close(*gradients)


def test_forwards_that_wait_for_their_backwards() -> None:
    weight = torch.ones(3, requires_grad=True)
    compiled = torch.compile(lambda x: torch.tanh(x * weight).sum(), backend="ingot", dynamic=False)
    first, second = compiled(XS[0]), compiled(XS[1])
    for loss, x in ((second, XS[1]), (first, XS[0])):
        (gradient,) = torch.autograd.grad(loss, weight)
        expected = (x * (1 - torch.tanh(x).square())).sum(0)
        torch.testing.assert_close(gradient, expected)


def test_views_numbers_and_none() -> None:
    @torch.compile(backend="ingot", dynamic=False)
    def function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, int, None]:
        return x.T, (x * 2).sum(), x.shape[0], None

    turned, total, rows, none = function(XS[0])
    torch.testing.assert_close(turned, XS[0].T)
    torch.testing.assert_close(total, 2 * XS[0].sum())
    assert (rows, none) == (6, None)


DRAWS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "rand_like": torch.rand_like,
    "dropout": lambda x: F.dropout(x, 0.5),
    "bernoulli": lambda x: torch.bernoulli(x.sigmoid()),
    "randperm": lambda x: torch.randperm(50).float(),
    "normal": lambda x: torch.randn(50) + x.mean(),
    "attention": lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=0.5),
    "in two places": lambda x: F.dropout(x, 0.5) - F.dropout(x, 0.5),
}


@pytest.mark.parametrize("name", DRAWS)
def test_calls_draw_by_pytorchs_generator(name: str) -> None:
    function = torch.compile(lambda x: DRAWS[name](x) * 2, backend="ingot", dynamic=False)
    x = torch.randn(1, 20, 30, generator=torch.Generator().manual_seed(0))
    drawn = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        drawn += [function(x), function(x)]
    first, second, *again, other, _ = drawn
    assert torch.equal(first, again[0])
    assert torch.equal(second, again[1])
    assert not torch.equal(first, second)
    assert not torch.equal(first, other)
    assert first.count_nonzero() > 5


def test_gradients_are_of_what_was_dropped() -> None:
    function = torch.compile(lambda x: F.dropout(x, 0.25) * 3, backend="ingot", dynamic=False)
    x = torch.ones(100, 100, requires_grad=True)
    results = [function(x), function(x)]
    for made in results:  # after both were drawn
        (gradient,) = torch.autograd.grad(made.sum(), x)
        torch.testing.assert_close(gradient, made.detach())
        assert made.detach().unique().tolist() == pytest.approx([0, 4])
        assert float(made.detach().mean()) == pytest.approx(3, rel=0.03)


def test_checkpointed_layers_drop_the_same_twice() -> None:
    layer = nn.Sequential(nn.Linear(20, 20), nn.Dropout(0.5))
    function = torch.compile(lambda x: checkpoint(layer, x, use_reentrant=False), backend="ingot", dynamic=False)
    x = torch.randn(30, 20, requires_grad=True)
    made = function(x)
    (gradient,) = torch.autograd.grad(made.sum(), x)
    kept = (made != 0).float() * 2
    torch.testing.assert_close(gradient, kept @ layer[0].weight)


def test_tensors_that_a_function_makes_are_constants() -> None:
    function = torch.compile(lambda x: x * torch.tensor([1.0, 2.0, 3.0, 4.0]), backend="ingot", dynamic=False)
    weights = torch.ones(2, 4, requires_grad=True)
    function(weights).sum().backward()
    torch.testing.assert_close(weights.grad, torch.tensor([[1.0, 2.0, 3.0, 4.0]] * 2))


def test_what_only_the_backend_needs_is_not_imported_before() -> None:
    code = "import sys, ingot.torch; print('torch._functorch.aot_autograd' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split() == ["False"]


def test_options_are_a_memory_limit_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def gradients(**options: Any) -> list[torch.Tensor]:
        torch.manual_seed(0)
        torch._dynamo.reset()
        model = nn.Sequential(*(nn.Sequential(nn.Linear(16, 16), nn.GELU()) for _ in range(6)))
        torch.compile(model, backend="ingot", dynamic=False, **options)(torch.ones(64, 16)).square().sum().backward()
        return [parameter.grad for parameter in model.parameters()]

    whole = gradients()
    for mine, expected in zip(gradients(options={"memory_limit": "least"}), whole, strict=True):
        assert torch.equal(mine, expected)
    with pytest.raises(RuntimeError, match=r"@(for|back)ward takes \d+ bytes at least .* of --memory-limit"):
        gradients(options={"memory_limit": 1})
    with pytest.raises(Exception, match="the backend ingot has no option magic; it has memory_limit"):
        gradients(options={"magic": 1})


def embedding_bag(weight: torch.Tensor, **options: Any) -> torch.Tensor:
    return F.embedding_bag(torch.tensor([[0, 1], [2, 2]]), weight, **options)


BAGS = torch.tensor([[0, 1], [2, 2]])
ATTENDING = nn.MultiheadAttention(6, 2, batch_first=True)
GRADIENTS = {
    "bags": lambda x: embedding_bag(x, mode="sum"),
    "weighted_bags": lambda x: embedding_bag(x, mode="sum", per_sample_weights=x[:2, :2].contiguous()),
    "bags_with_padding": lambda x: embedding_bag(x, mode="sum", padding_idx=1),
    "mean_bags": lambda x: embedding_bag(x),
    "whole_numbers": lambda x: x * x.long().nan_to_num() + x.long().floor(),
    "attention": lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None]),
    "attention_of_heads": lambda x: F.scaled_dot_product_attention(*[x.reshape(1, 2, 4, 3)] * 3, is_causal=True),
    "attending_module": lambda x: ATTENDING(x, x, x)[0],
    **{
        f"{embed.__name__}_of_small_rows": lambda x, embed=embed: embed(BAGS, x * 3, max_norm=0.5)
        for embed in (F.embedding, F.embedding_bag)
    },
    "voxels": lambda x: F.grid_sample(
        x.reshape(1, 1, 2, 4, 3), x.reshape(1, 2, 2, 2, 3), padding_mode="reflection", align_corners=True
    ),
    "samples": lambda x: F.grid_sample(
        x[None, None], x[None, :, :2, None].mT.tanh().reshape(1, 2, 2, 2), align_corners=False
    ),
}


NOWHERE = torch.empty(2, 0, dtype=torch.int64)  # PyTorch takes such an index for tensors of any rank
GRADIENTS |= {
    "gather_of_nothing": lambda x: x[0].gather(0, NOWHERE).sum() + x,
    "scatter_of_nothing": lambda x: x[0].scatter(0, NOWHERE, 1.0),
    "scatter_add_of_nothing": lambda x: x[0].scatter_add(0, NOWHERE, x.new_empty(2, 0)),
    "scatter_reduce_of_nothing": lambda x: x[0].scatter_reduce(0, NOWHERE, x.new_empty(2, 0), "mean"),
    "gather_of_nothing_from_a_scalar": lambda x: x[0, 0].gather(0, NOWHERE).sum() + x,
    "cdist_of_nothing": lambda x: torch.cdist(x[None], x.new_ones(0, 3, 6)).sum() + x,
    "masked_scatter_of_nothing": lambda x: x.masked_scatter(torch.zeros(4, 6, dtype=torch.bool), x.new_empty(0)),
    **{
        f"{loss.__name__}_of_nothing": lambda x, loss=loss: loss(x[:0], x[:0].detach())
        for loss in (F.mse_loss, F.smooth_l1_loss, F.huber_loss)
    },
    **{
        f"multilabel_margins_{reduction}": lambda x, reduction=reduction: F.multilabel_margin_loss(
            x, LABELS, reduction=reduction
        )
        for reduction in ("none", "mean", "sum")
    },
    "multilabel_margins_of_one": lambda x: F.multilabel_margin_loss(x[0], LABELS[0]),
}
LABELS = torch.tensor([[1, 3, -1, 0, 2, 5], [0, -1, 1, 1, 1, 1], [4, 2, 2, 1, 3, 0], [-1, 0, 0, 0, 0, 0]])


@pytest.mark.parametrize("function", GRADIENTS.values(), ids=GRADIENTS)
def test_gradients(function: Any) -> None:
    made = []
    for called in (function, torch.compile(function, backend="ingot", dynamic=False)):
        x = XS[:, 0].repeat(1, 2).requires_grad_()
        value = called(x)
        made.append((value, *torch.autograd.grad(value.sin().sum(), x)))
    torch.testing.assert_close(made[1], made[0], rtol=1e-4, atol=1e-5, equal_nan=True)


def test_narrow_floats_of_nothing() -> None:
    table = torch.compile(lambda: torch.arange(4, dtype=torch.bfloat16) / 4, backend="ingot", dynamic=False)()
    assert torch.equal(table, torch.tensor([0, 0.25, 0.5, 0.75], dtype=torch.bfloat16))


REFUSED = {
    "aten.*airy_ai.* is not supported; .*ingot.torch.device": torch.special.airy_ai,
    "aten._unique.* the gradient of a tensor that index_fill puts .*torch.where": lambda x: x.index_fill(
        0, torch.tensor([1]), x.sum().requires_grad_()
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_a_refusal_has_the_users_line(message: str) -> None:
    def refused(x: torch.Tensor) -> torch.Tensor:
        return REFUSED[message](x * 2)

    with pytest.raises(Exception, match=rf"test_backend.py:\d+: {message}"):
        torch.compile(refused, backend="ingot", dynamic=False)(XS[0].clone().requires_grad_())


def test_element_types_of_arguments_are_refused_where_they_are_read() -> None:
    def narrow(x: torch.Tensor) -> torch.Tensor:
        return x.float() * 2

    line = narrow.__code__.co_firstlineno + 1
    with pytest.raises(Exception, match=rf"test_backend.py:{line}: element type torch.float8_e4m3fn"):
        torch.compile(narrow, backend="ingot", dynamic=False)(XS[0].to(torch.float8_e4m3fn))


def test_arguments_may_be_conjugated() -> None:
    z = torch.complex(XS[0], XS[1])
    weight = torch.ones(3, dtype=torch.complex64, requires_grad=True)
    function = torch.compile(lambda z: z * weight, backend="ingot", dynamic=False)
    for given in (z, z.conj()):
        made = function(given)
        torch.testing.assert_close(made, given * weight)
        (gradient,) = torch.autograd.grad(made.abs().sum(), weight)
        torch.testing.assert_close(gradient, torch.autograd.grad((given * weight).abs().sum(), weight)[0])


def test_several_threads_may_call_a_function_first() -> None:
    model = nn.Linear(3, 2)
    compiled = torch.compile(model, backend="ingot")
    found: list[torch.Tensor] = []

    def call() -> None:
        found.append(compiled(torch.ones(4, 3)).detach())

    at_once([call] * 4)
    torch.testing.assert_close(found, [model(torch.ones(4, 3)).detach()] * 4)


def test_kernels_of_attention_may_be_chosen() -> None:
    def attend(x: torch.Tensor) -> torch.Tensor:
        with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
            return F.scaled_dot_product_attention(x, x, x, is_causal=True).sin()

    x = torch.randn(1, 2, 5, 8, requires_grad=True)
    results = [attend(x), torch.compile(attend, backend="ingot", dynamic=False)(x), ingot.torch.partial(attend)(x)]
    gradients = [torch.autograd.grad(result.sum(), [x])[0] for result in results]
    for result, gradient in zip(results[1:], gradients[1:], strict=True):
        torch.testing.assert_close(result, results[0])
        torch.testing.assert_close(gradient, gradients[0])
