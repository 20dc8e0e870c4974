"""Programs at several sizes: the entry point that is chosen, and the rows that come back."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import ingot
from ingot.sized import program_and_sizes

PROGRAM = """
func.func public @predict(%x: tensor<?x4xf32> {ingot.name = "x", ingot.dims = ["batch", ""]},
                          %w: tensor<4x3xf32> {ingot.name = "w"}) -> (tensor<?x3xf32> {ingot.name = "y"}) {
  %y = stablehlo.dot %x, %w : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
"""
RANDOM = np.random.default_rng(3)
W = RANDOM.normal(size=(4, 3)).astype(np.float32)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> ingot.Session:
    file = tmp_path_factory.mktemp("sized") / "sized.ingot"
    return ingot.Session(ingot.compile(PROGRAM, file, shapes={"batch": [1, 4, 8]}))


def test_any_number_of_rows_comes_back(session: ingot.Session) -> None:
    assert [*session.programs] == ["predict"]
    predict = session.programs["predict"]
    for rows in range(1, 9):
        x = RANDOM.normal(size=(rows, 4)).astype(np.float32)
        np.testing.assert_allclose(predict(x, w=W)["y"], x @ W, rtol=1e-5, atol=1e-6)


def test_the_smallest_that_holds_them_is_run(session: ingot.Session) -> None:
    assert repr(session.programs["predict"]) == "predict, as predict@batch=1, predict@batch<=4, predict@batch<=8"
    with pytest.raises(ValueError, match="predict\\(\\) has no entry point for batch=9; there are predict, as pre"):
        session.programs["predict"](np.zeros((9, 4), np.float32), W)
    with pytest.raises(ValueError, match="'x' is float32 \\[3, 4\\], but was given float32 \\[3, 5\\]"):
        session.programs["predict"](np.zeros((3, 5), np.float32), W)
    with pytest.raises(TypeError, match="needs 'w'"):
        session.programs["predict"](np.zeros((3, 4), np.float32))


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_tensors_of_pytorch_too(session: ingot.Session) -> None:
    import torch

    x = torch.randn(5, 4)
    y = session.programs["predict"](x, torch.from_numpy(W))["y"]
    assert isinstance(y, torch.Tensor)
    torch.testing.assert_close(y, x @ torch.from_numpy(W))


def test_entry_points_without_sizes_are_programs_too(tmp_path: Path) -> None:
    session = ingot.Session(ingot.compile(PROGRAM, tmp_path / "one.ingot", shapes={"batch": 2}))
    assert session.programs["predict"] is session.entries["predict"]


@pytest.mark.parametrize("name", ["predict", "a@b", "a@=4", "a@b=", "a@b=4y", "a@b=4x", "a@b<4", ""])
def test_names_that_are_no_sizes_stand_for_themselves(name: str) -> None:
    assert program_and_sizes(name) == (name, ())


def test_names_of_sizes() -> None:
    program, sizes = program_and_sizes("p@x=8x784,seq<=16")
    assert program == "p"
    assert [size.name for size in sizes] == ["x", "seq"]
    assert [size.extents for size in sizes] == [(8, 784), (16,)]
    assert [size.takes_fewer for size in sizes] == [False, True]
