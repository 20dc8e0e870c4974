"""From a functional graph of ATen ops to StableHLO: one function of the table for each node."""

from __future__ import annotations

import functools
import operator
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import torch

from ingot.stablehlo import Port, TensorType, Value, function_text, module_text
from ingot.torch.base.errors import TraceError
from ingot.torch.base.places import composite_of, draw_of, dynamo_place_of, only_trace_errors, place_of
from ingot.torch.base.torch_internals import pytree
from ingot.torch.base.torch_internals.modes import no_modes
from ingot.torch.base.torch_internals.ops import OpOverload
from ingot.torch.text.dtypes import dtype_name, type_of
from ingot.torch.text.loops import Loop, loops_apart, needed_for
from ingot.torch.text.lowering import TABLE, Lowering, Rule, overload_name
from ingot.torch.text.scalars import SCALAR_OPS, TRUTH

HELD = "guards_hold"  # an output of a program that is guarded: whether what it was traced for is so

# State of random ops: what keys them, and how many steps there were.
SEED, STEP = "rng.seed", "rng.step"


OTHERWISE = (
    "use other functions of torch, leave it out of what is compiled, or run it on ingot.torch.device(), where PyTorch "
    "computes what ingot does not"
)


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

    def __init__(
        self, graph: torch.fx.GraphModule, decompositions: Decompositions, lowering: Lowering | None = None
    ) -> None:
        self.graph = graph
        self.decompositions = decompositions
        self.lowering = lowering or Lowering()
        self.values: dict[torch.fx.Node, Any] = {}

    def run(self, results: Sequence[torch.fx.Node] | None = None) -> None:
        """Writes every op, or those that some results need."""
        nodes = self.graph.graph.nodes if results is None else needed_for(results)
        for node in nodes:
            if node.op == "get_attr" and node not in self.values:
                self.values[node] = self._captured(getattr(self.graph, str(node.target)))
        self._write_all([node for node in nodes if node.op == "call_function"])

    def _write_all(self, ops: Sequence[torch.fx.Node]) -> None:
        for part in loops_apart(ops):
            if isinstance(part, Loop):
                self._write_loop(part)
                continue
            for composite, nodes in stretches(part):
                if all(node in self.values for node in nodes):
                    continue
                if composite:
                    self._write_composite(composite, nodes)
                else:
                    self._write(nodes)

    def _write_loop(self, loop: Loop) -> None:
        if loop.end in self.values:
            return
        loop.refuse_effects()
        known, starts = self.values, [self.values[node] for node in loop.begin.args[0]]

        def write(results: Sequence[torch.fx.Node], carried: Sequence[Value]) -> list[Value]:
            self.values = {**known, loop.begin: carried}
            needed = {*needed_for(results)}
            self._write_all([node for node in loop.inside if node in needed])
            return [self.values[node] for node in results]

        regions = [functools.partial(write, results) for results in ([loop.goes_on], loop.results)]
        made = self.lowering.while_loop(starts, *regions)
        self.values = {**known, loop.end: made}

    def _write(self, nodes: Sequence[torch.fx.Node]) -> None:
        for node in nodes:
            self.lowering.place = place_of(node)
            self.lowering.draw_for(*draw_of(node))
            try:
                with only_trace_errors():
                    self.values[node] = self._call(node)
            except TraceError as error:
                raise error.at(self.lowering.place or dynamo_place_of(node)) from error.__cause__

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

    def _call(self, node: torch.fx.Node) -> Any:
        args = torch.fx.map_arg(node.args, self.values.__getitem__)
        kwargs = torch.fx.map_arg(node.kwargs, self.values.__getitem__)
        if node.target is operator.getitem:
            return args[0][args[1]]
        if node.target in SCALAR_OPS:
            return SCALAR_OPS[node.target](self.lowering, *args)
        name = overload_name(node.target)
        rule = TABLE.get(name)
        if reads_no_elements(node) or (rule is None and not node.all_input_nodes and is_repeatable(node.target)):
            return pytree.tree_map_only(torch.Tensor, self._captured, run_by_torch(node))
        self.lowering.called = name if "::" in name else f"aten.{name}"
        if rule is None:
            raise TraceError(f"{self.lowering.called} is not supported", fix=OTHERWISE)
        made = node.meta.get("val")
        self.lowering.results = tuple(map(_type, made)) if isinstance(made, (tuple, list)) else (_type(made),)
        first = next((n.meta.get("val") for n in node.all_input_nodes), None)
        if isinstance(first, torch.Tensor):
            self.lowering.strides, self.lowering.offset = first.stride(), first.storage_offset()
        tensors = [type_ for type_ in self.lowering.results if type_]
        if tensors and all(type_.elements == 0 for type_ in tensors):
            return pytree.tree_map_only(torch.Tensor, lambda tensor: self.lowering.constant(0, type_of(tensor)), made)
        return self._lowered(node, rule, args, kwargs)

    def _lowered(self, node: torch.fx.Node, rule: Rule, args: Any, kwargs: Any) -> Any:
        """What a rule of the table gives; raises TraceError for operands that it does not take."""
        called = self.lowering.called
        try:
            made = rule(self.lowering, *args, **kwargs)
            self._check_types(made)
        except TraceError:
            raise
        except Exception as error:
            if isinstance(error, TypeError) and _takes_computed_number(node):
                what = f"{called} takes a number that Python computes in each call, and a program has it fixed"
                raise TraceError(what, fix="index by a tensor of such numbers, x[torch.arange(3) + n]") from error
            operands = ", ".join(str(value.type) for value in _values((args, kwargs)))
            raise TraceError(f"{called} of ({operands}) is not supported", fix=OTHERWISE) from error
        return made

    def _check_types(self, made: Any) -> None:
        """Raises TypeError where results are not of the types that PyTorch gives."""
        given = made if isinstance(made, (tuple, list)) else (made,)
        for value, type_ in zip(given, self.lowering.results, strict=False):
            if isinstance(value, Value) and type_ not in (None, value.type):
                raise TypeError(f"it gave {value.type} where PyTorch gives {type_}")

    def _captured(self, tensor: torch.Tensor) -> Value:
        constant = getattr(tensor, "constant", None)
        held = constant if constant is not None else tensor
        real = held.detach().clone(memory_format=torch.contiguous_format)  # NumPy would keep its own from growing
        if real.dtype is torch.bfloat16:
            return self.lowering.convert(self.lowering.dense(real.float().numpy(), "f32"), "bf16")
        return self.lowering.dense(real.numpy(), dtype_name(real.dtype))


