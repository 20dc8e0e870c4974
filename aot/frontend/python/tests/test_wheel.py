"""The wheel has the compiler and the engine inside, and needs nothing beside them."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import ingot
from ingot.tool import OWN

pytestmark = pytest.mark.skipif(not OWN.exists(), reason="the package is not installed from its wheel")

# What every Linux has that runs Python and NumPy (the manylinux rule), and what lies in the wheel.
SHARED = "linux-vdso ld-linux-x86-64 ld-linux-aarch64 libc libm libdl libpthread librt libgcc_s libstdc++ libz libfmt"
SCALE = """
module @scale {
  func.func public @scale(%x: tensor<3xf32> {ingot.name = "x"}) -> (tensor<3xf32> {jax.result_info = "y"}) {
    %0 = stablehlo.add %x, %x : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
"""


@pytest.mark.parametrize("file", ["bin/ingot", "_engine.abi3.so"])
def test_needs_no_other_library(file: str) -> None:
    listed = subprocess.run(["ldd", Path(ingot.__file__).parent / file], capture_output=True, text=True, check=True)
    needed = {Path(line.split()[0]).name.split(".so")[0] for line in listed.stdout.splitlines()}
    assert needed <= set(SHARED.split())


def test_one_version() -> None:
    said = subprocess.run([OWN, "--version"], capture_output=True, text=True, check=True).stdout
    assert said.split()[:2] == ["ingot", importlib.metadata.version("ingot")] == ["ingot", ingot.__version__]


def test_the_command_is_the_packages_own() -> None:
    command = Path(importlib.metadata.distribution("ingot").locate_file("../../../bin/ingot"))
    said = subprocess.run([command, "--version"], capture_output=True, text=True, check=True, env={})
    assert re.match(r"ingot [\d.]+ ", said.stdout)


def test_compiles_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INGOT", raising=False)
    monkeypatch.setenv("PATH", "")
    outputs = ingot.Session(ingot.compile(SCALE)).entries["scale"](np.array([1, 2, 3], np.float32))
    assert outputs["y"].tolist() == [2, 4, 6]
