"""Programs of floats as bundles of 8-bit integers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ingot

ROWS, DEPTH, COLUMNS = 4, 16, 6
PROGRAM = f"""
func.func @predict(%w: tensor<{DEPTH}x{COLUMNS}xf32> {{ingot.state = "w"}},
                   %x: tensor<{ROWS}x{DEPTH}xf32> {{ingot.name = "x"}})
    -> (tensor<{ROWS}x{COLUMNS}xf32> {{ingot.name = "y"}}) {{
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] :
    (tensor<{ROWS}x{DEPTH}xf32>, tensor<{DEPTH}x{COLUMNS}xf32>) -> tensor<{ROWS}x{COLUMNS}xf32>
  return %y : tensor<{ROWS}x{COLUMNS}xf32>
}}
"""


def saved_weights(folder: Path) -> tuple[np.ndarray, Path]:
    from safetensors.numpy import save_file

    weights = np.random.default_rng(1).standard_normal((DEPTH, COLUMNS)).astype(np.float32)
    save_file({"w": weights}, folder / "w.safetensors")
    return weights, folder / "w.safetensors"


def test_integers_are_near_floats(tmp_path: Path) -> None:
    weights, state = saved_weights(tmp_path)
    x = np.random.default_rng(2).standard_normal((8, ROWS, DEPTH)).astype(np.float32)
    quantized = ingot.quantize(PROGRAM, {"x": x}, state=state)
    assert [product["of_integers"] for product in quantized.products] == [True]
    assert quantized.products[0]["low"] == x.min()
    y = ingot.Session(quantized.bundle).entries["predict"](x=x[0])["y"]
    expected = x[0] @ weights
    error = np.linalg.norm(y - expected) / np.linalg.norm(expected)
    assert 0 < error < 0.02
    assert quantized.results[0]["relative_error"] < 0.02
    assert quantized.results[0]["rows"] == 8 * ROWS


def test_weights_alone_are_integers(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    program = PROGRAM.replace("16x6x", "64x80x").replace("4x16x", "4x64x").replace("4x6x", "4x80x")
    random = np.random.default_rng(3)
    weights, x = (random.standard_normal(shape).astype(np.float32) for shape in ((64, 80), (4, 64)))
    save_file({"w": weights}, tmp_path / "w.safetensors")
    bundle = ingot.compile(program, state=tmp_path / "w.safetensors", freeze=True, quantize_weights="int8")
    y = ingot.Session(bundle).entries["predict"](x=x)["y"]
    error = np.linalg.norm(y - x @ weights) / np.linalg.norm(x @ weights)
    assert 0 < error < 0.01
    with pytest.raises(RuntimeError, match="become constants by --freeze"):
        ingot.compile(program, state=tmp_path / "w.safetensors", quantize_weights="int8")


def test_what_cannot_be_is_said(tmp_path: Path) -> None:
    _, state = saved_weights(tmp_path)
    with pytest.raises(RuntimeError, match="no tensor for the input x"):
        ingot.quantize(PROGRAM, {"image": np.zeros((2, ROWS, DEPTH), np.float32)}, state=state)
    with pytest.raises(RuntimeError, match="neither factor is known"):
        ingot.quantize(PROGRAM, {"x": np.zeros((2, ROWS, DEPTH), np.float32)})
