"""Tracing: a user's function, through autograd and the optimizer, as one functional graph of ATen ops."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import traceback as fx_traceback
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

import ingot.torch.text.aten  # noqa: F401  (fills the table, which says what stays whole)
from ingot.stablehlo import Place
from ingot.torch.base.errors import LeftToPyTorch, OtherResults, SelectionRefused, SlotsMade, TraceError, ValueAsked
from ingot.torch.base.places import Places, Reading, module_paths, place_of, user_line
from ingot.torch.base.raised import is_of_call
from ingot.torch.base.torch_internals import pytree, same_hook_numbers
from ingot.torch.base.torch_internals.fake_tensors import DataDependentOutputException, DynamicOutputShapeException
from ingot.torch.numbers.answers import Answers, Fixed, Shadow
from ingot.torch.numbers.arithmetic import computed_arithmetic
from ingot.torch.numbers.choices import MOST_WAYS, Choices, others, too_many_ways
from ingot.torch.numbers.conversions import computed_conversions
from ingot.torch.numbers.identity import asked_identity
from ingot.torch.optimizers.averaging import traceable_averages
from ingot.torch.optimizers.sparse_gradients import sparse_gradients
from ingot.torch.optimizers.sparse_updates import updates_by_rows
from ingot.torch.python_state.aliases import refuse_views
from ingot.torch.python_state.draws import noted_draws
from ingot.torch.python_state.named_attributes import NamedAttributes
from ingot.torch.python_state.outside import Looks, watched_outside
from ingot.torch.python_state.reach import modules_of
from ingot.torch.python_state.repetition import CHOSEN, Carried, Kinds, Watch, refuse_differences
from ingot.torch.python_state.restore import restored
from ingot.torch.python_state.snapshot import Snapshot
from ingot.torch.python_state.swallowed import not_swallowed
from ingot.torch.text.decompositions import first_decompositions
from ingot.torch.tracing.calls import Calls, Subject, examples
from ingot.torch.tracing.checkpoints import computed_again
from ingot.torch.tracing.composites import composites
from ingot.torch.tracing.constants import attributes, cached, refuse_written
from ingot.torch.tracing.fakes import fakes
from ingot.torch.tracing.functional import functional
from ingot.torch.tracing.kept_gradients import KeptGradients
from ingot.torch.tracing.packed import PACKED, packed_sequences
from ingot.torch.tracing.recorder import recorded
from ingot.torch.tracing.refusals import refused
from ingot.torch.tracing.returned import SharedMemory
from ingot.torch.tracing.selected import Selecting
from ingot.torch.tracing.settings import tracing_settings
from ingot.torch.tracing.static_shapes import run_answered

# What to do instead of ops whose shapes depend on values.
BY_MASK = "read with torch.where(mask, x, other) instead of x[mask], write with torch.where(mask, values, x)"
OF_FIXED_SHAPE: dict[Any, str] = {
    torch.ops.aten.bincount.default: "count with torch.zeros(n).scatter_add(0, x, torch.ones(x.shape))",
    torch.ops.aten.linalg_lstsq.default: "take torch.linalg.pinv(a) @ b, or solve a.mT @ a and a.mT @ b",
    torch.ops.aten.repeat_interleave.Tensor: "give it output_size",
    torch.ops.aten._unique2.default: "find what is unique before, and pass it as an argument",
    torch.ops.aten.unique_dim.default: "find what is unique before, and pass it as an argument",
}


NOT_ALLOCATED = "its data is not allocated yet"
WITHOUT_GRADIENT = "does not require grad and does not have a grad_fn"


@dataclass(frozen=True)
class Trace:
    """A functional graph of ATen ops.

    Its placeholders are the state in order, the changeable numbers, then the tensors of the example arguments; its
    results are the outputs' tensors, then the state afterwards, then what each of its choices was made by, and, where
    it is guarded, whether what it was traced for holds. Its constants are tensors that the function, or Python for it,
    reads and that are neither; where Python holds numbers that it computed, is said by kind, and what else Python
    holds afterwards; and where Python holds what it computed that is no state, which a program does not set; and what
    it asked arguments for, by names of attributes, that they did not have.
    """

    graph: torch.fx.GraphModule
    outputs: Any
    constants: list[torch.Tensor]
    asked_constants: set[int]  # those whose values Python asked for, by identity
    choices: tuple[bool, ...]
    is_guarded: bool
    is_checked: bool  # by code that raises where a check fails
    asked: tuple[str, ...]  # where Python asked for the values that it is guarded for
    computed: Kinds
    left: Snapshot
    unset: list[str]
    absent: set[str]
    gradients: list[str]  # parameters that are left with gradients, which a program does not keep
    used_gradients: list[str]  # those that are added to or read as they were before
    needed_gradients: list[str]  # those to be kept where calls follow in this process
    kept_gradients: KeptGradients
    argument_gradients: list[int]  # which arguments' tensors are
    computes_gradients: bool
    shared: Mapping[int, SharedMemory]  # by identities of outputs
    numbers: Mapping[int, torch.Tensor]  # of outputs, those that are Python's numbers, by identity
    generators: list[torch.Generator | None]  # that it draws from; None: the default one


def trace(subject: Subject, *, training: bool, capture: bool, guards: bool = False) -> list[Trace]:
    """Traces a function without running it, by two calls in a row at most, of which a program repeats the first.

    There is a trace for every way that it goes by numbers that it computes, but those on which it asks for gradients of
    what has none, divides by 0 or exits: there Python raises, and a program, which does not, is taken not to come. What
    Python's objects hold is as before afterwards. With `guards`, values that Python must have are those of the example,
    and the program says in each run whether they were. Raises TraceError where Python would have to look at a tensor's
    value, for tensors that are neither argument nor state, and Carried for what Python carries from call to call.
    """
    try:
        return _ways(subject, training, capture)
    except (ValueAsked, SelectionRefused, OtherResults) as error:
        if not guards:
            raise
        return _guarded(subject, training, capture, error)


def _guarded(subject: Subject, training: bool, capture: bool, refusal: TraceError) -> list[Trace]:
    """The ways where values are those of the example: also such as an error is about, until there is none."""
    fixed = Fixed()
    while True:
        met: list[Answers] = []
        try:
            return _ways(subject, training, capture, fixed, met)
        except Exception as error:
            if is_of_call(error):
                raise
            wider = fixed.with_those(error, met[-1])
            if wider == fixed:
                raise error if isinstance(error, Carried | SlotsMade) else refusal from error
            fixed = wider


def _ways(
    subject: Subject, training: bool, capture: bool, fixed: Fixed | None = None, met: list[Answers] | None = None
) -> list[Trace]:
    ways: list[Trace] = []
    raised: list[BaseException] = []
    waiting: list[tuple[bool, ...]] = [()]
    choices = Choices(())
    while waiting:
        if len(ways) + len(waiting) > MOST_WAYS:
            raise too_many_ways(choices.place)
        answers = None if fixed is None else Answers(Shadow(examples(subject), len(subject.state.tensors)), fixed)
        if answers and met is not None:
            met.append(answers)
        choices = Choices(given := waiting.pop(), answers, subject.are_checked)
        named = subject.named_attributes()
        with restored(named.snapshot), same_hook_numbers():
            try:
                ways.append(_trace(subject, named, training, capture, choices))
            except (RuntimeError, ZeroDivisionError, SystemExit) as error:
                if isinstance(error, RuntimeError) and WITHOUT_GRADIENT not in str(error):
                    raise
                raised.append(error)
        waiting += others(given, choices.made)
    if not ways:
        raise raised[0]
    _refuse_other_results(ways, choices.place)
    return ways


def refuse_other_ends(ways: list[Trace]) -> None:
    """Raises TraceError where a function leaves something else as it chose otherwise."""
    for way in ways[1:]:
        refuse_differences(ways[0].left, way.left, CHOSEN)


def _refuse_other_results(ways: list[Trace], place: Place | None) -> None:
    """Raises OtherResults where a function returns something else as it chose otherwise, last at a place."""
    kinds = [pytree.tree_map_only(torch.Tensor, lambda t: (t.shape, t.dtype), way.outputs) for way in ways]
    if any(kind != kinds[0] for kind in kinds):
        what = "what the function returns depends on numbers that the program computes, by which Python chooses"
        raise OtherResults(what, place, "return tensors of the same shapes, by the same names, in every call")


def located(carried: Carried, subject: Subject, *, training: bool, capture: bool) -> TraceError:
    """The same error with the user's line that changes the value last."""
    if carried.leaf is None:
        return carried
    watch = Watch(carried)
    named = subject.named_attributes()
    with restored(named.snapshot), suppress(TraceError):
        _trace(subject, named, training, capture, Choices(()), watch)
    return carried.at(watch.place)


