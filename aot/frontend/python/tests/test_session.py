"""Bundles run in this process, on arrays of three frameworks."""

from __future__ import annotations

import importlib.util
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from tool import TOOL

import ingot
from ingot.tool import program

NET = """
module @net {
  func.func public @init(%seed: tensor<ui64> {ingot.name = "seed"}) -> (tensor<4x3xf32> {ingot.state = "fc.weight"}) {
    %0 = stablehlo.convert %seed : (tensor<ui64>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    return %1 : tensor<4x3xf32>
  }
  func.func public @train_step(
      %w: tensor<4x3xf32> {ingot.state = "fc.weight"},
      %x: tensor<4x3xf32> {ingot.name = "batch.x"},
      %lr: tensor<f64> {ingot.name = "lr", ingot.default = dense<0.5> : tensor<f64>})
      -> (tensor<f32> {jax.result_info = "loss"}, tensor<4x3xf32> {ingot.state = "fc.weight"}) {
    %l = stablehlo.convert %lr : (tensor<f64>) -> tensor<f32>
    %s = stablehlo.broadcast_in_dim %l, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %m = stablehlo.multiply %s, %x : tensor<4x3xf32>
    %n = stablehlo.add %w, %m : tensor<4x3xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %loss = stablehlo.reduce(%n init: %z) applies stablehlo.add across dimensions = [0, 1]
      : (tensor<4x3xf32>, tensor<f32>) -> tensor<f32>
    return %loss, %n : tensor<f32>, tensor<4x3xf32>
  }
  func.func public @turn(%x: tensor<4x3xf32> {ingot.name = "x"}) -> (tensor<4x3xf32> {ingot.state = "fc.weight"}) {
    %0 = stablehlo.reverse %x, dims = [0] : tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
}
"""
NARROW = """
module @narrow {
  func.func public @twice(%x: tensor<5xbf16> {ingot.name = "x"}, %none: tensor<0x2xf32> {ingot.name = "none"})
      -> (tensor<5xbf16> {jax.result_info = "y"}, tensor<0x2xf32> {jax.result_info = "nothing"}) {
    %0 = stablehlo.add %x, %x : tensor<5xbf16>
    return %0, %none : tensor<5xbf16>, tensor<0x2xf32>
  }
}
"""
X = np.arange(12, dtype=np.float32).reshape(4, 3)
HAS_TORCH, HAS_JAX = (importlib.util.find_spec(name) is not None for name in ("torch", "jax"))


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("bundles")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INGOT", str(TOOL))
        for name, text in {"net": NET, "narrow": NARROW}.items():
            ingot.compile(text, folder / f"{name}.ingot")
    return {name: folder / f"{name}.ingot" for name in ("net", "narrow")}


@pytest.fixture
def net(bundles: dict[str, Path]) -> ingot.Session:
    session = ingot.Session(bundles["net"])
    session.entries["init"](seed=0)
    return session


def test_entries_are_functions(net: ingot.Session) -> None:
    step = net.entries["train_step"]
    assert repr(step) == "train_step(batch.x: float32 [4, 3], lr: float64 []) -> {loss: float32 []}"
    assert step(X)["loss"] == 33
    assert step(x=X, lr=1)["loss"] == 99
    assert step(**{"batch.x": X})["loss"] == 132, "what is not given has its default again"
    np.testing.assert_array_equal(net.state["fc.weight"], 2 * X)


def test_events_are_entered_around_kernels(net: ingot.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[str] = []

    class Event:
        def __init__(self, kernel: str) -> None:
            self._kernel = kernel

        def __enter__(self) -> None:
            noted.append(f"<{self._kernel}")

        def __exit__(self, *nothing: object) -> None:
            noted.append(f"{self._kernel}>")
            raise ValueError(*nothing)

    kernels = net.bundle.kernels()
    step = net.entries["train_step"]
    watched = step.with_events(tuple(tuple(map(Event, names)) for names in kernels))
    raised: list[BaseException | None] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: raised.append(what.exc_value))
    assert watched(X)["loss"] == 33, "what an event raises is reported, and the run goes on"
    names = kernels[step.index]
    assert noted == [text for name in names for text in (f"<{name}", f"{name}>")]
    assert [str(error) for error in raised] == ["(None, None, None)"] * len(names)
    step(X)
    assert len(noted) == 2 * len(names)


def test_outputs_are_new_at_each_call(net: ingot.Session) -> None:
    first = net.entries["train_step"](X)["loss"]
    net.entries["train_step"](X)
    assert first == 33


def test_state_is_live(net: ingot.Session) -> None:
    weight = net.state["weight"]
    assert [*net.state] == ["fc.weight"]
    net.entries["train_step"](X)
    np.testing.assert_array_equal(weight, X / 2)
    weight[:] = 0
    assert net.entries["train_step"](X, 0.0)["loss"] == 0
    assert "bias" not in net.state


