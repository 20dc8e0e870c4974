"""ONNX models by the package `ingot`: messages are written here, so that the package onnx is not needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ingot
import ingot.onnx


def field(number: int, value: int | bytes) -> bytes:
    """A field of a protocol buffer: a small number, or bytes."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    return bytes([number << 3 | 2, len(value)]) + value


def value_info(name: bytes, dims: list[int | bytes]) -> bytes:
    """A tensor of f32; a dimension that is a name is open."""
    shape = b"".join(field(1, field(2 if isinstance(dim, bytes) else 1, dim)) for dim in dims)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


class Doubled:
    """y = x w, of an open batch; as onnx.ModelProto has it."""

    def SerializeToString(self) -> bytes:
        weights = np.array([[2, 0], [0, 2]], np.float32).tobytes()
        tensor = field(1, 2) + field(1, 2) + field(2, 1) + field(8, b"w") + field(9, weights)
        node = field(1, b"x") + field(1, b"w") + field(2, b"y") + field(4, b"MatMul")
        sides = field(11, value_info(b"x", [b"batch", 2])) + field(12, value_info(b"y", [b"batch", 2]))
        return field(1, 9) + field(8, field(2, 18)) + field(7, field(1, node) + field(5, tensor) + sides)


def test_a_model_in_memory_runs() -> None:
    session = ingot.Session(ingot.onnx.compile(Doubled(), shapes={"batch": 1}, freeze=False))
    x = np.array([[1, 2]], np.float32)
    y = session.entries["predict"](x=x)
    np.testing.assert_array_equal(np.asarray(y["y"] if isinstance(y, dict) else y), 2 * x)
    assert "w" in session.state


def test_the_module_is_there_without_an_import_of_its_own() -> None:
    code = "import ingot; ingot.onnx.compile; ingot.Session"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_file_is_a_program_like_others(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(Doubled().SerializeToString())
    assert "w" not in ingot.compile(tmp_path / "model.onnx", shapes={"batch": 2}).states
    assert "w" in ingot.compile(tmp_path / "model.onnx", shapes={"batch": 2}, freeze=False).states


def test_as_many_rows_as_fit() -> None:
    bundle = ingot.onnx.compile(Doubled(), memory_limit="20KiB", largest="batch", train=ingot.Training(loss="mse_loss"))
    rows = {port.name: port.shape[0] for port in ingot.Session(bundle).entries["predict"].inputs}
    assert rows["x"] > 20
    with pytest.raises(RuntimeError, match="--memory-limit"):
        ingot.onnx.compile(Doubled(), largest="batch")


def test_a_model_learns_and_goes_back(tmp_path: Path) -> None:
    training = ingot.Training(loss="mse_loss", target="goal", optimizer="sgd", trainable=["w"], lr=0.1, momentum=0.5)
    session = ingot.Session(ingot.onnx.compile(Doubled(), shapes={"batch": 1}, train=training))
    session.entries["init"](seed=0)
    x, goal = np.array([[1, 2]], np.float32), np.array([[0, 1]], np.float32)
    losses = [float(session.entries["train_step"](x=x, goal=goal)["loss"]) for _ in range(3)]
    assert losses[-1] < losses[0]
    session.save(tmp_path / "tuned.safetensors")
    ingot.onnx.export(Doubled(), tmp_path / "tuned.safetensors", tmp_path / "tuned.onnx")
    tuned = ingot.Session(ingot.compile(tmp_path / "tuned.onnx", shapes={"batch": 1}))
    np.testing.assert_array_equal(tuned.entries["predict"](x=x)["y"], session.entries["predict"](x=x)["y"])


def test_adapters_learn_and_are_merged(tmp_path: Path) -> None:
    training = ingot.Training(loss="mse_loss", lora=[ingot.Lora(rank=1, alpha=2, products=["w", "y"])], lr=0.1)
    session = ingot.Session(ingot.onnx.compile(Doubled(), shapes={"batch": 1}, train=training))
    session.entries["init"](seed=0)
    x, target = np.array([[1, 2]], np.float32), np.array([[0, 1]], np.float32)
    losses = [float(session.entries["train_step"](x=x, target=target)["loss"]) for _ in range(5)]
    assert losses[-1] < losses[0]
    assert {name for name in session.state if not name.startswith("optimizer.")} == {
        "w.lora_a",
        "w.lora_b",
        "w.lora_scale",
    }
    session.save(tmp_path / "tuned.safetensors")
    ingot.onnx.export(Doubled(), tmp_path / "tuned.safetensors", tmp_path / "tuned.onnx")
    tuned = ingot.Session(ingot.compile(tmp_path / "tuned.onnx", shapes={"batch": 1}))
    adapted = session.entries["predict"](x=x)["y"]
    np.testing.assert_allclose(tuned.entries["predict"](x=x)["y"], adapted, rtol=1e-5)


def test_a_model_is_imported_as_text() -> None:
    text = ingot.onnx.import_model(Doubled(), shapes={"batch": 3})
    assert "func.func @predict" in text
    assert "tensor<3x2xf32>" in text


def test_what_is_missing_is_said() -> None:
    with pytest.raises(RuntimeError, match="--shape batch=SIZE"):
        ingot.onnx.compile(Doubled())