def _takes_computed_number(node: torch.fx.Node) -> bool:
    """Whether a program computes a number that an op takes."""
    return any(isinstance(read.meta.get("val"), torch.SymInt | torch.SymFloat) for read in node.all_input_nodes)


@dataclass(frozen=True)
class Way:
    """A graph, and the choices that lead to it; what they are made by follows its results.

    Where it is guarded, its last result says whether it is right; where not, the state stays as it is.
    """

    graph: torch.fx.GraphModule
    choices: tuple[bool, ...] = ()
    is_guarded: bool = False

    @property
    def placeholders(self) -> list[torch.fx.Node]:
        """The graph's arguments."""
        return [node for node in self.graph.graph.nodes if node.op == "placeholder"]

    @property
    def returned(self) -> list[torch.fx.Node]:
        """The graph's results, and the predicates of its choices."""
        (returned,) = self.graph.graph.output_node().args
        return list(returned)


class Ways:
    """Writes the ways of a program: one, or a tree of branches."""

    def __init__(self, ways: Sequence[Way], arguments: Sequence[Port], results: Sequence[Port]) -> None:
        self.lowering = Lowering()
        self.decompositions = Decompositions()
        self._emitters = {way: Emitter(way.graph, self.decompositions, self.lowering) for way in ways}
        self._returned = {way: way.returned for way in ways}
        self._arguments, self._results = arguments, results
        self._are_guarded = any(way.is_guarded for way in ways)
        self._kept = self._changed()
        # State that is left as it was where a guard does not hold.
        self._left = {results[i].name for i in self._kept if results[i].is_state} if self._are_guarded else set()

    def arguments(self) -> list[tuple[Value, Port]]:
        """Makes the placeholders arguments, in order; state that nothing reads is none."""
        written = []
        for port, *nodes in zip(self._arguments, *(way.placeholders for way in self._emitters), strict=True):
            if port.is_state and port.name not in self._left and not any(node.users for node in nodes):
                continue
            value = self.lowering.argument(_type_of_argument(nodes[0]))
            for emitter, node in zip(self._emitters.values(), nodes, strict=True):
                emitter.values[node] = value
            written.append((value, port))
        return written

    def _changed(self) -> list[int]:
        """Which results are not state that stays as it was."""
        found = {way: dict(zip(way.placeholders, self._arguments, strict=True)) for way in self._emitters}
        return [
            i
            for i, port in enumerate(self._results)
            if any(not port.is_state or found[way].get(nodes[i]) is not port for way, nodes in self._returned.items())
        ]

    def run(self) -> list[tuple[Value, Port]]:
        """Writes every op; gives the results, without state that stays as it was."""
        kept = self._kept
        values = self._write([*self._emitters], 0, kept)
        ports = [*(self._results[i] for i in kept), *([Port(HELD)] if self._are_guarded else [])]
        return list(zip(values, ports, strict=True))

    def _write(self, ways: list[Way], depth: int, kept: Sequence[int]) -> Sequence[Value]:
        """Writes ways that made the same choices up to a depth."""
        emitter, returned = self._emitters[ways[0]], self._returned[ways[0]]
        if len(ways) == 1:
            return self._write_guarded(ways[0], kept) if self._are_guarded else self._write_way(ways[0], kept)
        sides = [[way for way in ways if way.choices[depth : depth + 1] == (side,)] for side in (False, True)]
        if not all(sides):  # the other way only raises
            return self._write(ways, depth + 1, kept)
        predicate = returned[len(self._results) + depth]
        emitter.run([predicate])
        branches = [functools.partial(self._write, side, depth + 1, kept) for side in sides]
        types = [type_of(returned[i].meta["val"]) for i in kept] + [TRUTH] * self._are_guarded
        return self.lowering.case(self.lowering.convert(emitter.values[predicate], "i32"), types, branches)

    def _write_way(self, way: Way, kept: Sequence[int]) -> list[Value]:
        emitter = self._emitters[way]
        emitter.run()
        return [emitter.values[self._returned[way][i]] for i in kept]

    def _write_guarded(self, way: Way, kept: Sequence[int]) -> Sequence[Value]:
        """Writes a way that is gone only where its guard holds, and whether it does."""
        if not way.is_guarded:
            return [*self._write_way(way, kept), self.lowering.constant(True, TRUTH)]
        emitter, returned = self._emitters[way], self._returned[way]
        emitter.run([returned[-1]])
        held = emitter.values[returned[-1]]
        found = zip(self._arguments, way.placeholders, strict=True)
        before = {port.name: emitter.values[node] for port, node in found if node in emitter.values}
        types = [type_of(returned[i].meta["val"]) for i in kept]

        def stay() -> list[Value]:
            return [
                before[self._results[i].name] if self._results[i].is_state else self.lowering.constant(0, type_)
                for i, type_ in zip(kept, types, strict=True)
            ]

        branches = [stay, lambda: self._write_way(way, kept)]
        return [*self.lowering.case(self.lowering.convert(held, "i32"), types, branches), held]