def test_state_outlives_its_session(bundles: dict[str, Path]) -> None:
    session = ingot.Session(bundles["net"])
    session.state["fc.weight"] = X
    weight = session.state["fc.weight"]
    del session
    np.testing.assert_array_equal(weight, X)


def test_state_has_no_value_before_it_is_given_one(bundles: dict[str, Path]) -> None:
    session = ingot.Session(bundles["net"])
    with pytest.raises(ingot.EngineError, match=r"fc\.weight") as caught:
        session.entries["train_step"](X)
    assert caught.value.status == 20
    session.state["weight"] = X
    assert session.entries["train_step"](X, 0.0)["loss"] == X.sum()


def test_state_may_lie_in_the_callers_memory(bundles: dict[str, Path]) -> None:
    memory = np.zeros(ingot.Bundle(bundles["net"]).state_bytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    session = ingot.Session(bundles["net"], memory=memory[start:])
    session.state["weight"] = X
    assert X.tobytes() in memory.tobytes()
    other = ingot.Session(bundles["net"], memory=memory[start:], keeps_state=True)
    assert (other.state["weight"] == X).all()
    with pytest.raises(ingot.EngineError, match="multiple of 64"):
        ingot.Session(bundles["net"], memory=memory[start + 1 :])


def test_state_may_be_an_input(net: ingot.Session) -> None:
    net.state["weight"] = X
    net.entries["turn"](net.state["weight"])
    np.testing.assert_array_equal(net.state["weight"], X[::-1])


def test_saves_and_loads(net: ingot.Session, tmp_path: Path) -> None:
    net.entries["train_step"](X)
    net.save(tmp_path / "state.safetensors")
    net.entries["train_step"](X)
    net.load(tmp_path / "state.safetensors")
    np.testing.assert_array_equal(net.state["weight"], X / 2)
    with pytest.raises(ingot.EngineError, match=r"none\.safetensors"):
        net.load(tmp_path / "none.safetensors")


def test_sessions_of_one_bundle_are_apart(bundles: dict[str, Path]) -> None:
    bundle = ingot.Bundle(bundles["net"])
    one, two = ingot.Session(bundle), ingot.Session(bundle, threads=2)
    for session in (one, two):
        session.entries["init"](seed=3)
    one.entries["train_step"](X)
    np.testing.assert_array_equal(two.state["weight"], np.full((4, 3), 3, np.float32))


def test_arrays_may_lie_anywhere(net: ingot.Session) -> None:
    step = net.entries["train_step"]
    assert step(np.asfortranarray(X), 1.0)["loss"] == 66
    bytes_ = np.zeros(X.nbytes + 4, np.uint8)[4:]
    bytes_[:] = np.frombuffer(X.tobytes(), np.uint8)
    assert step(bytes_.view(np.float32).reshape(4, 3), 1.0)["loss"] == 132
    frozen = X.copy()
    frozen.flags.writeable = False
    assert step(frozen, 1.0)["loss"] == 198


REFUSED = {
    "another type": ({"x": X.astype(np.float64)}, TypeError, r"'batch\.x' is float32 \[4, 3\], but was given float64"),
    "another shape": ({"x": X.T}, ValueError, r"'batch\.x' is float32 \[4, 3\], but was given float32 \[3, 4\]"),
    "missing": ({"lr": 0.1}, TypeError, r"train_step\(\) needs 'batch\.x': float32 \[4, 3\]"),
    "unknown": ({"x": X, "rate": 1}, TypeError, r"train_step\(\): .*'rate'"),
    "twice": ({"x": X, "batch.x": X}, TypeError, r"train_step\(\) was given an input twice"),
    "no number": ({"x": X, "lr": "fast"}, TypeError, r"'lr' is float64 \[\], but was given <U4"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_wrong_arguments_are_named(net: ingot.Session, name: str) -> None:
    given, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        net.entries["train_step"](**given)


def test_numbers_that_do_not_fit_are_refused(net: ingot.Session) -> None:
    with pytest.raises(TypeError, match="'seed' is uint64"):
        net.entries["init"](seed=0.5)
    with pytest.raises(ValueError, match="cannot hold -1"):
        net.entries["init"](seed=-1)
    with pytest.raises(TypeError, match="has 1 inputs, but was given 2"):
        net.entries["init"](1, 2)


def test_python_runs_on_while_threads_take_turns(net: ingot.Session) -> None:
    step = net.entries["train_step"]
    threads = [threading.Thread(target=lambda: [step(X, 1.0) for _ in range(500)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(net.state["weight"], 2000 * X)


def test_files_that_are_no_bundles_are_refused(tmp_path: Path) -> None:
    (tmp_path / "no.ingot").write_bytes(b"no")
    with pytest.raises(ingot.EngineError, match=r"no\.ingot: .* not those of an ingot bundle") as caught:
        ingot.Bundle(tmp_path / "no.ingot")
    assert caught.value.status in (5, 6)


def test_entry_points_that_there_are_not_are_named(net: ingot.Session) -> None:
    with pytest.raises(KeyError, match="there is no entry point 'train'; there are "):
        net.entries["train"]
    assert net.entries.get("train") is None


def test_compiler_errors_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT", str(TOOL))
    with pytest.raises(RuntimeError, match=r"program\.mlir:2:3: error: expected func\.func"):
        ingot.compile("module @no {\n  nonsense\n}\n")


def test_memory_limits_are_met_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT", str(TOOL))
    for fits in ("1MiB", 1 << 20, {"train_step": "1MiB", "init": 4096}):
        ingot.compile(NET, memory_limit=fits)
    with pytest.raises(RuntimeError, match="--memory-limit: there is no entry point 'step'; the entry points are"):
        ingot.compile(NET, memory_limit={"step": 4096})
    with pytest.raises(RuntimeError, match=r"--memory-limit plenty: is not \[ENTRY=\]BYTES"):
        ingot.compile(NET, memory_limit="plenty")


def test_plain_pytorch_is_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT", "0")
    assert Path(program()).name == "ingot"


def test_strict_bundles_know_one_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT", str(TOOL))
    text = """
    func.func @root(%x: tensor<2xf32> {ingot.name = "x"}) -> (tensor<2xf32> {jax.result_info = "y"}) {
      %y = stablehlo.sqrt %x : tensor<2xf32>
      return %y : tensor<2xf32>
    }
    """
    session = ingot.Session(ingot.compile(text, strict=True))
    roots = session.entries["root"](np.array([-1, 4], np.float32))["y"]
    assert roots.view(np.uint32).tolist() == [0x7FC00000, 0x40000000]


def test_texts_by_entry_point_are_one_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INGOT", str(TOOL))
    step = NET.replace(NET[NET.index("  func.func public @init") : NET.index("  func.func public @train_step")], "")
    session = ingot.Session(ingot.compile({"train_step": step}, state="zeros"))
    assert session.entries["train_step"](X)["loss"] == 33


@pytest.mark.skipif(not HAS_TORCH, reason="PyTorch is not installed")
def test_torch(net: ingot.Session) -> None:
    import torch

    x = torch.from_numpy(X)
    loss = net.entries["train_step"](x, lr=torch.tensor(1.0, dtype=torch.float64))["loss"]
    assert isinstance(loss, torch.Tensor) and loss == 66
    weight = net.state.torch("weight")
    assert torch.equal(weight, x)
    net.entries["train_step"](torch.nn.Parameter(x.T.contiguous()).T, 1.0)
    assert torch.equal(weight, 2 * x)
    with pytest.raises(TypeError, match="given float16"):
        net.entries["train_step"](x.half())


@pytest.mark.skipif(not HAS_TORCH, reason="PyTorch is not installed")
def test_tensors_are_memory_where_they_lie_row_by_row(bundles: dict[str, Path]) -> None:
    import torch

    session = ingot.Session(bundles["narrow"])
    entry, none = session.entries["twice"].index, torch.empty(0, 2)
    x, y = torch.arange(10, dtype=torch.bfloat16), torch.empty(5, dtype=torch.bfloat16)
    session.run(entry, (x[:5], none), (y, none))
    assert torch.equal(y, 2 * x[:5])
    session.run(entry, (x[5:], none), (y, none))  # which is copied to where the engine can read it
    assert torch.equal(y, 2 * x[5:])
    for wrong, error, what in (
        (x[::2], BufferError, "row by row"),
        (torch.empty(5, dtype=torch.bfloat16, device="meta"), RuntimeError, "meta"),
        (x, ingot.EngineError, "has 10 bytes and was given 20"),
        (object(), TypeError, "neither an object with memory nor a tensor"),
    ):
        with pytest.raises(error, match=what):
            session.run(entry, (wrong, none), (y, none))
    assert torch.equal(y, 2 * x[5:])


@pytest.mark.skipif(not HAS_TORCH, reason="PyTorch is not installed")
def test_torch_has_types_that_numpy_lacks(bundles: dict[str, Path]) -> None:
    import torch

    x = torch.arange(5, dtype=torch.bfloat16)
    outputs = ingot.Session(bundles["narrow"]).entries["twice"](x, torch.empty(0, 2))
    assert torch.equal(outputs["y"], 2 * x) and outputs["nothing"].shape == (0, 2)


@pytest.mark.skipif(not HAS_JAX, reason="JAX is not installed")
def test_jax(net: ingot.Session, bundles: dict[str, Path]) -> None:
    import jax
    import jax.numpy as jnp

    loss = net.entries["train_step"](jnp.asarray(X), lr=1.0)["loss"]
    assert isinstance(loss, jax.Array) and loss == 66
    x = jnp.arange(5, dtype=jnp.bfloat16)
    outputs = ingot.Session(bundles["narrow"]).entries["twice"](x, jnp.empty((0, 2)))
    assert (outputs["y"] == 2 * x).all() and outputs["y"].dtype == jnp.bfloat16


@pytest.mark.skipif(not HAS_TORCH, reason="PyTorch is not installed")
def test_tensors_without_memory_of_their_own_are_copied_or_refused(net: ingot.Session) -> None:
    import torch

    x = torch.from_numpy(X)
    net.entries["turn"](torch.complex(torch.zeros(4, 3), -x).conj().imag)  # lies as its negative
    np.testing.assert_array_equal(net.state["fc.weight"], X[::-1])
    for odd in (x.to_sparse(), x.to_sparse_csr(), torch.nested.nested_tensor([*x]), x.to("meta"), x.to_mkldnn()):
        with pytest.raises(TypeError):
            net.entries["turn"](odd)
    with pytest.raises(TypeError, match=r"'x' is float32 .* whose memory cannot be read"):
        net.entries["turn"](x.to_sparse())


def test_masks_are_not_lost_in_silence(net: ingot.Session) -> None:
    for masked in (np.ma.masked_array(X, X > 3), np.ma.masked_array(X)):
        with pytest.raises(TypeError, match="whose mask would be lost"):
            net.entries["turn"](masked)
        with pytest.raises(TypeError, match="whose mask would be lost"):
            net.state["fc.weight"] = masked


@pytest.mark.parametrize("threads", [-1, 1025, 2**32, 2**40])
def test_there_is_an_end_of_threads(bundles: dict[str, Path], threads: int) -> None:
    with pytest.raises(ValueError, match="a session has 0 to 1024 threads"):
        ingot.Session(bundles["net"], threads)


def test_a_file_without_a_name_leaves_nothing_behind(
    net: ingot.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="has no name"):
        net.save("")
    assert not [*tmp_path.iterdir()]


def test_calls_read_arguments_and_numbers_where_python_keeps_them(bundles: dict[str, Path]) -> None:
    session = ingot.Session(bundles["net"])
    session.entries["init"](seed=1)
    group: dict[str, object] = {"lr": 0.5, "betas": (0.25, True)}
    x = np.ones((4, 3), np.float32)
    loss = np.frombuffer(ingot._engine.Block(4), np.float32)
    for source, lr in ((("lr", None), 0.5), (("betas", 0), 0.25), (("betas", 1), 1.0)):
        before = session.state["fc.weight"].sum()
        call = session.call("train_step", [1, (group, *source)])
        assert call.run((None, x), (loss,))
        assert loss == pytest.approx(before + 12 * lr)
    group["betas"] = (2, np.float64(3.0))
    assert call.run((None, x), (loss,))
    assert loss == pytest.approx(before + 12 + 36)
    for wrong in ((group, "lr"), ([], "lr", None), (group, "lr", -1), -1, "x"):
        with pytest.raises((ValueError, OverflowError)):
            session.call("train_step", [1, wrong])  # type: ignore[list-item]
    with pytest.raises(IndexError):
        call.run((x,), (loss,))
    group["betas"] = (1, "none")
    with pytest.raises(TypeError):
        call.run((None, x), (loss,))
    del group["betas"]
    with pytest.raises(KeyError):
        call.run((None, x), (loss,))


def test_addresses_tell_where_tensors_lie() -> None:
    torch = pytest.importorskip("torch")
    tensors = (torch.zeros(3), torch.nn.Parameter(torch.zeros(2, 2)), torch.zeros(4)[1:], torch.zeros(0))
    found = ingot._engine.addresses(tensors)
    assert [int.from_bytes(found[i : i + 8], "little") for i in range(0, 24, 8)] == [t.data_ptr() for t in tensors[:3]]
    assert ingot._engine.are_at(tensors, found)
    before = tensors[1].data
    tensors[1].data = torch.zeros(2, 2)
    assert not ingot._engine.are_at(tensors, found)
    tensors[1].data = before
    assert ingot._engine.are_at(tensors, found)
    for wrong in (found[:-1], b""):
        with pytest.raises(ValueError):
            ingot._engine.are_at(tensors, wrong)
    assert not ingot._engine.are_at((torch.zeros(1).to_sparse(),), bytes(8))
