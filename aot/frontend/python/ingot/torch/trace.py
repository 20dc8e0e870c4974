"""Tracing: a user's function, through autograd and the optimizer, as one functional graph of ATen ops."""

from __future__ import annotations

import functools
import inspect
import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
import torch._dynamo.config as dynamo_config
from torch._functorch.eager_transforms import _wrap_all_tensors_to_functional
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException, FakeTensorMode
from torch.fx import traceback as fx_traceback
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode, ShapeEnv
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils import _pytree as pytree

import ingot.torch.aten  # noqa: F401  (fills the table, which says what stays whole)
from ingot.stablehlo import Place
from ingot.torch.averaging import traceable_averages
from ingot.torch.checks import passing_checks
from ingot.torch.composites import composites
from ingot.torch.decompositions import decompositions, first_decompositions
from ingot.torch.errors import TraceError
from ingot.torch.gradients import gradients
from ingot.torch.hyperparameters import Hyperparameter
from ingot.torch.lend import Exchange, lent
from ingot.torch.places import COMPOSITE, DRAW, KEY, Places, module_paths
from ingot.torch.refusals import refused
from ingot.torch.schedules import Schedule
from ingot.torch.state import Optimizers, State, counter_name
from ingot.torch.streams import counted_streams
from ingot.torch.substitutes import SUBSTITUTES

# Names that the modules of torch.optim look up, and what they find while an optimizer is traced: extremes of numbers
# that the program computes, and counters in tensors on every device.
OPTIMIZER_NAMES: dict[str, Any] = {
    "min": torch.sym_min,
    "max": torch.sym_max,
    "_get_capturable_supported_devices": lambda supports_xla=True: ["cpu", "cuda"],
}

# It warns of every comparison with a changeable number.
SHAPES_LOG = logging.getLogger("torch.fx.experimental.symbolic_shapes")

# What to do instead of ops whose shapes depend on values.
BY_MASK = "read with torch.where(mask, x, other) instead of x[mask], write with torch.where(mask, values, x)"
OF_FIXED_SHAPE: dict[Any, str] = {
    torch.ops.aten.bincount.default: "count with torch.zeros(n).scatter_add(0, x, torch.ones(x.shape))",
    torch.ops.aten.repeat_interleave.Tensor: "give it output_size",
    torch.ops.aten._unique2.default: "find what is unique before, and pass it as an argument",
    torch.ops.aten.unique_dim.default: "find what is unique before, and pass it as an argument",
}


@dataclass(frozen=True)
class Trace:
    """A functional graph of ATen ops.

    Its placeholders are the state in order, the changeable numbers, then the tensors of the example arguments; its
    results are the outputs' tensors, then the state afterwards.
    """

    graph: torch.fx.GraphModule
    outputs: Any


