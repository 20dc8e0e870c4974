"""From a functional graph of ATen ops to StableHLO: one function of the table for each node."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

from ingot.stablehlo import Port, TensorType, Value, function_text, module_text
from ingot.torch.dtypes import dtype_name, type_of
from ingot.torch.errors import TraceError
from ingot.torch.lowering import TABLE, Lowering, overload_name
from ingot.torch.places import composite_of, draw_of, only_trace_errors, place_of
from ingot.torch.scalars import SCALAR_OPS

# State of random ops: what keys them, and how many steps there were.
SEED, STEP = "rng.seed", "rng.step"


class Decompositions:
    """Private functions, what composites are made of; equal ones are one."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._names: dict[tuple[str, str], str] = {}

    def add(self, composite: str, arguments: Sequence[Value], body: Lowering, results: Sequence[Value]) -> str:
        """The name of the function with that body."""
        takes, gives = [(value, None) for value in arguments], [(value, None) for value in results]
        same = (composite, function_text("", takes, body, gives))
        if same not in self._names:
            self._names[same] = f"{composite.rpartition('.')[2]}_{len(self.texts)}"
            self.texts.append(function_text(f"private @{self._names[same]}", takes, body, gives))
        return self._names[same]


class Emitter:
    """Writes a graph's nodes in order."""

    def __init__(self, graph: torch.fx.GraphModule, decompositions: Decompositions):
        self.graph = graph
        self.decompositions = decompositions
        self.lowering = Lowering()
        self.values: dict[torch.fx.Node, Any] = {}
        self._state: dict[str, torch.fx.Node] = {}  # as it is found

    def arguments(self, ports: Sequence[Port]) -> list[tuple[Value, Port]]:
        """Makes the placeholders arguments, in order; state that nothing reads is none."""
        placeholders = [node for node in self.graph.graph.nodes if node.op == "placeholder"]
        written = []
        for node, port in zip(placeholders, ports, strict=True):
            if port.is_state:
                self._state[port.name] = node
            if port.is_state and not node.users:
                continue
            value = self.values[node] = self.lowering.argument(type_of(node.meta["val"]))
            written.append((value, port))
        return written

    def run(self) -> None:
        """Writes every op."""
        for node in self.graph.graph.nodes:
            if node.op == "get_attr":
                self.values[node] = self._captured(getattr(self.graph, str(node.target)))
        for composite, nodes in stretches(self.graph.graph):
            if composite:
                self._write_composite(composite, nodes)
            else:
                self._write(nodes)

    def _write(self, nodes: Sequence[torch.fx.Node]) -> None:
        for node in nodes:
            self.lowering.place = place_of(node)
            self.lowering.draw_for(*draw_of(node))
            try:
                with only_trace_errors():
                    self.values[node] = self._call(node)
            except TraceError as error:
                raise error.at(self.lowering.place) from error.__cause__

    def _write_composite(self, name: str, nodes: Sequence[torch.fx.Node]) -> None:
        """Writes nodes into a function of their own, and here a composite that stands for it."""
        inside = set(nodes)
        read = [n for n in dict.fromkeys(n for node in nodes for n in node.all_input_nodes) if n not in inside]
        made = [node for node in nodes if not inside.issuperset(node.users)]
        body = Emitter(self.graph, self.decompositions)
        body.lowering.is_located = False
        operands = _values([self.values[node] for node in read])
        arguments = [body.lowering.argument(value.type) for value in operands]
        body.values = dict(zip(read, _replaced([self.values[n] for n in read], operands, arguments), strict=True))
        body._write(nodes)
        if body.lowering.random:
            operands += self.lowering.random_state()
            arguments += body.lowering.random
        inner = [body.values[node] for node in made]
        results = _values(inner)
        callee = self.decompositions.add(name, arguments, body.lowering, results)
        self.lowering.place = place_of(nodes[0])
        outer = self.lowering.composite(name, callee, operands, [value.type for value in results])
        self.values |= zip(made, _replaced(inner, results, outer), strict=True)

    def results(self, ports: Sequence[Port]) -> list[tuple[Value, Port]]:
        """What the graph returns; state that stays as it was is no result."""
        (returned,) = next(node for node in self.graph.graph.nodes if node.op == "output").args
        return [
            (self.values[node], port)
            for node, port in zip(returned, ports, strict=True)
            if not (port.is_state and node is self._state[port.name])
        ]

    def _call(self, node: torch.fx.Node) -> Any:
        args = torch.fx.map_arg(node.args, self.values.__getitem__)
        kwargs = torch.fx.map_arg(node.kwargs, self.values.__getitem__)
        if node.target is operator.getitem:
            return args[0][args[1]]
        if node.target in SCALAR_OPS:
            return SCALAR_OPS[node.target](self.lowering, *args)
        name = overload_name(node.target)
        rule = TABLE.get(name)
        if rule is None and not node.all_input_nodes and is_repeatable(node.target):
            return self._captured(node.target(*node.args, **node.kwargs))
        if rule is None:
            raise TraceError(
                f"aten.{name} has no row in the table of ops",
                self.lowering.place,
                "write what it does with other functions of torch, or add a row in ingot/torch/aten",
            )
        made = node.meta.get("val")
        self.lowering.results = tuple(map(_type, made)) if isinstance(made, (tuple, list)) else (_type(made),)
        first = next((n.meta.get("val") for n in node.all_input_nodes), None)
        if isinstance(first, torch.Tensor):
            self.lowering.strides, self.lowering.offset = first.stride(), first.storage_offset()
        value = rule(self.lowering, *args, **kwargs)
        if isinstance(value, Value) and self.lowering.results[0] not in (None, value.type):
            raise TraceError(
                f"aten.{name} gave {value.type} where PyTorch gives {self.lowering.results[0]}", self.lowering.place
            )
        return value

    def _captured(self, tensor: torch.Tensor) -> Value:
        constant = getattr(tensor, "constant", None)
        real = (constant if constant is not None else tensor).detach().contiguous().cpu()
        if real.dtype is torch.bfloat16:
            return self.lowering.convert(self.lowering.dense(real.float().numpy(), "f32"), "bf16")
        return self.lowering.dense(real.numpy(), dtype_name(real.dtype))


