"""PyTorch's private names: each does what the package needs of it, and stands in one folder."""

import ast
import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

import ingot.torch
from ingot.torch.base import torch_internals
from ingot.torch.base.torch_internals import devices, dynamo, fake_tensors, modes, ops, optimizers, recording
from ingot.torch.tracing.fakes import fakes

aten = torch.ops.aten
FOLDER = Path(torch_internals.__file__).parent
CANARIES: dict[str, Callable[[], None]] = {}


def canary(names: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Says that a function checks some names."""

    def noted(check: Callable[[], None]) -> Callable[[], None]:
        CANARIES.update(dict.fromkeys(names.split(), check))
        return check

    return noted


def public(module: Any) -> set[str]:
    """The names that a module of the folder gives to others."""
    made = {name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__}
    constants = {
        node.target.id for node in ast.parse(inspect.getsource(module)).body if isinstance(node, ast.AnnAssign)
    }
    assigned = {
        name.id
        for node in ast.parse(inspect.getsource(module)).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name)
    }
    return {*getattr(module, "__all__", ()), *made, *constants, *assigned} - {"__all__"}


def test_every_name_is_checked() -> None:
    modules = [importlib.import_module(f"{torch_internals.__name__}.{file.stem}") for file in FOLDER.glob("[!_]*.py")]
    names = {name for module in [torch_internals, *modules] for name in public(module)}
    assert names == {name for name in CANARIES if not name.startswith(".")}


def test_no_other_file_uses_private_names() -> None:
    package = Path(ingot.torch.__file__).parent
    found = [
        f"{file.relative_to(package)}:{line} {name}"
        for file in package.rglob("*.py")
        if FOLDER not in file.parents
        for line, name in private_names(ast.parse(file.read_text(encoding="utf-8")))
    ]
    assert not found


def private_names(tree: ast.AST) -> list[tuple[int, str]]:
    """Private names of torch that code imports, or reads as attributes of modules and classes."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "torch":
            found += [(node.lineno, f"{node.module}.{name.name}") for name in node.names]
        elif isinstance(node, ast.Import):
            found += [(node.lineno, name.name) for name in node.names if name.name.split(".")[0] == "torch"]
        elif isinstance(node, ast.Attribute) and (path := path_of(node)).startswith("torch."):
            found.append((node.lineno, path))
    private = [(line, name) for line, name in found if not name.startswith("torch.ops.")]
    return [(line, name) for line, name in private if any(is_private(part) for part in name.split("."))]


def is_private(part: str) -> bool:
    return part.startswith("_") and not part.startswith("__")


def path_of(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{path_of(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def test_private_names_are_found() -> None:
    text = "import torch._ops\nfrom torch.fx import _x\nfrom torch.a._b import c\ntorch._C.d; torch.ops.aten._e"
    assert [name for _, name in private_names(ast.parse(text))] == [
        *("torch._ops", "torch.fx._x", "torch.a._b.c", "torch._C.d", "torch._C")
    ]


def traced(function: Callable[..., Any], *arguments: torch.Tensor) -> torch.fx.GraphModule:
    return make_fx(function, tracing_mode="fake", _allow_non_fake_inputs=True)(*arguments)


@canary("OpOverload OpOverloadPacket all_op_names has_kernel overload_of")
def ops_have_kernels() -> None:
    assert isinstance(aten.add, ops.OpOverloadPacket) and "aten.add" in repr(aten.add)
    assert isinstance(aten.add.Tensor, ops.OpOverload)
    assert "aten::add.Tensor" in ops.all_op_names() and ops.overload_of("aten::add.Tensor") is aten.add.Tensor
    assert ops.overload_of("aten::relu") is aten.relu.default and ops.overload_of("aten::none_such") is None
    assert ops.has_kernel("aten::add.Tensor") and ops.has_kernel("aten::add.Tensor", "Meta")
    assert ops.has_kernel("aten::matmul", "CompositeImplicitAutograd")
    assert not ops.has_kernel("aten::add.Tensor", "CompositeImplicitAutograd")


@canary("EMPTY is_empty")
def ops_make_memory_that_nobody_wrote() -> None:
    assert all(hasattr(aten, name) for name in ops.EMPTY)
    assert ops.is_empty(aten.empty.memory_format) and ops.is_empty(aten.new_empty_strided.default)
    assert not ops.is_empty(aten.zeros.default) and not ops.is_empty(len)


@canary("decomposition_table get_decompositions core_decompositions")
def ops_are_taken_apart() -> None:
    assert aten.addcmul.default in ops.decomposition_table
    assert ops.get_decompositions([aten.native_batch_norm])
    assert aten.silu.default in ops.core_decompositions()


@canary("grid_sampler_2d")
def grids_are_sampled() -> None:
    x, grid = torch.rand(1, 1, 4, 4), torch.rand(1, 2, 2, 2)
    torch.testing.assert_close(ops.grid_sampler_2d(x, grid, 0, 0, True), torch.grid_sampler(x, grid, 0, 0, True))


@canary("is_non_overlapping_and_dense_or_false")
def layouts_are_dense() -> None:
    assert ops.is_non_overlapping_and_dense_or_false(torch.ones(2, 3).t())
    assert not ops.is_non_overlapping_and_dense_or_false(torch.ones(4, 3)[::2])


@canary("COND LOOP CONTROL_FLOW")
def control_flow_calls_operators() -> None:
    assert callable(ops.COND.cond_op) and callable(ops.LOOP.while_loop_op)
    assert callable(ops.CONTROL_FLOW._hop_compile_and_call)


@canary("sym_sqrt")
def roots_are_taken() -> None:
    assert ops.sym_sqrt(4.0) == 2.0


@canary("NN VF")
def functions_stand_where_torch_looks_them_up() -> None:
    assert torch.nn.functional._VF is ops.VF
    assert ops.NN.cross_entropy_loss(torch.zeros(1, 2), torch.tensor([0])).item() == pytest.approx(0.6931, abs=1e-3)
    assert ops.VF.dropout(torch.ones(2), 0.0, True).sum() == 2


@canary("neg_view set_conj set_neg")
def views_are_negative_or_conjugate() -> None:
    assert ops.neg_view(torch.ones(1)).is_neg() and ops.neg_view(torch.ones(1)).item() == -1
    x = torch.ones(1, dtype=torch.complex64)
    ops.set_conj(x, True), ops.set_neg(x, True)
    assert x.is_conj() and x.is_neg()


@canary("BASE VERSION IS_SPARSE LAYOUT TensorBase")
def tensors_have_properties() -> None:
    x = torch.ones(2)
    assert ops.BASE.__get__(x[:1]) is x and ops.VERSION.__get__(x.add_(1)) == 1
    assert not ops.IS_SPARSE.__get__(x) and ops.LAYOUT.__get__(x) is torch.strided
    assert issubclass(torch.Tensor, ops.TensorBase)


@canary("FakeTensor FakeTensorMode in_kernel_invocation_manager fake_mode")
def fake_tensors_have_no_values() -> None:
    mode = fakes()
    assert isinstance(mode, fake_tensors.FakeTensorMode)
    x = mode.from_tensor(torch.ones(2), static_shapes=True)
    assert type(x) is fake_tensors.FakeTensor and x.device.type == "cpu" and not x._has_symbolic_sizes_strides
    with fake_tensors.in_kernel_invocation_manager(mode):
        memory = torch.empty(2, device="meta")
    assert fake_tensors.FakeTensor(mode, memory, torch.device("cpu")).shape == (2,)
    with mode:
        assert torch_internals.fake_mode() is mode
        mode.epoch += 1
    assert torch_internals.fake_mode() is None


@canary("DataDependentOutputException DynamicOutputShapeException")
def values_are_refused() -> None:
    mode = fakes(allow_scalar_outputs=False, allow_dynamic_output_shape_ops=False)
    x = mode.from_tensor(torch.ones(2))
    with mode, pytest.raises(fake_tensors.DataDependentOutputException):
        x.sum().item()
    with mode, pytest.raises(fake_tensors.DynamicOutputShapeException):
        x.nonzero()


@canary("TorchDispatchMode no_modes no_dispatch no_torch_function running_modes")
def modes_see_ops() -> None:
    seen: list[Any] = []

    class Mode(modes.TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func)
            return func(*args, **(kwargs or {}))

    assert not torch_internals.running_modes()
    with Mode():
        assert torch_internals.running_modes()
        torch.ones(2) + 1
        count = len(seen)
        with modes.no_modes():
            torch.ones(2) + 1
        with modes.no_dispatch():
            torch.Tensor.data.__set__(torch.ones(2), torch.ones(3))
    assert count == 2 == len(seen)
    assert modes.no_torch_function is torch._C._disabled_torch_function_impl


@canary("RUN_BACKWARD current_autograd_node next_sequence_number .grad_fn")
def gradients_have_nodes() -> None:
    assert callable(getattr(torch.autograd, modes.RUN_BACKWARD))
    x = torch.ones(2, requires_grad=True)
    before = modes.next_sequence_number()
    y = x * 2
    assert y.grad_fn._sequence_nr() == before < modes.next_sequence_number()
    met: list[Any] = []
    y.register_hook(lambda g: met.append(modes.current_autograd_node()))
    z = torch.sum(y)
    z.backward()
    assert modes.current_autograd_node() is None and len(met) == 1


@canary("PACK PAD")
def sequences_are_packed() -> None:
    lengths = torch.tensor([2, 1])
    data, sizes = getattr(torch, ops.PACK)(torch.ones(2, 2, 1), lengths, False)
    assert data.shape == (3, 1) and sizes.tolist() == [2, 1]
    padded, found = getattr(torch, ops.PAD)(data, sizes, False, 0.0, 2)
    assert padded[1, 1] == 0 and torch.equal(found, lengths)


@canary("constant_of shape_of SHAPE")
def values_of_constants_are_known() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        known = torch.as_tensor([3, 1])
        node = torch_internals.node_of(known)
        assert torch_internals.constant_of(node) is None
        assert torch_internals.constant_of(node.args[0]).tolist() == [3, 1]
        node = torch_internals.node_of(x)
        assert torch_internals.shape_of(node) == (2,)
        node.meta[torch_internals.SHAPE] = torch.Size([3])
        assert torch_internals.shape_of(node) == (3,)
        return x + known

    traced(function, fakes().from_tensor(torch.ones(2), static_shapes=True))


@canary("CHOOSE_ATTENTION")
def attention_is_chosen() -> None:
    assert callable(getattr(torch.nn.attention, ops.CHOOSE_ATTENTION))


@canary("modes_around")
def modes_around_are_seen() -> None:
    assert modes.modes_around() == []
    with torch.device("cpu"), fake_tensors.FakeTensorMode():
        assert modes.modes_around() == []
    hooks = torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x)
    with hooks, modes.TorchDispatchMode(), torch.overrides.BaseTorchFunctionMode(), torch.autograd.detect_anomaly():
        starts = [text.split(" ")[:2] for text in modes.modes_around()]
    assert starts == [
        ["a", "BaseTorchFunctionMode"],
        ["a", "TorchDispatchMode"],
        ["hooks", "are"],
        ["anomalies", "are"],
    ]


@canary("is_profiled")
def profilers_are_seen() -> None:
    assert not modes.is_profiled()
    with torch.profiler.profile():
        assert modes.is_profiled()


@canary("ProfiledEvent")
def profilers_show_events() -> None:
    event = modes.ProfiledEvent("an event")
    with event:
        pass
    with torch.profiler.profile() as profile:
        for _ in range(2):
            with event:
                pass
    assert [event.name for event in profile.events()] == ["an event"] * 2


@canary("without_mkldnn")
def mkldnn_is_left_out() -> None:
    before = torch._C._get_mkldnn_enabled()
    with modes.without_mkldnn():
        assert not torch._C._get_mkldnn_enabled()
    assert torch._C._get_mkldnn_enabled() is before


@canary("MakefxTracer CONSTRUCT CONVERT symbolic_trace MODULE_METHODS use_lazy_graph_module")
def graphs_are_recorded() -> None:
    assert inspect.isfunction(getattr(recording.MakefxTracer, recording.CONSTRUCT))
    assert [*inspect.signature(getattr(recording.MakefxTracer, recording.CONVERT)).parameters][-1] == "args"
    assert all(callable(getattr(recording.symbolic_trace, name)) for name in recording.MODULE_METHODS)
    with recording.use_lazy_graph_module(True):
        graph = traced(lambda x: x + 1, torch.ones(2))
    assert [node.target for node in graph.graph.find_nodes(op="call_function", target=aten.add.Tensor)]
    assert torch.fx.Graph()._target_to_str("add") == "add"


@canary("functional_level temporarily_clear_interpreter_stack wrap_to_functional is_transformed")
def functions_are_made_functional() -> None:
    constant = torch.ones(2)

    def within(x: torch.Tensor) -> torch.Tensor:
        assert torch_internals.is_transformed()
        wrapped = recording.wrap_to_functional(constant, recording.functional_level())
        assert torch_internals.is_functional_base(wrapped)
        with recording.temporarily_clear_interpreter_stack():
            assert not torch_internals.is_transformed()
        return x + 1

    torch.func.functionalize(within)(torch.ones(2))
    assert not torch_internals.is_transformed()


@canary("functional_value is_functional_base put_functional")
def functional_tensors_are_replaced() -> None:
    def within(x: torch.Tensor) -> torch.Tensor:
        made = x.clone()
        torch_internals.put_functional(made, torch_internals.functional_value(torch.ones_like(x) * 3))
        return made

    assert torch.func.functionalize(within)(torch.zeros(2)).tolist() == [3.0, 3.0]


@canary("BackendCompilerFailed TorchRuntimeError Unsupported dynamo_config register_backend COMPILING")
def dynamo_compiles() -> None:
    @dynamo.register_backend(name="ingot_canary")
    def compile_graph(graph: Any, inputs: Any) -> Any:
        raise ValueError("no")

    with pytest.raises(dynamo.BackendCompilerFailed) as failed:
        torch.compile(lambda x: x + 1, backend="ingot_canary", fullgraph=True)(torch.ones(2))
    assert isinstance(failed.value.inner_exception, ValueError)
    with pytest.raises(dynamo.Unsupported) as refused:
        torch.compile(lambda x: print(x) if x.sum() > 0 else x, backend="eager", fullgraph=True)(torch.ones(2))
    assert refused.value.real_stack
    assert issubclass(dynamo.TorchRuntimeError, Exception)
    with dynamo.COMPILING, dynamo.COMPILING:
        pass
    for name in ("skip_nnmodule_hook_guards", "error_on_nested_fx_trace"):
        with dynamo.dynamo_config.patch(**{name: False}):
            assert getattr(dynamo.dynamo_config, name) is False


@canary("TorchOfRecorder")
def others_do_not_record() -> None:
    asked: list[bool] = []

    def function(x: torch.Tensor) -> torch.Tensor:
        for records in (True, False):
            recording.symbolic_trace.torch = recording.TorchOfRecorder(lambda: records)  # noqa: B023
            asked.append(recording.symbolic_trace.is_fx_symbolic_tracing())
        recording.symbolic_trace.torch = torch
        return x + 1

    traced(function, torch.ones(2))
    assert asked == [True, False]


@canary("bytecode")
def code_is_rewritten() -> None:
    def asks(x: Any) -> Any:
        return x is None

    written = dynamo.bytecode()
    made, *_ = written.transform_code_object(asks.__code__, lambda instructions, options: None)
    asks.__code__ = made
    assert asks(None) and not asks(1)
    assert written.create_load_const(1, checked=False) and written.create_rot_n(3)
    assert written.create_call_function(2, True) and callable(written.stacksize_analysis)


@canary("aot_autograd functorch_config boxed")
def backends_are_made() -> None:
    graphs: list[Any] = []

    def compile_graph(graph: torch.fx.GraphModule, inputs: Any) -> Any:
        graphs.append(graph)
        return dynamo.boxed(lambda *x: torch.fx.Interpreter(graph).run(*x))

    made = dynamo.aot_autograd(fw_compiler=compile_graph, bw_compiler=compile_graph)
    x = torch.ones(2, requires_grad=True)
    with dynamo.functorch_config().patch(force_non_lazy_backward_lowering=True):
        y = torch.compile(lambda x: x.sin(), backend=made)(x)
    assert len(graphs) == 2
    y.sum().backward()
    torch.testing.assert_close(x.grad, torch.ones(2).cos())


@canary("DeviceGuard ImperativeEngine PRIVATE_DEVICE set_engine set_up_device dispatch_keys without_keys")
def a_device_is_made() -> None:
    x = torch.ones(2, device=ingot.torch.device(), requires_grad=True)
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    assert issubclass(type(torch.autograd.Variable._execution_engine), devices.ImperativeEngine)
    assert str(devices.PRIVATE_DEVICE).lower() == "devicetype.ingot" and callable(devices.set_engine)
    assert callable(devices.set_up_device) and devices.DeviceGuard
    with torch.autocast("cpu"), devices.without_keys(devices.dispatch_keys("AutocastCPU")):
        assert torch.mm(torch.ones(2, 2), torch.ones(2, 2)).dtype is torch.float32


class Empty(torch.Tensor):
    """A tensor without memory."""

    __torch_dispatch__ = classmethod(lambda cls, *_: None)  # type: ignore[assignment]


@canary("make_wrapper wrapper")
def tensors_without_memory_are_made() -> None:
    like = torch.ones(2, 3).t()
    place = like.shape, like.stride(), 4, None, like.dtype, torch.strided, torch.device("cpu")
    for made in (fake_tensors.wrapper(Empty, like, storage_offset=4), fake_tensors.make_wrapper(Empty, *place)):
        assert (made.shape, made.stride(), made.storage_offset(), made.dtype) == (*place[:3], like.dtype)


@canary("CpuGenerator kernel_of set_accelerator")
def a_device_is_completed() -> None:
    ingot.torch.device()
    assert type(torch.default_generator) is devices.CpuGenerator
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
    assert devices.kernel_of("aten::abs", "CPU").call_boxed(keys, torch.ones(()).neg()).item() == 1
    devices.set_accelerator({})
    prefix = "_accelerator_"
    asked = {name for name in dir(torch._C) if name.startswith(prefix)}
    assert asked >= {f"{prefix}{name}" for name in ("synchronizeDevice", "isAllocatorInitialized", "getDeviceStats")}
    assert torch.accelerator.memory_allocated() >= 0


@canary("rebuild_parameter rebuild_tensor")
def tensors_are_made_anew() -> None:
    assert devices.rebuild_parameter(torch.ones(2), True, {}).requires_grad
    assert devices.rebuild_tensor(torch.ones(2), torch.float32, "cpu", True).requires_grad


@canary("LBFGS TO_NUMBER")
def line_searches_read_their_rate_first() -> None:
    with pytest.raises(ZeroDivisionError), pytest.MonkeyPatch.context() as patch:
        patch.setattr(optimizers.LBFGS, optimizers.TO_NUMBER, lambda rate: rate / 0)
        torch.optim.LBFGS([torch.ones(2, requires_grad=True)]).step(pytest.fail)


@canary("STEP_OR_NOT BEGIN_SCALE SCALE GROWTH UNSCALES step_hooks")
def scalers_hold_their_scale() -> None:
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0)
    getattr(scaler, optimizers.BEGIN_SCALE)(torch.device("cpu"))
    assert (getattr(scaler, optimizers.SCALE), getattr(scaler, optimizers.GROWTH)) == (2, 0)
    parameter = torch.ones(2, requires_grad=True)
    scaler.scale(parameter.sum()).backward()
    fused = torch.optim.SGD([parameter], fused=True)
    assert getattr(fused, optimizers.UNSCALES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.amp.GradScaler, optimizers.STEP_OR_NOT, lambda _, optimizer, told: [*told])
        assert scaler.step(torch.optim.SGD([parameter])) == ["stage", "found_inf_per_device"]
    fused.register_step_pre_hook(print)
    fused.register_step_post_hook(id)
    assert torch_internals.step_hooks(fused)[:2] == [print, id]


@canary("functions UPDATE ADAM ADAGRAD CAPTURABLE .Optimizer")
def optimizers_update_one_by_one() -> None:
    names = [name for name in vars(importlib.import_module("torch.optim.adam")) if name.startswith(optimizers.UPDATE)]
    assert names == ["_single_tensor_adam"] and optimizers.ADAM.__name__ in names
    assert optimizers.ADAGRAD.__name__ == "_single_tensor_adagrad" and callable(optimizers.functions.sparse_adam)
    assert callable(getattr(importlib.import_module("torch.optim.adam"), optimizers.CAPTURABLE))
    optimizer = torch.optim.SGD([torch.ones(2, requires_grad=True)], lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    assert torch_internals.has_hooks(optimizer) and scheduler._last_lr == [0.1]
    optimizer.step()
    assert optimizer._opt_called


@canary("CHECKPOINT checkpoint_generator")
def checkpoints_compute_again() -> None:
    calls: list[int] = []

    def function(x: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        return x.sin()

    def generate(given: Any, *args: Any, **options: Any) -> Any:
        assert given is function
        calls.append(0)
        return optimizers.checkpoint_generator(given, *args, **options)

    x = torch.ones(2, requires_grad=True)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(torch.utils.checkpoint, optimizers.CHECKPOINT, generate)
        torch.utils.checkpoint.checkpoint(function, x, use_reentrant=False).sum().backward()
    assert sorted(calls) == [0, 1, 1]


@canary("pytree")
def trees_have_leaves() -> None:
    tree = {"a": [torch.ones(1), 2]}
    leaves, spec = torch_internals.pytree.tree_flatten(tree)
    assert torch_internals.pytree.tree_unflatten(leaves, spec) == tree
    assert torch_internals.pytree.arg_tree_leaves(1, x=[2]) == [1, 2]
    assert torch_internals.pytree.tree_map_only(int, lambda i: i + 1, [1, "a"]) == [2, "a"]
    assert list in torch_internals.pytree.SUPPORTED_NODES
    assert len(torch_internals.pytree.tree_flatten_with_path(tree)[0]) == 2


@canary("SET_DATA set_data without_functions")
def data_is_set() -> None:
    x = torch.ones(2)
    torch_internals.SET_DATA(x, torch.zeros(2))
    torch_internals.set_data(x, torch.zeros(3))
    with torch_internals.without_functions():
        assert x.tolist() == [0.0] * 3


@canary("HOOKS HOOKS_MADE HOOKS_OF_ALL copy_hooks hooks_of hooks_of_all same_hook_numbers has_hooks")
def hooks_are_found() -> None:
    x, y = (torch.ones(2, requires_grad=True) for _ in range(2))
    x.register_hook(abs), x.register_post_accumulate_grad_hook(print)
    assert torch_internals.hooks_of(x) == [abs, print]
    torch_internals.copy_hooks(x, y)
    assert torch_internals.hooks_of(y) == [abs, print]
    assert all(hasattr(x, name) for name in torch_internals.HOOKS)
    assert "_global_forward_hooks" in torch_internals.hooks_of_all()
    assert torch_internals.HOOKS_OF_ALL.fullmatch("_global_optimizer_pre_hooks")
    owner, name = torch_internals.HOOKS_MADE
    before = getattr(owner, name)
    with torch_internals.same_hook_numbers():
        x.register_hook(abs)
    y.register_hook(abs)
    assert getattr(owner, name) >= before + 1


@canary("has_others")
def views_hold_memory() -> None:
    tensor = torch.ones(2)
    assert not torch_internals.has_others(tensor)
    view = tensor.detach()
    assert torch_internals.has_others(tensor) and torch_internals.has_others(view)
    del view
    assert not torch_internals.has_others(tensor)


@canary("likeness same_settings")
def guards_compare() -> None:
    same = torch_internals.likeness([torch.ones(2)])
    assert same(torch.zeros(2)) and not same(torch.zeros(3)) and not same(torch.zeros(2, dtype=torch.float64))
    settings = torch_internals.same_settings()
    assert settings()
    with torch.no_grad():
        assert not settings()


@canary("constants_of")
def tensors_are_found_of_which_others_are_computed() -> None:
    constant, found = torch.ones(2), list[Any]()

    def called(x: torch.Tensor) -> torch.Tensor:
        made = x * (constant + 1)
        found.extend(torch_internals.constants_of([made, 1.0]))
        return made

    make_fx(called, tracing_mode="fake", _allow_non_fake_inputs=True)(torch.ones(2))
    assert len(found) == 1 and found[0] is constant


@canary("node_of traced_nodes traced_tensors track depends_on is_open")
def nodes_are_known() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        assert torch_internals.node_of(y) is torch_internals.traced_nodes()[-1]
        other = x.detach().clone()
        torch_internals.track(other, torch_internals.node_of(y))
        assert torch_internals.node_of(other) is torch_internals.node_of(y)
        known = {*map(id, torch_internals.traced_tensors())}
        assert {id(x), id(y)} <= known
        y + 1  # which nobody holds
        assert {*map(id, torch_internals.traced_tensors())} == known
        number = x.sum().item()
        assert torch_internals.depends_on(number * 2, number) and not torch_internals.is_open(x)
        return y

    mode = fakes()
    traced(function, mode.from_tensor(torch.ones(2), static_shapes=True))
    assert torch_internals.node_of(torch.ones(2)) is None


@canary("told_classes")
def classes_are_told() -> None:
    x = fakes().from_tensor(torch.ones(2))
    from ingot.torch.base.replacements import exclusive

    with exclusive(), torch_internals.told_classes(lambda _: torch.Tensor):
        assert x.__class__ is torch.Tensor
    assert x.__class__ is fake_tensors.FakeTensor


@canary(".op .module .storage .compiler")
def objects_have_private_attributes() -> None:
    op = aten.add.Tensor
    assert (op._overloadname, op._opname, op._overloadpacket) == ("Tensor", "add", aten.add)
    assert [argument.name for argument in op._schema.arguments] == ["self", "other", "alpha"]
    assert op._schema.returns and op._schema.arguments[0].alias_info is None
    names = (
        "_parameters",
        "_buffers",
        "_modules",
        "_forward_hooks",
        "_forward_pre_hooks",
        "_forward_hooks_always_called",
    )
    assert all(isinstance(vars(torch.nn.LSTM(1, 1))[name], dict) for name in names)
    assert all(type(vars(torch.nn.Linear(1, 1))[name]) is dict for name in ("_parameters", "_buffers"))
    assert len(torch.nn.LSTM(1, 1)._flat_weights) == 4
    assert isinstance(torch.ones(1).untyped_storage()._cdata, int)
    assert torch.compiler._is_compiling_flag is False


@pytest.mark.parametrize("check", dict.fromkeys(CANARIES.values()), ids=lambda check: check.__name__)
def test_pytorch_does_what_is_needed(check: Callable[[], None]) -> None:
    check()