def trace(
    function: Callable[..., Any],
    example_args: Sequence[Any],
    state: State,
    changeable: list[Hyperparameter],
    schedules: Mapping[str, Schedule],
    *,
    training: bool,
    capture: bool,
) -> Trace:
    """Traces `function` once, without running it.

    Raises TraceError where Python would have to look at a tensor's value, and for tensors that are neither argument
    nor state.
    """
    fakes = FakeTensorMode(
        shape_env=ShapeEnv(allow_dynamic_output_shape_ops=False), static_shapes=True, allow_non_fake_inputs=True
    )
    leaves, spec = pytree.tree_flatten(tuple(example_args))
    if any(isinstance(leaf, np.ndarray) for leaf in leaves):
        raise TraceError("an example argument is a NumPy array", fix="give a tensor: torch.from_numpy(array)")
    positions = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    names = list(state.tensors)
    places = Places(capture)
    outputs: list[Any] = []

    def whole(state_in: list[torch.Tensor], numbers_in: list[torch.Tensor], inputs: list[torch.Tensor]) -> Any:
        numbers = {h.name: _number(fakes, t, h.default) for h, t in zip(changeable, numbers_in, strict=True)}
        flat = list(leaves)
        for i, value in zip(positions, inputs, strict=True):
            flat[i] = value
        stand_ins = dict(zip(names, state_in, strict=True))
        with lent(state, stand_ins, numbers, changeable) as read, places, ExitStack() as running:
            running.enter_context(Exchange(state, stand_ins))
            for name, schedule in schedules.items():
                start = stand_ins[counter_name(name)]
                running.enter_context(schedule.lent(start, functools.partial(_number, fakes)))
            read_gradients = running.enter_context(gradients(state, stand_ins))
            returned = _as_called(function)(*pytree.tree_unflatten(flat, spec))
            outputs.append(pytree.tree_map_only((torch.SymFloat, torch.SymInt), _scalar, returned))
            after = read() | read_gradients()
            after |= {counter_name(name): schedule.scheduler.last_epoch for name, schedule in schedules.items()}
        tensors = [leaf for leaf in pytree.tree_leaves(outputs[0]) if isinstance(leaf, torch.Tensor)]
        return [*(t.detach() for t in tensors), *(after[name].detach() for name in names)]

    def fake(tensor: torch.Tensor) -> torch.Tensor:
        return fakes.from_tensor(tensor, static_shapes=True)

    arguments = (
        [fake(tensor) for tensor in state.tensors.values()],
        [fake(torch.tensor(h.default, dtype=torch.float64)) for h in changeable],
        [fake(leaves[i].detach()) for i in positions],
    )
    with (
        tracing_settings(state, training),
        refused(),
        traceable_averages(),
        composites(state.optimizers, places.composite),
        module_paths(state.models, places.modules),
        explained(places),
    ):
        graph = make_fx(whole, first_decompositions(), "fake", _allow_non_fake_inputs=True)(*arguments)
    with fx_traceback.preserve_node_meta():
        functional = _functional(graph, pytree.tree_leaves(arguments))
    return Trace(functional, outputs[0])


def _functional(graph: torch.fx.GraphModule, arguments: list[torch.Tensor]) -> torch.fx.GraphModule:
    """The same without ops that change their operands, and with large ops in terms of small ones."""
    _drop_profiling(graph.graph)

    def clean(*flat: torch.Tensor) -> Any:
        return _Functional(graph).run(*(tensor.clone() for tensor in flat))

    fresh = [torch.empty_strided(a.shape, a.stride(), dtype=a.dtype, device=a.device) for a in arguments]
    functional = make_fx(
        torch.func.functionalize(clean, remove="mutations"),
        decomposition_table=decompositions(),
        tracing_mode="fake",
        _allow_non_fake_inputs=True,
    )(*fresh)
    _drop_clones(functional.graph)
    functional.graph.eliminate_dead_code()
    return functional


class _Functional(torch.fx.Interpreter):  # type: ignore[misc]  # torch is not checked
    """Runs a graph that may change what it makes of constants in place: they are functional, as its arguments are."""

    def get_attr(self, *where: Any) -> Any:
        level = torch._C._functorch.maybe_current_level()
        return _wrap_all_tensors_to_functional(super().get_attr(*where), level)


def _drop_profiling(graph: torch.fx.Graph) -> None:
    for node in reversed(list(graph.nodes)):
        if node.op == "call_function" and "_record_function" in str(node.target):
            graph.erase_node(node)


def _drop_clones(graph: torch.fx.Graph) -> None:
    for node in list(graph.nodes):
        if node.op == "call_function" and node.target in (torch.ops.aten.clone.default, torch.ops.aten.detach.default):
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)


def _number(fakes: FakeTensorMode, tensor: torch.Tensor, value: float) -> Any:
    """A changeable number for Python: arithmetic with it is traced, comparisons answer as for its value at tracing."""
    number = tensor.item()
    shape_env = fakes.shape_env
    assert shape_env is not None
    shape_env.set_real_tensor_prop_unbacked_vals(number.node.expr, value)
    return number


def _scalar(number: torch.SymFloat | torch.SymInt) -> torch.Tensor:
    return torch.scalar_tensor(number, dtype=torch.float64 if isinstance(number, torch.SymFloat) else torch.int64)


def _as_called(function: Callable[..., Any]) -> Callable[..., Any]:
    """A method as its object has it when it is called: a scheduler's `step` is another while it is traced."""
    return getattr(function.__self__, function.__name__) if inspect.ismethod(function) else function