def _trace(
    subject: Subject,
    named: NamedAttributes,
    training: bool,
    capture: bool,
    choices: Choices,
    watch: Watch | None = None,
) -> Trace:
    answers = choices.answers
    run = {"run": functools.partial(run_answered, answers)} if answers else {}
    reached = named.whole.reached()
    places = Places(capture, attributes(subject.state) | cached(reached), subject.is_guarded, **run)
    looks = Looks(subject.said)
    calls = Calls(subject, named, fakes(allow_dynamic_output_shape_ops=False), places, choices, looks, watch)
    arguments = calls.arguments()
    modules = modules_of(reached)
    with (
        tracing_settings(subject.state, training),
        refused(reached, subject.state.optimizers.values()),
        traceable_averages(),
        computed_again(),
        computed_arithmetic(choices, modules),
        watched_outside(modules, reached, looks),
        noted_draws(),
        asked_identity(reached),
        computed_conversions(reached),
        sparse_gradients() as sparse,
        updates_by_rows(sparse),
        composites(subject.state.optimizers, places.composite, choices),
        module_paths(subject.state.models, places.modules),
        explained(places),
        not_swallowed(places),
        choices.asked(),
        Reading(places),
        Selecting(answers),
        packed_sequences(choices),
    ):
        graph = recorded(calls, arguments, first_decompositions(), keep_types=False)
    refuse_written(graph, places.paths, inputs=2 * len(arguments[2]))
    calls.repetition.check(graph.graph)
    calls.repetition.drop_second(graph.graph, inputs=len(arguments[3]))
    kept = [node for node in graph.graph.nodes if node.op == "get_attr"]
    constants = [getattr(graph, str(node.target)) for node in kept]
    refuse_views(zip(constants, map(_first_place, kept), strict=True), subject.state.tensors)
    with fx_traceback.preserve_node_meta():
        pure = functional(graph, pytree.tree_leaves(arguments[:3]))
    refuse_sizes(pure)
    asked = tuple(dict.fromkeys(map(str, filter(None, answers.places)))) if answers else ()
    computed, left, unset = calls.repetition.computed, calls.repetition.snapshots[1], calls.repetition.unset
    made = tuple(choices.made)
    unkept = calls.gradients, calls.used_gradients, calls.needed_gradients
    gradients = *unkept, calls.kept_gradients, calls.argument_gradients
    ends = computed, left, unset, calls.asked.absent, *gradients
    read = [tensor for key, tensor in places.read.items() if key not in map(id, constants)]
    return Trace(
        pure,
        calls.outputs,
        [*constants, *read],
        places.asked,
        made,
        calls.is_guarded,
        bool(choices.checks),
        asked,
        *ends,
        calls.computes_gradients,
        calls.shared,
        calls.numbers,
        places.generators,
    )


