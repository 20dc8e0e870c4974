"""An entry point of a program: what it was traced from, its text, and what must be known to run and compare it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from ingot.folder import input_row
from ingot.stablehlo import Port, TensorType
from ingot.torch.base.torch_internals import pytree
from ingot.torch.judge.bounded import Bounded
from ingot.torch.judge.observe import FoundDraws, Graph
from ingot.torch.numbers.index_checks import INDICES_WITHIN
from ingot.torch.python_state.named import Named
from ingot.torch.text.dtypes import type_of
from ingot.torch.text.emit import Way, emit
from ingot.torch.tracing.calls import Subject
from ingot.torch.tracing.captures import Capture
from ingot.torch.tracing.kept_gradients import KeptGradients
from ingot.torch.tracing.paths import apart_from, bound, named_leaves, named_outputs, only
from ingot.torch.tracing.returned import output_for, refuse_objects_of_tensors, refuse_unfinished
from ingot.torch.tracing.state import State
from ingot.torch.tracing.trace import Trace


@dataclass(frozen=True)
class Added:
    """What an entry point is made of."""

    function: Callable[..., Any]
    example_args: Sequence[Any]
    training: bool
    capture: bool
    guards: bool = False
    names: dict[bool, Named] = field(default_factory=dict)  # that its code names, as they were found last


@dataclass(frozen=True)
class Traced:
    """An entry point as it was traced in this process, or found where another process traced it."""

    added: Added
    subject: Subject
    text: str
    inputs: list[dict[str, Any]]
    returned: Any  # the tree of what the function returns, an `Output` for each tensor
    computed: Bounded
    is_random: bool
    is_checked: bool  # it changes nothing where a check fails
    kept_gradients: KeptGradients
    untouched: set[str]  # tensors of the state that it neither reads nor changes
    written: set[str]  # tensors of the state that it changes
    checks: list[str]  # texts that say whether indices in arguments are within, if guarded
    unset: list[str]  # where the function leaves what it computes, which the program does not
    gradients: list[str]  # of which parameters the function leaves them, where they are not kept
    used_gradients: list[str]  # ... it uses them as they were before the call
    constants: list[torch.Tensor]
    captures: list[Capture]  # tensors that a program with guards reads in each call
    generators: list[torch.Generator | None]  # that the function draws from; None: the default one
    needed_gradients: list[str] = field(default_factory=list)  # those that are to be kept where calls follow
    argument_gradients: list[int] = field(default_factory=list)  # of which tensors in arguments it leaves them
    asked: list[str] = field(default_factory=list)  # where Python asks for the values that guards are for
    absent: set[str] = field(default_factory=set)  # attributes that it asked arguments for, and which they had not
    graphs: Sequence[Graph] = ()  # none where it was found
    draws: FoundDraws | None = None  # where it was found


def traced(name: str, added: Added, subject: Subject, ways: Sequence[Trace], captures: list[Capture]) -> Traced:
    """The entry point of a function that goes some ways.

    Raises TraceError for results that a program cannot give, and numbers that it would not have as Python has them.
    """
    first, state = ways[0], subject.state
    numbers = [Port(h.name, default=h.default) for h in subject.changeable]
    others = {*state.tensors, *(n.name for n in numbers), *(capture.name for capture in captures)}
    inputs = apart_from(others, named_leaves(bound(added.function, added.example_args)))
    inputs += [(capture.name, capture.tensor) for capture in captures]
    variables = [Port(variable, is_state=True) for variable in state.tensors]
    takes = [*variables, *numbers, *(Port(path) for path, _ in inputs)]
    named = named_outputs(first.outputs, only(added.training))
    refuse_unfinished(first.outputs)
    starts = {number: held.get() for number, held in state.numbers.items()}
    if added.guards:
        refuse_objects_of_tensors(first.outputs)
    else:
        starts |= state.counters()
    graphs = [Graph(way.graph, takes, way.choices, way.is_guarded) for way in ways]
    computed = Bounded(graphs, starts)
    if not added.guards:
        computed.refuse_wide()
    limited = computed.limit() if added.guards else graphs
    emitted = [Way(way.module, tuple(way.choices), way.is_guarded) for way in limited]
    text, is_random = emit(emitted, name, takes, [*(Port(output) for output, _ in named), *variables])
    lifted = {id(capture.tensor) for capture in captures}
    return Traced(
        added,
        subject,
        text,
        _rows(inputs, subject),
        _returned(ways, named),
        computed,
        is_random,
        is_checked=any(way.is_checked for way in ways),
        kept_gradients=KeptGradients.of_ways([way.kept_gradients for way in ways], state.trained),
        untouched=set.intersection(*(_untouched(way, state) for way in graphs)),
        written=set.union(*(_written(way, state) for way in graphs)),
        checks=_index_checks(graphs, computed, takes) if added.guards else [],
        unset=_joined(way.unset for way in ways),
        gradients=_joined(way.gradients for way in ways),
        used_gradients=_joined(way.used_gradients for way in ways),
        constants=[x for way in ways for x in way.constants if id(x) not in lifted],
        captures=captures,
        generators=_joined(way.generators for way in ways) if is_random else [],
        needed_gradients=_joined(way.needed_gradients for way in ways),
        argument_gradients=_joined(way.argument_gradients for way in ways),
        asked=[place for way in ways for place in way.asked],
        absent={attribute for way in ways for attribute in way.absent},
        graphs=limited,
    )


def _joined(parts: Iterable[Iterable[Any]]) -> list[Any]:
    """What all have, each once."""
    return [*dict.fromkeys(value for part in parts for value in part)]


def _rows(inputs: Sequence[tuple[str, torch.Tensor]], subject: Subject) -> list[dict[str, Any]]:
    """What ``inputs.json`` says of inputs and of the optimizers' numbers."""
    numbers = (input_row(h.name, TensorType("f64"), h.default) for h in subject.changeable)
    return [*(input_row(path, type_of(leaf)) for path, leaf in inputs), *numbers]


def _returned(ways: Sequence[Trace], named: Sequence[tuple[str, torch.Tensor]]) -> Any:
    """What the function returns, an `Output` for each tensor."""
    first, names = ways[0], {id(tensor): output for output, tensor in named}
    is_open = not any(way.computes_gradients for way in ways)
    return pytree.tree_map_only(
        torch.Tensor,
        lambda t: output_for(t, names, first.shared, first.numbers, ends_gradients=is_open),
        first.outputs,
    )


def _index_checks(graphs: Sequence[Graph], computed: Bounded, takes: Sequence[Port]) -> list[str]:
    """Texts whose results say whether the indices in arguments are within what they index, where they may not be."""
    checks = [way.indices_within(computed.known(way)) for way in graphs]
    return [emit([check], INDICES_WITHIN, takes, [Port(INDICES_WITHIN)])[0] for check in checks if check]


def _untouched(way: Graph, state: State) -> set[str]:
    """The tensors of a state that a way neither reads nor changes."""
    nodes = _nodes(way, state)
    read = {name for name, node in nodes.items() if any(user.op != "output" for user in node.users)}
    return nodes.keys() - read - _written(way, state)


def _written(way: Graph, state: State) -> set[str]:
    """The tensors of a state that a way changes."""
    after = dict(zip(state.tensors, way.states(len(state.tensors)), strict=True))
    return {name for name, node in _nodes(way, state).items() if after[name] is not node}


def _nodes(way: Graph, state: State) -> dict[str, Any]:
    """The placeholders of a way's graph for the tensors of a state, by name."""
    return dict(zip(state.tensors, way.module.graph.find_nodes(op="placeholder"), strict=False))
