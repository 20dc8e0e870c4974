"""Values inside a program: what its random ops drew, and what each op makes, as outputs of a bundle of their own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import torch

from ingot import cache
from ingot.judge import Undecided
from ingot.session import Session
from ingot.stablehlo import Port
from ingot.torch.base.places import COMPOSITE, draw_of
from ingot.torch.base.torch_internals.modes import TorchDispatchMode
from ingot.torch.numbers.index_checks import add_checks, index_checks
from ingot.torch.numbers.tensor_bounds import Bounds
from ingot.torch.text.emit import Way, emit
from ingot.torch.tracing.state import stored_values

ENTRY = "observed"
NUMBERS = (torch.SymFloat, torch.SymInt, torch.SymBool)  # that a program computes


@dataclass(frozen=True)
class Graph:
    """What a way of an entry point was written of: a graph of ATen ops, and what its placeholders are called.

    A program goes this way where `predicates` are as in `choices`.
    """

    module: torch.fx.GraphModule
    takes: Sequence[Port]
    choices: Sequence[bool] = ()
    is_guarded: bool = False

    @property
    def predicates(self) -> list[torch.fx.Node]:
        """What the choices are made by."""
        (returned,) = self.module.graph.output_node().args
        end = len(returned) - self.is_guarded
        return list(returned)[end - len(self.choices) : end]

    def states(self, count: int) -> list[torch.fx.Node]:
        """What the `count` tensors of the state are afterwards."""
        (returned,) = self.module.graph.output_node().args
        end = len(returned) - self.is_guarded - len(self.choices)
        return list(returned)[end - count : end]

    def outputs(self, count: int) -> list[torch.fx.Node]:
        """What the function returns, where there are `count` tensors of the state."""
        (returned,) = self.module.graph.output_node().args
        return list(returned)[: len(returned) - self.is_guarded - len(self.choices) - count]

    @property
    def ops(self) -> list[torch.fx.Node]:
        """The ops in order."""
        return [node for node in self.module.graph.nodes if node.op == "call_function"]

    def draws(self) -> list[list[torch.fx.Node]]:
        """For each random op, in the order in which they were called, what it was taken apart into."""
        drawing = sorted((node for node in self.ops if draw_of(node)[1]), key=lambda node: draw_of(node)[1])
        return [list(nodes) for _, nodes in groupby(drawing, draw_of)]

    def indices_within(self, known: Mapping[torch.fx.Node, Bounds | None]) -> Way | None:
        """What gives whether the indices of arguments are within what they index; None if they cannot be outside.

        `known` are bounds of the integers that nodes give.
        """
        placeholders = (node for node in self.module.graph.nodes if node.op == "placeholder")
        of_state = {node for port, node in zip(self.takes, placeholders, strict=True) if port.is_state}
        checks = index_checks(self.ops, known, of_state)
        if not checks:
            return None
        copied = torch.fx.Graph()
        copies: dict[torch.fx.Node, torch.fx.Node] = {}
        copied.graph_copy(self.module.graph, copies)
        copied.output(())
        held = add_checks(copied, [(copies[indices], low, high) for indices, low, high in checks])
        copied.output_node().args = ((held,),)
        only_results(copied)
        return Way(torch.fx.GraphModule(self.module, copied))


def only_results(copied: torch.fx.Graph) -> None:
    """Leaves of a copied graph what its results need; what stays whole in a program has no values inside."""
    for node in copied.nodes:
        node.meta["custom"] = {**node.meta.get("custom", {}), COMPOSITE: None}
    copied.eliminate_dead_code()


class Observer:
    """A bundle whose outputs are values inside a graph, from the state and inputs that a step starts from.

    And from values inside it that are `given`, tensors that others observed: what is made of them is of the same.
    """

    def __init__(self, graph: Graph, nodes: Iterable[torch.fx.Node], given: Collection[torch.fx.Node] = ()) -> None:
        made = [node for node in nodes if isinstance(node.meta.get("val"), (torch.Tensor, *NUMBERS))]
        self._nodes = list(dict.fromkeys(made))
        self._given = {
            node: f"given{i}"
            for i, node in enumerate(given)
            if isinstance(node.meta.get("val"), torch.Tensor) and any(user not in given for user in node.users)
        }
        copied = torch.fx.Graph()
        copies: dict[torch.fx.Node, torch.fx.Node] = {}
        for node in graph.module.graph.nodes:
            if node in self._given:
                copies[node] = copied.placeholder(self._given[node])
                copies[node].meta["val"] = node.meta["val"]
            elif node.op != "output":
                copies[node] = copied.node_copy(node, copies.__getitem__)
        copied.output(tuple(copies[node] for node in self._nodes))
        only_results(copied)
        names = [Port(f"value{i}") for i in range(len(self._nodes))]
        takes = [*graph.takes, *map(Port, self._given.values())]
        self.text, _ = emit([Way(torch.fx.GraphModule(graph.module, copied))], ENTRY, takes, names)
        self._session = Session(cache.compiled({ENTRY: self.text}))

    @property
    def places(self) -> dict[torch.fx.Node, int]:
        """Which output each value is."""
        return {node: i for i, node in enumerate(self._nodes)}

    def __call__(
        self, state: Mapping[str, Any], inputs: Mapping[str, Any], values: Mapping[torch.fx.Node, Any] | None = None
    ) -> dict[torch.fx.Node, Any]:
        """The values of one step; `values` has those that are given."""
        given = {name: stored_values((values or {})[node]) for node, name in self._given.items()}
        outputs = _observed(self._session, state, {**inputs, **given})
        return {node: _as_in_graph(node, output) for node, output in zip(self._nodes, outputs, strict=True)}


class Draws:
    """Which way a program goes from a state and inputs, and what it draws there."""

    def __init__(self, ways: Sequence[Graph]) -> None:
        self._ways = [(way, way.draws(), _observer_of(way)) for way in ways]

    def __call__(self, state: Mapping[str, Any], inputs: Mapping[str, Any]) -> tuple[Graph, list[list[torch.Tensor]]]:
        """The way, and for each random op in it tensors among which is what it drew."""
        for way, draws, observer in self._ways:
            values = observer(state, inputs) if observer else {}
            if all(bool(values[node]) is choice for node, choice in zip(way.predicates, way.choices, strict=True)):
                return way, [[values[node] for node in nodes if node in values] for nodes in draws]
        raise Undecided("none of the ways that were traced is the program's")


class FoundDraws:
    """What a program that was found draws: it goes one way, by the text of what observed it where it was traced."""

    def __init__(self, text: str = "", draws: Sequence[Sequence[int]] = ()) -> None:
        """`draws` are for each random op the outputs among which is what it drew."""
        self.parts = text, draws
        self._session: Session | None = None

    @staticmethod
    def of(way: Graph) -> FoundDraws:
        """What a program's only way draws."""
        observer = _observer_of(way)
        places = observer.places if observer else {}
        draws = [[places[node] for node in nodes if _is_real(node) and node in places] for nodes in way.draws()]
        return FoundDraws(observer.text if observer else "", draws)

    def __call__(self, state: Mapping[str, Any], inputs: Mapping[str, Any]) -> tuple[None, list[list[torch.Tensor]]]:
        """For each random op tensors among which is what it drew."""
        text, draws = self.parts
        if not draws:
            return None, []
        self._session = self._session or Session(cache.compiled({ENTRY: text}))
        values = [*map(torch.as_tensor, _observed(self._session, state, inputs))]
        return None, [[values[i] for i in places] for places in draws]