def emit(
    ways: Sequence[Way], name: str, arguments: Sequence[Port], results: Sequence[Port], *, counts_steps: bool = True
) -> tuple[str, bool]:
    """The text of a module whose main function goes one of some ways, and whether it draws random numbers.

    Their seed and step are state, which counts the steps, or arguments of the function if it does not count them.
    """
    written = Ways(ways, arguments, results)
    takes = written.arguments()
    gives = written.run()
    lowering = written.lowering
    if lowering.random:
        seed, step = lowering.random
        takes += [(seed, Port(SEED, is_state=counts_steps)), (step, Port(STEP, is_state=counts_steps))]
    if lowering.random and counts_steps:
        held = next((value for value, port in gives if port.name == HELD), None)
        made = lowering.convert(held, step.type.dtype) if held else lowering.constant(1, step.type)
        gives.append((lowering.binary("add", step, made), Port(STEP, is_state=True)))
    main = function_text("public @main", takes, lowering, gives)
    return module_text(name, [main, *written.decompositions.texts]), lowering.random is not None


def stretches(ops: Iterable[torch.fx.Node]) -> Iterator[tuple[str, list[torch.fx.Node]]]:
    """The ops in order, those of one composite together with its name; others, and such as lie apart, without one."""
    groups = [(composite, list(nodes)) for composite, nodes in groupby(ops, composite_of)]
    count = Counter(composite for composite, _ in groups)
    for composite, nodes in groups:
        yield composite[0] if composite and count[composite] == 1 else "", nodes


def _values(tree: Any) -> list[Value]:
    """The values in a tree, each once."""
    return list(dict.fromkeys(leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, Value)))


def _replaced(tree: Any, old: Sequence[Value], new: Sequence[Value]) -> Any:
    """A tree with other values."""
    return pytree.tree_map_only(Value, dict(zip(old, new, strict=True)).__getitem__, tree)


def is_repeatable(op: Any) -> bool:
    """Whether an op makes the same of the same arguments: it draws no random numbers."""
    return isinstance(op, OpOverload) and torch.Tag.nondeterministic_seeded not in op.tags


def reads_no_elements(node: torch.fx.Node) -> bool:
    """Whether an op reads tensors, and none has elements: what it gives is fixed."""
    read = [operand.meta.get("val") for operand in node.all_input_nodes]
    are_empty = all(isinstance(value, torch.Tensor) and value.numel() == 0 for value in read)
    return bool(read) and are_empty and is_repeatable(node.target)


def run_by_torch(node: torch.fx.Node) -> Any:
    """What PyTorch gives for an op that reads no elements."""

    def empty(operand: torch.fx.Node) -> torch.Tensor:
        like = operand.meta["val"]
        return torch.empty_strided(like.shape, like.stride(), dtype=like.dtype)

    with no_modes():
        args, kwargs = (torch.fx.map_arg(given, empty) for given in (node.args, node.kwargs))
        return node.target(*args, **kwargs)


def _type(made: Any) -> TensorType | None:
    return type_of(made) if isinstance(made, torch.Tensor) else None


def _type_of_argument(node: torch.fx.Node) -> TensorType:
    """The type of a placeholder; a TraceError names a line that reads it."""
    try:
        return type_of(node.meta["val"])
    except TraceError as error:
        places = (place_of(reader) or dynamo_place_of(reader) for reader in node.users)
        raise error.at(next(filter(None, places), None)) from error.__cause__
