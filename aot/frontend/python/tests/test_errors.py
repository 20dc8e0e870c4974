"""What cannot be a program is said with the op, the place and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import distributed, nn
from torch._higher_order_ops import scan

import ingot.torch

elsewhere = torch.ones(3)


def converts(x: torch.Tensor) -> torch.Tensor:
    return x * int(x.sum())


def selects(x: torch.Tensor) -> torch.Tensor:
    return x[x > 0].sort()[0]


def writes_rows(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[x > 0] = x[:2]
    return y


def counts(x: torch.Tensor) -> torch.Tensor:
    return torch.bincount(x.long(), minlength=3)


def distinct(x: torch.Tensor) -> torch.Tensor:
    return torch.unique(x)


def eigenvalues(x: torch.Tensor) -> torch.Tensor:
    return torch.linalg.eigvals(x.outer(x))


def counts_down(x: torch.Tensor) -> torch.Tensor:
    return torch.arange(x[0], x[1] - 1, -1, dtype=torch.long)


def borrows(x: torch.Tensor) -> torch.Tensor:
    return x * elsewhere


def decomposes(x: torch.Tensor) -> torch.Tensor:
    return torch.special.airy_ai(x)


def prints(x: torch.Tensor) -> torch.Tensor:
    print(x)
    return x


def writes_a_number(x: torch.Tensor) -> dict[str, torch.Tensor]:
    return {f"{x.sum().item():.3f}": x}


def raises(x: torch.Tensor) -> torch.Tensor:
    return x * {}["scale"]


def multiplies_other_shapes(x: torch.Tensor) -> torch.Tensor:
    return x @ torch.ones(4)


def loops(x: torch.Tensor) -> torch.Tensor:
    return scan(lambda total, y: (total + y, total * 1), torch.tensor(0.0), x)[0]


def seeds(x: torch.Tensor) -> torch.Tensor:
    torch.manual_seed(0)
    return x + torch.randn(3)


def narrows(x: torch.Tensor) -> torch.Tensor:
    return x.to(torch.float8_e4m3fn).float()


CASES: list[tuple[Callable[[torch.Tensor], Any], str]] = [
    (converts, r"test_errors.py:\d+.*asks for the value of a tensor.*torch.where"),
    (selects, r"test_errors.py:\d+.*shape.*depends on its values.*torch.where"),
    (writes_rows, r"test_errors.py:\d+.*no shape fits.*torch.where\(mask, values, x\)"),
    (counts, r"test_errors.py:\d+.*bincount.*scatter_add"),
    (distinct, r"test_errors.py:\d+.*unique2.*pass it as an argument"),
    (counts_down, r"test_errors.py:\d+.*shape depends on the values in a tensor.*lengths and ranges from shapes"),
    (eigenvalues, r"test_errors.py:\d+.*linalg_eig.*not supported.*rounds.*pass it as an argument"),
    (borrows, r"test_errors.py:\d+.*aten::mul.*`elsewhere`.*neither an argument nor state.*capture=True"),
    (decomposes, r"test_errors.py:\d+.*aten.special_airy_ai.default is not supported.*ingot.torch.device\(\)"),
    (prints, r"test_errors.py:\d+.*no value that could be printed.*return it"),
    (writes_a_number, r"test_errors.py:\d+.*no value that could be printed"),
    (raises, r"test_errors.py:\d+.*KeyError: 'scale'"),
    (multiplies_other_shapes, r"test_errors.py:\d+.*RuntimeError"),
    (loops, r"test_errors.py:\d+.*scan.*torch.while_loop.*unrolled"),
    (seeds, r"test_errors.py:\d+.*draw the same numbers.*Program\(..., seed="),
    (narrows, r"test_errors.py:\d+.*torch.float8_e4m3fn is not supported"),
]


@pytest.mark.parametrize(("function", "message"), CASES, ids=[function.__name__ for function, _ in CASES])
def test_message(function: Callable[[torch.Tensor], Any], message: str) -> None:
    program = ingot.torch.Program(nn.Identity())
    with pytest.raises(ingot.torch.TraceError) as caught:
        program.add("f", function, (torch.randn(3),))
    assert re.search(message, str(caught.value)), caught.value


def test_pytorch_scans_after_a_refusal() -> None:
    """PyTorch compiles its own control flow: a refused trace leaves nothing behind in its caches."""
    with pytest.raises(ingot.torch.TraceError):
        ingot.torch.Program(nn.Identity()).add("f", loops, (torch.randn(3),))
    torch.testing.assert_close(loops(torch.ones(3)), torch.tensor(3.0))


def test_the_module_is_named() -> None:
    class Odd(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.linalg.eigvals(x)

    model = nn.Sequential(nn.Identity(), Odd())
    with pytest.raises(ingot.torch.TraceError, match=r"test_errors.py:\d+ in 1: "):
        ingot.torch.Program(model).add("f", model, (torch.eye(2),), training=False)


def test_a_module_of_torchscript_is_named() -> None:
    with pytest.raises(ingot.torch.TraceError, match=r"'1' \(Linear\) is TorchScript's"):
        ingot.torch.Program(nn.Sequential(nn.Identity(), torch.jit.script(nn.Linear(3, 3))))


def test_several_processes_are_refused(tmp_path: Path) -> None:
    model = nn.Linear(3, 2)
    distributed.init_process_group("gloo", rank=0, world_size=1, init_method=f"file://{tmp_path}/group")
    try:
        whole = nn.parallel.DistributedDataParallel(model)

        def reduce(x: torch.Tensor) -> torch.Tensor:
            y = model(x)
            distributed.all_reduce(y)
            return y

        for function, message in (
            (lambda x: whole(x), "DistributedDataParallel trains in"),
            (reduce, "allreduce_ is of"),
        ):
            with pytest.raises(ingot.torch.TraceError, match=rf"test_errors.py:\d+.*{message} several processes"):
                ingot.torch.Program(model).add("f", function, (torch.ones(4, 3),))
    finally:
        distributed.destroy_process_group()


def test_an_op_of_backward_has_the_place_of_its_forward_op() -> None:
    def step(x: torch.Tensor) -> torch.Tensor:
        y = x.detach().requires_grad_()
        z = torch.tanh(y)
        return torch.autograd.grad(z.sum(), y)[0]

    program = ingot.torch.Program(nn.Identity())
    program.add("f", step, (torch.randn(3),))
    line = step.__code__.co_firstlineno + 2
    backward = [text for text in program.texts["f"].splitlines() if "stablehlo.multiply" in text]
    assert backward
    assert all(f'test_errors.py":{line}:' in text for text in backward)


def test_captured_tensors_become_constants() -> None:
    program = ingot.torch.Program(nn.Identity())
    program.add("f", borrows, (torch.randn(3),), capture=True)
    assert "stablehlo.constant" in program.texts["f"]


class Scaled(nn.Module):
    """A module with a table that is no buffer."""

    def __init__(self, writes: bool) -> None:
        super().__init__()
        self.table, self.writes = torch.tensor([1.0, 2.0, 3.0]), writes

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.writes:
            self.table[:2].mul_(0.5)
        return x * self.table


def test_tables_of_modules_are_constants() -> None:
    model = Scaled(writes=False)
    program = ingot.torch.Program(model)
    program.add("f", model, (torch.randn(3),), training=False)
    assert "stablehlo.constant" in program.texts["f"]


@pytest.mark.parametrize("capture", [False, True])
def test_constants_that_are_written_are_refused(capture: bool) -> None:
    model = Scaled(writes=True)
    with pytest.raises(
        ingot.torch.TraceError, match=r"test_errors.py:\d+.*writes `self.table`.*register it as a buffer"
    ):
        ingot.torch.Program(model).add("f", model, (torch.randn(3),), training=False, capture=capture)
    assert model.table.tolist() == [1, 2, 3]


def test_state_of_another_shape_is_refused(tmp_path: object) -> None:
    state = ingot.torch.Program(nn.Linear(2, 3)).state
    with pytest.raises(KeyError, match="lacks 'bias'"):
        state.load({"weight": torch.zeros(3, 2)})
    with pytest.raises(ValueError, match=r"'weight' is torch.float32 \(2, 3\) in the file"):
        state.load({"weight": torch.zeros(2, 3), "bias": torch.zeros(3)})


def test_parameters_without_shapes_are_refused() -> None:
    model = nn.Sequential(nn.LazyLinear(4), nn.ReLU())
    step = ingot.torch.compile(lambda x: model(x).sum(), model)
    with pytest.raises(ingot.torch.TraceError, match=r"'0\.weight' has no shape before its module's first call"):
        step(torch.ones(2, 3))


def test_conjugated_state_is_refused() -> None:
    model = nn.Module()
    model.register_buffer("spectrum", torch.ones(3, dtype=torch.complex64).conj())
    step = ingot.torch.compile(lambda x: x * model.spectrum, model)
    with pytest.raises(ingot.torch.TraceError, match=r"'spectrum' is a conjugated view .*; hold its resolve_conj\(\)"):
        step(torch.ones(3))