def emit(
    graph: torch.fx.GraphModule, name: str, arguments: Sequence[Port], results: Sequence[Port]
) -> tuple[str, bool]:
    """The text of a module whose main function the graph is, and whether it reads the random state."""
    decompositions = Decompositions()
    emitter = Emitter(graph, decompositions)
    takes = emitter.arguments(arguments)
    emitter.run()
    gives = emitter.results(results)
    if emitter.lowering.random:
        seed, step = emitter.lowering.random
        takes += [(seed, Port(SEED, is_state=True)), (step, Port(STEP, is_state=True))]
        one = emitter.lowering.constant(1, step.type)
        gives.append((emitter.lowering.binary("add", step, one), Port(STEP, is_state=True)))
    main = function_text("public @main", takes, emitter.lowering, gives)
    return module_text(name, [main, *decompositions.texts]), emitter.lowering.random is not None


def stretches(graph: torch.fx.Graph) -> Iterator[tuple[str, list[torch.fx.Node]]]:
    """The ops in order, those of one composite together with its name; others, and such as lie apart, without one."""
    ops = [node for node in graph.nodes if node.op == "call_function"]
    groups = [(composite, list(nodes)) for composite, nodes in groupby(ops, composite_of)]
    count = Counter(composite for composite, _ in groups)
    for composite, nodes in groups:
        yield composite[0] if composite and count[composite] == 1 else "", nodes


def _values(tree: Any) -> list[Value]:
    """The values in a tree, each once."""
    return list(dict.fromkeys(leaf for leaf in tree_leaves(tree) if isinstance(leaf, Value)))


def _replaced(tree: Any, old: Sequence[Value], new: Sequence[Value]) -> Any:
    """A tree with other values."""
    return tree_map_only(Value, dict(zip(old, new, strict=True)).__getitem__, tree)


def is_repeatable(op: Any) -> bool:
    """Whether an op makes the same of the same arguments: it draws no random numbers."""
    return isinstance(op, torch._ops.OpOverload) and torch.Tag.nondeterministic_seeded not in op.tags


def _type(made: Any) -> TensorType | None:
    return type_of(made) if isinstance(made, torch.Tensor) else None
