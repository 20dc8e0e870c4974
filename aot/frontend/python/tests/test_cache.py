"""What is compiled is kept on disk, and found by its content."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import ingot
from ingot import cache


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


TEXT = 'module {{ func.func public @f() -> (tensor<f32> {{jax.result_info = "y"}}) {{ {} }} }}'
TEXTS = [
    {"f": TEXT.format(f"%0 = stablehlo.constant dense<{i}.0> : tensor<f32>\n return %0 : tensor<f32>")}
    for i in range(4)
]


def value(bundle: ingot.Bundle) -> float:
    return float(ingot.Session(bundle).entries["f"]()["y"])


def test_cached_contents_are_compared(own_cache: Path) -> None:
    assert value(cache.compiled(TEXTS[1])) == 1
    (place,) = own_cache.iterdir()
    (place / cache.CONTENT).write_text("something else of the same hash")
    assert value(cache.compiled(TEXTS[1])) == 1


def test_damaged_bundles_are_made_anew(own_cache: Path) -> None:
    assert value(cache.compiled(TEXTS[1])) == 1
    (place,) = own_cache.iterdir()
    (place / cache.BUNDLE).write_bytes(b"damaged")
    for _ in range(2):
        assert value(cache.compiled(TEXTS[1])) == 1
    assert (place / cache.BUNDLE).read_bytes() != b"damaged"


COMPILING = """
import sys, ingot
from ingot import cache
texts = {"f": sys.argv[1]}
print(float(ingot.Session(cache.compiled(texts)).entries["f"]()["y"]))
"""


def test_several_processes_compile_at_once(own_cache: Path) -> None:
    command = [sys.executable, "-c", COMPILING, TEXTS[2]["f"]]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [float(process.communicate()[0]) for process in processes] == [2.0] * 3
    assert [place.is_dir() for place in own_cache.iterdir()] == [True]


def test_without_a_folder_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "file/cache"))
    with pytest.warns(UserWarning, match="nothing is kept: .*file/cache.*INGOT_CACHE names another"):
        assert value(cache.compiled(TEXTS[1])) == 1


def test_the_cache_is_limited(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE_BYTES", "1")
    bundles = [cache.compiled(texts) for texts in TEXTS]
    assert len([*own_cache.iterdir()]) == 1
    assert [value(bundle) for bundle in bundles] == [0, 1, 2, 3], "what is open stays"
