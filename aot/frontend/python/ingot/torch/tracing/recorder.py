"""What writes the ops that PyTorch dispatches into a graph: make_fx's own way where an op needs it, else a short one.

Most ops take tensors that the graph knows, and numbers, and give new tensors. For these make_fx asks much that has one
answer, and notes much that nobody reads.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import torch
from torch.fx import traceback as fx_traceback
from torch.fx.experimental.proxy_tensor import (
    ProxyTorchDispatchMode,
    fetch_sym_proxy,
    make_fx,
    track_tensor_tree,
)

from ingot.torch.base.copied import last_of
from ingot.torch.base.replacements import is_tracer, replaced
from ingot.torch.base.torch_internals import SHAPE, track
from ingot.torch.base.torch_internals.dynamo import COMPILING
from ingot.torch.base.torch_internals.fake_tensors import FakeTensor
from ingot.torch.base.torch_internals.ops import OpOverload, has_kernel
from ingot.torch.base.torch_internals.recording import (
    CONSTRUCT,
    CONVERT,
    MODULE_METHODS,
    MakefxTracer,
    TorchOfRecorder,
    symbolic_trace,
    use_lazy_graph_module,
)
from ingot.torch.text.decompositions import Decompositions
from ingot.torch.tracing.known_types import is_elementwise, made_of

Tag = torch.Tag
# What make_fx has rules for: values that Python asks for, shapes that depend on them, operands that change shape.
LONG_WAY = {Tag.data_dependent_output, Tag.dynamic_output_shape, Tag.inplace_view}
LIFTING = (torch.ops.aten.lift_fresh.default, torch.ops.aten.lift_fresh_copy.default, torch.ops.aten.lift.default)
NUMBERS = (torch.SymInt, torch.SymFloat, torch.SymBool)
PLAIN = (type(None), bool, int, float, complex, str, torch.dtype, torch.device, torch.layout, torch.memory_format)
PLACE = "custom"  # the one thing that nodes have of where they come from


class _LongWay(Exception):
    """An operand is not one of those that the short way knows."""


def recorded(
    function: Callable[..., Any], arguments: Sequence[Any], table: Decompositions, *, keep_types: bool
) -> torch.fx.GraphModule:
    """The graph of a function of tensors without values, the arguments; with `keep_types` its nodes have them."""
    recorder = Keeping if keep_types else Recorder
    construct_modes = getattr(MakefxTracer, CONSTRUCT)

    def construct(tracer: Any, *given: Any) -> None:
        construct_modes(tracer, *given)
        tracer.proxy_mode.__class__ = recorder

    module = torch.nn.Module  # whose methods the tracer calls as they were when PyTorch was imported
    with ExitStack() as undo:
        undo.enter_context(COMPILING)  # it records too, by methods of modules that are replaced in all threads
        undo.enter_context(use_lazy_graph_module(True))
        undo.enter_context(replaced(symbolic_trace, "torch", TorchOfRecorder(is_tracer)))
        undo.enter_context(replaced(MakefxTracer, CONSTRUCT, construct))
        undo.enter_context(replaced(MakefxTracer, CONVERT, lambda *given: given[-1]))
        for name, method in MODULE_METHODS.items():
            undo.enter_context(replaced(symbolic_trace, name, getattr(module, method)))
        make = make_fx(function, table, "fake", True, _disable_torch_fn_metadata_mode=True)
        graph: torch.fx.GraphModule = make(*arguments)
    return graph


class Recorder(ProxyTorchDispatchMode):  # type: ignore[misc]  # torch is not checked
    """make_fx's mode, with a short way for most ops."""

    keeps_types = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        graph = self.tracer.graph
        before = last_of(graph)
        try:
            return self._recorded(func, types, args, kwargs or {})
        except Exception:
            failed = last_of(graph)
            if failed and failed is not before and failed.target is func:
                graph.erase_node(failed)  # the function may catch the error
            raise

    def _recorded(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if not _is_plain(func) or func in self.decomposition_table:
            return super().__torch_dispatch__(func, types, args, kwargs)
        try:
            operands = self._operand(args)
            named = {name: self._operand(value) for name, value in kwargs.items()} if kwargs else {}
        except _LongWay:
            return super().__torch_dispatch__(func, types, args, kwargs)
        tracer = self.tracer
        node = tracer.graph.create_node("call_function", func, operands, named, _name_of(func))
        self._note_place(node)
        made = made_of(func, args, kwargs) if is_elementwise(func) else func(*args, **kwargs)
        self._track(made, node)
        return made

    def _operand(self, value: Any) -> Any:
        """A value as the graph has it."""
        kind = type(value)
        if kind is FakeTensor:
            slot = self.tracer.tensor_tracker.get(value)
            if slot is None or slot.constant is not None or value.constant is not None:
                raise _LongWay
            return slot.proxy.node
        if kind in PLAIN:
            return value
        if kind is list or kind is tuple:
            return kind(map(self._operand, value))
        if kind in NUMBERS:
            number = fetch_sym_proxy(self.tracer)(value)
            return number.node if isinstance(number, torch.fx.Proxy) else number
        raise _LongWay

    def _note_place(self, node: torch.fx.Node) -> None:
        replayed = fx_traceback.get_current_replay_node()
        meta = fx_traceback.get_current_meta() if replayed is None else replayed.meta
        if PLACE in meta:
            node.meta[PLACE] = meta[PLACE]

    def _track(self, made: Any, node: torch.fx.Node) -> None:
        """Says that a node gives what an op made."""
        if type(made) is FakeTensor and not made._has_symbolic_sizes_strides:
            track(made, node, self.tracer)
            node.meta[SHAPE] = made.shape
            if self.keeps_types:
                node.meta["val"] = made
        else:
            track_tensor_tree(made, torch.fx.Proxy(node, self.tracer), constant=None, tracer=self.tracer)


class Keeping(Recorder):
    """A recorder whose nodes have the tensors that they give, to tell types: of functional graphs."""

    keeps_types = True


@functools.cache
def _is_plain(func: Any) -> bool:
    """Whether the short way does for an op what make_fx does."""
    if not isinstance(func, OpOverload) or func.namespace != "aten" or func in LIFTING:
        return False
    is_composite = has_kernel(func.name(), "CompositeImplicitAutograd")
    return not is_composite and LONG_WAY.isdisjoint(func.tags)


@functools.cache
def _name_of(func: Any) -> str:
    name: str = torch.fx.Graph()._target_to_str(func.overloadpacket.__name__)
    return name
