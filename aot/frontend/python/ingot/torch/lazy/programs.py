"""Tapes as compiled programs: one that was compiled before is found by its calls and results."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx

from ingot import cache
from ingot.session import Session
from ingot.stablehlo import Place, Port
from ingot.torch.base import metrics
from ingot.torch.base.errors import TraceError
from ingot.torch.base.places import only_trace_errors
from ingot.torch.base.replacements import exclusive, working_for_tracer
from ingot.torch.lazy.listing import Listing, Op
from ingot.torch.lazy.memory import Layout, layout_of
from ingot.torch.lazy.tape import PLANS, Ref, Tape, found, mapped
from ingot.torch.numbers.index_checks import with_checks
from ingot.torch.program import ROUNDS
from ingot.torch.text.emit import Way, emit
from ingot.torch.tracing.functional import functional

ENTRY = "graph"
CALL = "ingot_call"  # of a node: the number of the tape's call
Tensors = list[torch.Tensor]
Places = Mapping[int, Place | None]
# A program on some inputs: what works, without Python's lock, and what then gives the results.
Execution = tuple[Callable[[], None], Callable[[], Tensors]]


@dataclass(frozen=True, slots=True)
class Program:
    """What computes results from inputs, with the user's lines of calls; bytes of results and of what it needs."""

    on: Callable[[Sequence[torch.Tensor], Places], Execution]
    nbytes: int = 0


# Of this process, by a tape's calls and results; bundles are also in the cache on disk.
PROGRAMS: dict[tuple[Any, ...], Program] = {}


def program_of(tape: Tape, results: Sequence[int], inputs: Sequence[torch.Tensor]) -> Program:
    """What computes values of a tape from its inputs.

    A tape with an op that has no row is PyTorch's to run; that op is not recorded again.
    """
    key = (*tape.calls, *results)
    known = PROGRAMS.get(key)
    if known:
        metrics.count(metrics.CACHED)
        return known
    listing = Listing(tape.calls)
    graph = graph_of(listing.ops, listing.inputs, results, listing.strides)
    try:
        with metrics.timed(metrics.COMPILE):
            program = PROGRAMS[key] = compiled(graph, inputs)
    except TraceError:
        missing = [op for op in listing.ops if not is_lowered(op, listing.layouts)]
        if not missing:
            raise
        for op in missing:
            metrics.count(op.plan.function.name())
            plans = PLANS.get(op.plan.function, {})
            plans.update({key: None for key, plan in plans.items() if plan is op.plan})
        return Program(lambda given, places: (lambda: None, lambda: in_torch(graph, given, places)))
    metrics.count(metrics.UNCACHED)
    return program


def graph_of(
    ops: Sequence[Op], inputs: Sequence[int], results: Sequence[int], strides: Mapping[int, tuple[int, ...]]
) -> fx.GraphModule:
    """Ops as they were called, as a graph from some values to others; what they make lies as `strides` say."""
    graph = fx.Graph()
    nodes = {number: graph.placeholder(f"x{number}") for number in inputs}
    for op in ops:
        args, kwargs = mapped((op.args, op.kwargs), lambda ref: nodes[ref.number], Ref)
        form = op.plan.form
        made = graph.call_function(form or op.plan.function, (op.plan.function, *args) if form else args, kwargs)
        made.meta[CALL] = op.call
        for i, number in enumerate(op.results):
            if number is not None:
                nodes[number] = graph.call_function(operator.getitem, (made, i)) if op.plan.is_tuple else made
                if number in strides:
                    nodes[number] = graph.call_function(laid_out, (nodes[number], strides[number]))
    graph.output([nodes[number] for number in results])
    return fx.GraphModule(torch.nn.Module(), graph)


