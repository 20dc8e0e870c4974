"""What is compiled is kept on disk, and found by its content."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest

import ingot
from ingot import cache, private_folder


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


def _replace(path: Path, *, link: bool = False) -> None:
    """Puts an empty folder in the place of something, or a link to it."""
    moved = path.rename(path.with_name("moved"))
    if link:
        path.symlink_to(moved)
    else:
        path.mkdir()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "bundle": lambda entry: (entry / cache.BUNDLE).write_bytes(b"damaged"),
    "no bundle": lambda entry: (entry / cache.BUNDLE).unlink(),
    "a folder for a bundle": lambda entry: _replace(entry / cache.BUNDLE),
    "bytes that are no text": lambda entry: (entry / cache.CONTENT).write_bytes(b"\xff"),
    "no content": lambda entry: (entry / cache.CONTENT).unlink(),
    "a file for an entry": lambda entry: (entry.rename(entry.with_name("other")), entry.touch()),
    "an empty entry": _replace,
    # What others may have put there:
    "an entry by a link": lambda entry: _replace(entry, link=True),
    "a bundle by a link": lambda entry: _replace(entry / cache.BUNDLE, link=True),
    "an entry for all": lambda entry: entry.chmod(0o777),
    "a bundle of the group": lambda entry: (entry / cache.BUNDLE).chmod(0o664),
    "a content for all": lambda entry: (entry / cache.CONTENT).chmod(0o646),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_entries_are_made_anew(
    damage: Callable[[Path], object], own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.compiled(TEXTS[1])
    (entry,) = own_cache.iterdir()
    damage(entry)
    monkeypatch.setattr(cache, "compile", compiler := Mock(wraps=ingot.compile))
    for _ in range(2):
        assert value(cache.compiled(TEXTS[1])) == 1
    assert compiler.call_count == 1
    assert stat.S_IMODE(entry.lstat().st_mode) == 0o700
    assert {file.lstat().st_mode for file in entry.iterdir()} == {stat.S_IFREG | 0o600}


@pytest.mark.parametrize("damage", [b"", b"{}", b"[]", b"null", b"\xff", b'{"a": 2}', b'{"a": '])
def test_damaged_texts_are_none(damage: bytes, own_cache: Path) -> None:
    cache.keep_text("key", "trace.json", '{"a": 1}')
    assert cache.text("key", "trace.json") == '{"a": 1}'
    (entry,) = own_cache.iterdir()
    (entry / "trace.json").write_bytes(damage)
    assert cache.text("key", "trace.json") is None
    assert not entry.exists()


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


def _is_kept(own_cache: Path) -> bool:
    """Whether a program is compiled and found again, without a warning."""
    with warnings.catch_warnings(action="error"):
        assert value(cache.compiled(TEXTS[1])) == 1
    return len([*own_cache.iterdir()]) == 1


def test_without_a_folder_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "file/cache"))
    with pytest.warns(UserWarning, match="nothing is kept: .*file/cache.*INGOT_CACHE names another"):
        assert value(cache.compiled(TEXTS[1])) == 1


@pytest.mark.parametrize("mode", [0o1777, 0o775, 0o702])
def test_code_of_folders_that_others_may_write_does_not_run(mode: int, own_cache: Path) -> None:
    cache.compiled(TEXTS[1])
    (entry,) = own_cache.iterdir()
    (entry / cache.CONTENT).rename(own_cache / "content")  # so that it is not found
    own_cache.chmod(mode)
    with pytest.warns(UserWarning, match=f"nothing is kept: {own_cache}: others may write .* `chmod go-w {own_cache}`"):
        assert value(cache.compiled(TEXTS[1])) == 1
    with warnings.catch_warnings(action="error"):  # it was said
        assert value(cache.compiled(TEXTS[2])) == 2
    assert not (entry / cache.CONTENT).exists()


def test_code_of_other_users_does_not_run(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.compiled(TEXTS[1])
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    with pytest.warns(UserWarning, match=f"nothing is kept: {own_cache}: it belongs to .*INGOT_CACHE names another"):
        assert value(cache.compiled(TEXTS[1])) == 1
    with pytest.raises(private_folder.NotPrivateError):
        private_folder.PrivateFolder(own_cache)


def test_a_link_to_a_folder_is_followed(own_cache: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    own_cache.symlink_to(tmp_path / "elsewhere")
    assert _is_kept(own_cache)


def test_folders_are_made_for_their_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE", str(tmp_path / "a/b/c"))
    before = os.umask(0)
    try:
        assert _is_kept(tmp_path / "a/b/c")
    finally:
        os.umask(before)
    made = [*(tmp_path / "a").rglob("*"), tmp_path / "a"]
    assert len(made) == 6
    assert not [path for path in made if path.stat().st_mode & 0o077]


def test_where_xdg_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INGOT_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert cache.folder() == Path("/caches/ingot")
    for none in ("", "relative", "./caches"):
        monkeypatch.setenv("XDG_CACHE_HOME", none)
        assert cache.folder() == tmp_path / ".cache/ingot"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.folder() == tmp_path / ".cache/ingot"


def test_a_user_without_a_home_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("INGOT_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    with pytest.warns(UserWarning, match="nothing is kept: Could not determine home directory"):
        assert value(cache.compiled(TEXTS[1])) == 1


@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES])
def test_what_cannot_be_written_is_not_kept(reason: int, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(*_: object) -> None:
        raise OSError(reason, os.strerror(reason), "new-1/program.ingot")

    monkeypatch.setattr(private_folder, "_write", write)
    with pytest.warns(UserWarning, match=f"nothing is kept: {own_cache}: {os.strerror(reason)}; INGOT_CACHE") as said:
        assert [value(cache.compiled(texts)) for texts in TEXTS[:2]] == [0, 1]
        cache.keep_text("key", "trace.json", "{}")
    assert [warning.filename for warning in said] == [__file__]
    assert not [*own_cache.iterdir()]


def test_leftovers_of_killed_processes_are_removed(own_cache: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()

    def left(name: str, file: str, hours: float) -> Path:
        (own_cache / name).mkdir(parents=True)
        (own_cache / name / file).touch()
        os.utime(own_cache / name, (then := time.time() - 3600 * hours, then))
        return own_cache / name

    stay = [
        left(f"new-{os.getpid()}-0123abcd", cache.BUNDLE, 0.9),
        left("new-895hp596", cache.BUNDLE, 0.9),
        left("new-pictures", "holidays.png", 9),
        left("other", cache.BUNDLE, 9),
    ]
    go = [
        left(f"new-{ended.pid}-0123abcd", cache.BUNDLE, 0),
        left(f"new-{os.getpid()}-4567abcd", "trace.json", 1.1),
        left("new-123hp596", f"{cache.BUNDLE}.partial1", 1.1),
    ]
    cache.compiled(TEXTS[1])
    assert [place.exists() for place in stay + go] == [True] * 4 + [False] * 3


def test_the_cache_is_limited(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE_BYTES", "1")
    bundles = [cache.compiled(texts) for texts in TEXTS]
    assert len([*own_cache.iterdir()]) == 1
    assert [value(bundle) for bundle in bundles] == [0, 1, 2, 3], "what is open stays"


def test_what_is_being_written_counts(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE_BYTES", "1000000")
    cache.compiled(TEXTS[1])
    new = own_cache / f"new-{os.getpid()}-0123abcd"
    new.mkdir()
    (new / cache.BUNDLE).write_bytes(bytes(1_000_000))
    cache.compiled(TEXTS[2])
    assert len([*own_cache.iterdir()]) == 2


@pytest.mark.parametrize("most", ["2GiB", "-1", "1e9"])
def test_a_limit_that_is_no_number_is_told(most: str, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT_CACHE_BYTES", most)
    with pytest.warns(UserWarning, match=f"INGOT_CACHE_BYTES is '{most}', which is no number of bytes"):
        assert value(cache.compiled(TEXTS[1])) == 1
    assert _is_kept(own_cache)