@contextmanager
def tracing_settings(state: State, training: bool) -> Iterator[None]:
    """What PyTorch must do otherwise while it is traced.

    Models are in the mode that is asked for, then as before; what was given to torch.compile runs as it was; attention
    and recurrent layers are made of plain ops; libraries hear that PyTorch compiles; and optimizers find
    OPTIMIZER_NAMES, all of torch SUBSTITUTES.
    """
    modes = [(module, module.training) for model in state.models.values() for module in model.modules()]
    with ExitStack() as undo:
        undo.enter_context(fx_traceback.preserve_node_meta())
        undo.enter_context(dynamo_config.patch(error_on_nested_fx_trace=False))
        undo.enter_context(passing_checks())
        undo.enter_context(sdpa_kernel(SDPBackend.MATH))
        undo.enter_context(said_to_compile(state.optimizers))
        undo.enter_context(counted_streams())
        undo.callback(torch._C._set_mkldnn_enabled, torch._C._get_mkldnn_enabled())
        torch._C._set_mkldnn_enabled(False)
        undo.callback(torch.backends.mha.set_fastpath_enabled, torch.backends.mha.get_fastpath_enabled())
        torch.backends.mha.set_fastpath_enabled(False)
        if not training:
            undo.enter_context(torch.no_grad())
        undo.callback(SHAPES_LOG.setLevel, SHAPES_LOG.level)
        SHAPES_LOG.setLevel(logging.ERROR)
        for module, mode in modes:
            undo.callback(setattr, module, "training", mode)
            module.training = mode and training
        for (where, name), substitute in SUBSTITUTES.items():
            undo.enter_context(patch.object(where, name, substitute))
        for optimizer in state.optimizers.values():
            source = sys.modules[type(optimizer).step.__module__]
            for name, traceable in OPTIMIZER_NAMES.items():
                undo.enter_context(patch.object(source, name, traceable, create=True))
        yield


@contextmanager
def said_to_compile(optimizers: Optimizers) -> Iterator[None]:
    """torch.compiler.is_compiling() is true, so that libraries do not choose by the values in tensors.

    It is false within optimizers, which would compute their corrections in the tensors' types instead of Python's.
    """

    def say(answer: bool) -> Callable[..., None]:
        return lambda *_: setattr(torch.compiler, "_is_compiling_flag", answer)

    with ExitStack() as undo:
        undo.callback(say(torch.compiler._is_compiling_flag))
        say(True)()
        for optimizer in optimizers.values():
            undo.callback(optimizer.register_step_pre_hook(say(False)).remove)
            undo.callback(optimizer.register_step_post_hook(say(True)).remove)
        yield


@contextmanager
def explained(places: Places) -> Iterator[None]:
    """Turns PyTorch's complaints about data dependence into errors with a place."""
    try:
        yield
    except GuardOnDataDependentSymNode as error:
        raise TraceError(
            "Python asks for the value of a tensor to choose what to do",
            places.last,
            "use torch.where, or pass what decides as a number that is fixed when the function is traced",
        ) from error
    except DataDependentOutputException as error:
        raise TraceError(f"{error.func} gives Python the value of a tensor", places.last, "use torch.where") from error
    except DynamicOutputShapeException as error:
        raise TraceError(
            f"the shape of what {error.func} gives depends on the values in a tensor",
            places.last,
            f"shapes are fixed when the function is traced: {OF_FIXED_SHAPE.get(error.func, BY_MASK)}",
        ) from error


def place_of(node: torch.fx.Node) -> Place | None:
    """Where a node comes from; None when it is not known."""
    place: Place | None = _noted(node, KEY)
    return place


def draw_of(node: torch.fx.Node) -> tuple[int, int]:
    """The stream of the random op that a node comes from, and the op's number; zeros for others."""
    draw: tuple[int, int] = _noted(node, DRAW) or (0, 0)
    return draw


def composite_of(node: torch.fx.Node) -> tuple[str, int] | None:
    """The name of the composite that a node belongs to, and its number; None for others."""
    composite: tuple[str, int] | None = _noted(node, COMPOSITE)
    return composite


def _noted(node: torch.fx.Node, key: str) -> Any:
    return node.meta.get("custom", {}).get(key)