def laid_out(x: torch.Tensor, strides: tuple[int, ...]) -> torch.Tensor:
    """A tensor as views of it expect it to lie: PyTorch chooses where it is recorded, and may choose otherwise here."""
    if all(x.stride(d) == strides[d] for d in range(x.dim()) if x.size(d) != 1):
        return x
    return torch.empty_strided(x.shape, strides, dtype=x.dtype, device=x.device).copy_(x)


def lowered(graph: fx.GraphModule, inputs: Sequence[torch.Tensor]) -> tuple[str, list[bool], bool]:
    """The text of a graph, which results are complex, and whether a last one says that its indices are within.

    Raises TraceError for an op that has no row, or whose row does not take it. It works in a thread of its own, as
    PyTorch traces otherwise within an op, which may be what looks.
    """
    with exclusive(), ThreadPoolExecutor(1) as own:
        return own.submit(_lowered, graph, inputs).result()


def _lowered(graph: fx.GraphModule, inputs: Sequence[torch.Tensor]) -> tuple[str, list[bool], bool]:
    with working_for_tracer(), torch.no_grad(), only_trace_errors():
        pure = functional(graph, list(inputs))
        checked = with_checks(pure)
        pure = checked or pure
        (returned,) = pure.graph.output_node().args
        takes, gives = [Port(f"x{i}") for i in range(len(inputs))], [Port(f"y{i}") for i in range(len(returned))]
        text, _ = emit([Way(pure)], ENTRY, takes, gives)
        return text, [node.meta["val"].is_complex() for node in returned], checked is not None


def is_lowered(op: Op, layouts: Sequence[Layout]) -> bool:
    """Whether an op of a tape, alone, can be lowered for operands of such shapes and types."""
    operands = list(dict.fromkeys(r.number for r in found((op.args, op.kwargs), Ref)))
    made = [number for number in op.results if number is not None]
    try:
        lowered(graph_of([op], operands, made or operands, {}), [layouts[number].bare("cpu") for number in operands])
    except TraceError:
        return False
    return True


def compiled(graph: fx.GraphModule, inputs: Sequence[torch.Tensor]) -> Program:
    """A graph as a function that runs its bundle."""
    text, are_complex, is_checked = lowered(graph, inputs)
    session = Session(cache.compiled({ENTRY: text}, skip=ROUNDS))
    entry = session.entries[ENTRY]

    outputs = [
        layout_of(torch.empty(port.shape, dtype=getattr(torch, port.element_name), device="meta"))
        for port in entry.outputs
    ]

    def on(given: Sequence[torch.Tensor], places: Places) -> Execution:
        inputs = tuple([x.contiguous() for x in given])
        made = [torch.empty_strided(x.shape, x.stride, dtype=x.dtype) for x in outputs]

        def results() -> Tensors:
            if is_checked and not made.pop():
                return in_torch(graph, given, places)
            return [torch.view_as_complex(x) if pairs else x for x, pairs in zip(made, are_complex, strict=False)]

        return functools.partial(session.run, entry.index, inputs, tuple(made)), results

    return Program(on, session.bundle.arena_bytes + sum(x.nbytes for x in outputs))


class InTorch(fx.Interpreter):  # type: ignore[misc]  # torch is not checked
    """Runs a graph in PyTorch, and adds the user's line to errors."""

    def __init__(self, graph: fx.GraphModule, places: Places) -> None:
        super().__init__(graph)
        self.extra_traceback = False
        self._places = places

    def run_node(self, n: fx.Node) -> Any:
        """What a node gives."""
        try:
            return super().run_node(n)
        except Exception as error:
            place = self._places.get(n.meta.get(CALL, -1))
            if place and error.args:
                error.args = (f"{error.args[0]}, of the operator at {place}", *error.args[1:])
            raise


def in_torch(graph: fx.GraphModule, inputs: Sequence[torch.Tensor], places: Places) -> Tensors:
    """What a graph gives in PyTorch, which raises errors that a program does not."""
    return list(InTorch(graph, places).run(*(data.clone() for data in inputs)))