def _first_place(constant: torch.fx.Node) -> Place | None:
    """Where a constant is read first."""
    return next((place for user in constant.users if (place := place_of(user))), None)


def refuse_sizes(pure: torch.fx.GraphModule) -> None:
    """Raises ValueAsked where sizes depend on values."""
    for node in pure.graph.nodes:
        if sizes := _sizes_of(node):
            fix = "take lengths and ranges from shapes, which are fixed when the function is traced, not from tensors"
            error = ValueAsked("a shape depends on the values in a tensor", place_of(node), fix)
            error.sizes = sizes
            raise error


def _sizes_of(node: torch.fx.Node) -> list[torch.SymInt]:
    """The sizes of what a node gives that depend on values."""
    made = [value for value in pytree.tree_leaves(node.meta.get("val")) if isinstance(value, torch.Tensor)]
    return [size for value in made for size in value.shape if isinstance(size, torch.SymInt)]


@contextmanager
def explained(places: Places) -> Iterator[None]:
    """Turns PyTorch's complaints about data dependence into errors with a place."""
    try:
        yield
    except GuardOnDataDependentSymNode as error:
        raise ValueAsked(
            "Python asks for the value of a tensor, which is known only when the program runs",
            places.last,
            "compute with tensors, torch.where, or pass a number that is fixed when the function is traced",
        ) from error
    except DataDependentOutputException as error:
        raise ValueAsked(f"{error.func} gives Python the value of a tensor", places.last, "use torch.where") from error
    except NotImplementedError as error:
        if "HigherOrderOperator" not in str(error):
            raise
        what = "control flow that torch itself traces (map, scan) is not supported"
        fix = "torch.while_loop, torch.cond; or a loop of Python's, which is unrolled"
        raise TraceError(what, user_line(error), fix) from error
    except DynamicOutputShapeException as error:
        if error.func is torch.ops.aten._pack_padded_sequence.default:
            what = "pack_padded_sequence packs as many rows as the values in a tensor say"
            raise LeftToPyTorch(what, places.last, PACKED) from error
        raise ValueAsked(
            f"the shape of what {error.func} gives depends on the values in a tensor",
            places.last,
            f"shapes are fixed when the function is traced: {OF_FIXED_SHAPE.get(error.func, BY_MASK)}",
        ) from error
    except RuntimeError as error:
        if NOT_ALLOCATED not in str(error):
            raise
        what = "PyTorch asks for the values of a tensor, which are known only when the program runs"
        raise TraceError(
            what, user_line(error), "make it of tensors by torch.stack, torch.cat or torch.where"
        ) from error
