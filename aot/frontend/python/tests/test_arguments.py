"""How calls of a compiled step give their arguments, and what a call costs Python."""

from __future__ import annotations

import copy
import gc
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils import _pytree as pytree

import ingot.torch
from ingot.torch.base.torch_internals import same_settings
from ingot.torch.compiled import CompiledStep
from ingot.torch.running.apart import Apart

CALLS = 6
XS = torch.randn(CALLS, 5, 4, generator=torch.Generator().manual_seed(0))
YS = torch.arange(5) % 3
MOST_CALLS = 21  # of functions, by a call that is seen at once to be of a program


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))


def fit(x: torch.Tensor, y: torch.Tensor, scale: float = 1.0, shift: float = 0.0, **more: Any) -> Any:
    return x * scale + shift, y


def apart(x: torch.Tensor, y: torch.Tensor, scale: float = 1.0, shift: float = 0.0) -> Any:
    return fit(x, y, scale, shift)


def batch(b: dict[str, Any], *rest: Any) -> Any:
    return b["x"] * sum(rest, 1.0), b["labels"]["y"]


def by_name(*, x: torch.Tensor, y: torch.Tensor, shift: float = 0.0) -> Any:
    return x + shift, y


def nested(x: torch.Tensor) -> dict[str, Any]:
    return {"x": x, "labels": {"y": YS}}


Call = Callable[[Callable[..., Any], torch.Tensor], Any]
# A function of arguments, and how it is called in one step after the other.
FORMS: dict[str, tuple[Callable[..., Any], list[Call]]] = {
    "positions and names": (apart, [lambda f, x: f(x, YS), lambda f, x: f(y=YS, x=x), lambda f, x: f(x, y=YS)]),
    "one left out": (
        apart,
        [lambda f, x: f(x, YS), lambda f, x: f(x, YS, shift=3.0), lambda f, x: f(x, YS, scale=2.0)],
    ),
    "names that are collected": (fit, [lambda f, x: f(x, YS, mode="a"), lambda f, x: f(mode="a", y=YS, x=x)]),
    "by keyword alone": (by_name, [lambda f, x: f(x=x, y=YS), lambda f, x: f(y=YS, shift=2.0, x=x)]),
    "a dict": (batch, [lambda f, x: f(nested(x)), lambda f, x: f(nested(x), 2.0)]),
}


def stepping(arguments: Callable[..., Any], compiled: bool) -> Any:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    # With the parameters of `arguments`, as `functools.wraps` says.
    def step(*args: Any, **named: Any) -> torch.Tensor:
        x, y = arguments(*args, **named)
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    step.__wrapped__ = arguments  # type: ignore[attr-defined]
    return ingot.torch.compile(step, model, optimizer, verify=False) if compiled else step


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore:.*traced again")
def test_every_form_of_a_call_is_pythons(form: str) -> None:
    arguments, calls = FORMS[form]
    seen = []
    for compiled in (False, True):
        step = stepping(arguments, compiled)
        seen.append([call(step, XS[i]).item() for i in range(3) for call in calls])
    assert seen[0] == pytest.approx(seen[1], rel=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_a_form_that_was_met_is_seen_at_once(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments, calls = FORMS[form]
    step = stepping(arguments, True)
    for _ in range(2):
        calls[-1](step, XS[0])
    if form == "one left out":
        return  # whose defaults Python fills in
    monkeypatch.setattr(CompiledStep, "_compiled", None)
    for x in XS:
        calls[-1](step, x)
    assert step.programs == 1


def test_a_call_runs_little_python() -> None:
    """In a process of its own: nothing that other tests leave behind takes part."""
    count = "import test_arguments; test_arguments.require_little_python()"
    subprocess.run([sys.executable, "-c", count], cwd=Path(__file__).parent, check=True)


def require_little_python() -> None:
    step = stepping(apart, True)
    for _ in range(3):
        step(XS[0], YS)
    calls: list[str] = []

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            calls.append(f"{frame.f_code.co_filename}:{frame.f_code.co_name}")

    gc.disable()
    sys.setprofile(note)
    try:
        step(XS[1], YS)
    finally:
        sys.setprofile(None)
    assert len(calls) <= MOST_CALLS, " ".join(calls)


def tree(draw: random.Random, depth: int = 0) -> Any:
    kinds = ["tensor", "plain", *(["list", "tuple", "dict"] if depth < 3 else [])]
    kind = draw.choice(kinds)
    if kind == "tensor":
        return torch.zeros(draw.randrange(3))
    if kind == "plain":
        return draw.choice([None, True, 1, 1.0, 0.0, -0.0, float("nan"), "a", b"b", range(2), slice(1)])
    parts = [tree(draw, depth + 1) for _ in range(draw.randrange(4))]
    return dict(zip("cab", parts, strict=False)) if kind == "dict" else (list if kind == "list" else tuple)(parts)


def form_of(args: Any) -> Any:
    leaves, spec = pytree.tree_flatten(args)
    return spec, [None if isinstance(leaf, torch.Tensor) else (type(leaf), repr(leaf)) for leaf in leaves]


def test_arguments_are_taken_apart_as_pytrees() -> None:
    """Those that PyTorch builds alike are taken, with the same tensors, and no others."""
    draw = random.Random(0)
    taken = refused = 0
    for _ in range(400):
        example, another = (tuple(tree(draw) for _ in range(draw.randrange(1, 3))) for _ in range(2))
        other = copy.deepcopy(example) if draw.random() < 0.5 else another
        found = Apart(example)(other)
        if all(isinstance(value, torch.Tensor) for value in example):
            continue  # these are compared as they are
        if form_of(example) != form_of(other):
            assert found is None or not all(isinstance(value, torch.Tensor) for value in found)
            refused += 1
            continue
        tensors = [leaf for leaf in pytree.tree_leaves(other) if isinstance(leaf, torch.Tensor)]
        assert found is not None and all(one is two for one, two in zip(found, tensors, strict=True))
        taken += 1
    assert taken > 50 and refused > 50


def test_every_setting_is_seen() -> None:
    settings: list[tuple[Any, Any]] = [
        (torch.no_grad, ()),
        (torch.autocast, ("cpu", torch.bfloat16)),
        (torch.autocast, ("cpu", torch.float16)),
    ]
    for change, args in settings:
        stay = same_settings()
        with change(*args):
            assert not stay()
        assert stay()
    with torch.autocast("cpu", torch.bfloat16):
        stay = same_settings()
        with torch.autocast("cpu", torch.float16):
            assert not stay()
    stay = same_settings()
    torch.set_default_dtype(torch.float64)
    try:
        assert not stay()
    finally:
        torch.set_default_dtype(torch.float32)