def _is_real(node: torch.fx.Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and not value.is_complex()


def _observed(session: Session, state: Mapping[str, Any], inputs: Mapping[str, Any]) -> list[Any]:
    for name in session.state:
        session.state[name] = state[name]
    entry = session.entries[ENTRY]
    names = {port.name for port in entry.inputs}
    return [*entry(**{name: value for name, value in inputs.items() if name in names}).values()]


def _observer_of(way: Graph) -> Observer | None:
    """What observes what a way is chosen by and what it draws, if there is any of that."""
    seen = [*way.predicates, *(node for nodes in way.draws() for node in nodes)]
    return Observer(way, seen) if seen else None


def _as_in_graph(node: torch.fx.Node, output: Any) -> Any:
    """An output as the graph has it: complex numbers whole, numbers as Python's."""
    value, tensor = node.meta["val"], torch.as_tensor(output)
    if isinstance(value, NUMBERS):
        return tensor.item()
    return torch.view_as_complex(tensor) if value.is_complex() else tensor


class Drawn(TorchDispatchMode):  # type: ignore[misc]  # torch is not checked
    """Gives PyTorch's random ops the numbers that a program drew, one op after the other.

    Raises Undecided for an op that gives other tensors than those, and at the end where there are more of them.
    """

    def __init__(self, draws: Sequence[Sequence[torch.Tensor]]) -> None:
        super().__init__()
        self._draws: Iterator[Sequence[torch.Tensor]] = iter(draws)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        if torch.Tag.nondeterministic_seeded not in func.tags:
            return made
        drawn = [value for value in next(self._draws, ()) if _is_like(value, made)]
        if not drawn or any(other.is_write for other in func._schema.arguments[1:]):
            raise Undecided(f"PyTorch cannot be given what the program drew for {func.name()}")
        return made.copy_(drawn[-1])

    def __exit__(self, kind: Any, *error: Any) -> None:
        super().__exit__(kind, *error)
        if kind is None and next(self._draws, None) is not None:
            raise Undecided("PyTorch draws random numbers less often than the program")


def _is_like(value: torch.Tensor, made: Any) -> bool:
    return isinstance(made, torch.Tensor) and (value.shape, value.dtype) == (made.shape, made.dtype)
