"""A function in PyTorch beside its entry point in a bundle: the same batches, results and state."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from ingot.judge import SHAKES, Agreement, Run, Undecided, judge
from ingot.session import Session
from ingot.torch.base.torch_internals import pytree
from ingot.torch.judge.observe import Drawn, Draws, FoundDraws, Graph, Observer
from ingot.torch.judge.part import first_parting
from ingot.torch.judge.truth import OFF, Truth
from ingot.torch.python_state.restore import putting_back
from ingot.torch.python_state.snapshot import Snapshot
from ingot.torch.text.emit import HELD
from ingot.torch.tracing.calls import Subject
from ingot.torch.tracing.settings import in_mode
from ingot.torch.tracing.state import State, stored
from ingot.torch.tracing.unkept import known

Tensors = Mapping[str, torch.Tensor]
Shake = Callable[[torch.Tensor], torch.Tensor]

MOST_OUTPUTS = 4096  # of a bundle
WIDE_RUNS = 2  # in f64, of which what ops read and make is moved
SPARSE_AND_DENSE = "add(sparse, dense) is not supported"  # as PyTorch says
NOWHERE = "each op by itself does what PyTorch's does"
OTHERS = f"{NOWHERE}, and its function is further from them in f64 than rounding takes it: it does something else"


@dataclass(frozen=True)
class Case:
    """An entry point's function, and a session of its bundle that starts from the state as it is.

    `draws` says what its random ops draw, `state` gives the state as it is, `named` the leaves of what the
    function returns. `batches` has a tensor for each input with the step as first dimension; PyTorch reads `given`.
    """

    session: Session
    entry: str
    subject: Subject
    draws: Draws | FoundDraws
    training: bool
    state: Callable[[], State]
    named: Callable[[Any], dict[str, Any]]
    batches: Tensors
    given: Tensors
    steps: int


@dataclass
class Step:
    """What a step of the session started from, what it drew, its outputs, and the way that it went."""

    state: Tensors
    inputs: Tensors
    draws: list[list[torch.Tensor]]  # for each random op, tensors among which is what it drew
    outputs: dict[str, Any]
    way: Graph | None  # where it was found, and not traced, none is known


def verify(case: Case, unit: float, *, every: bool, shakes: int = SHAKES) -> Agreement:
    """Judges a session's steps by PyTorch's own, and by `shakes` with each f32 value moved by about `unit` of it.

    Where they differ and no op does, they are judged by the same steps in f64, from which both may be as far; and what
    is further is named where rounding within ops takes it there: PyTorch sums up in f64 within some, and what is zero
    but for rounding, as the gradient of a bias before a normalisation, is nearer to zero.

    Nothing but the session is changed. Raises Undecided where rounding alone decides, or random numbers do.
    """
    steps = _run_session(case)
    mine = _run_of([step.outputs for step in steps], _state_of(case.session))
    put_back = undoing(case.subject)  # Python is walked through once, however often the function runs

    def run(seed: int | None) -> Run:
        mode = in_mode(case.subject.state, case.training)
        with left_by(put_back), mode, sdpa_kernel(SDPBackend.MATH), torch.random.fork_rng(devices=[]):
            outputs = _run_eager(case, steps, shaken(seed, unit))
            last = {name: stored(tensor.detach()).clone() for name, tensor in case.state().tensors.items()}
        return _run_of([{name: row[name] for name in steps[0].outputs} for row in outputs], last)

    eager = run(None)
    mine = mine[0], {**eager[1], **mine[1]}  # also of what the program does not read
    runs = [run(seed) for seed in range(shakes)]
    agreement = judge(eager, runs, mine, _distance, every=every)
    if agreement.holds:
        return agreement
    if parting := _parting(case, steps):
        return dataclasses.replace(agreement, parting=parting)
    if any(step.way is None for step in steps):
        return agreement
    return _judged_by_truth(case, steps, [eager, *runs], mine, every)


def _judged_by_truth(case: Case, steps: Sequence[Step], runs: list[Run], mine: Run, every: bool) -> Agreement:
    """Judges by the same steps in f64; tensors that rounding within ops takes away from there are named.

    PyTorch's own steps, the first of the runs, show that these are the function's: rounding takes them no further.
    """
    truth = _run_truth(case, steps)
    rounded = [_run_truth(case, steps, seed) for seed in range(WIDE_RUNS)]
    if not (theirs := judge(truth, rounded, runs[0], _distance, every=every)).holds:
        return dataclasses.replace(theirs, parting=OTHERS)
    agreement = judge(truth, runs, mine, _distance, every=every)
    if agreement.holds:
        return agreement
    further = [name for name, ratio in agreement.tensors.items() if ratio > 1]
    wide = judge(truth, [*runs, *rounded], mine, _distance, every=every)
    if not wide.holds:
        rounded = [_run_truth(case, steps, seed, OFF) for seed in range(WIDE_RUNS)]
        wide = judge(truth, [*runs, *rounded], mine, _distance, every=every)
    if not wide.holds:
        return dataclasses.replace(wide, parting=NOWHERE)
    return dataclasses.replace(wide, by_rounding=tuple(dict.fromkeys([*further, *wide.by_rounding])))


def _run_truth(case: Case, steps: Sequence[Step], seed: int | None = None, units: float = 1) -> Run:
    defaults = {number.name: number.default for number in case.subject.changeable}
    truth = Truth(case.state().tensors, defaults, seed, units)
    outputs = []
    for step in steps:
        assert step.way is not None
        outputs.append(dict(zip(step.outputs, truth.step(step.way, step.inputs, step.draws), strict=True)))
    return _run_of(outputs, {name: stored(tensor) for name, tensor in truth.within_range().items()})


def _run_of(outputs: Sequence[Mapping[str, Any]], state: Tensors) -> Run:
    """Numbers of all steps; the last state, and the last step's other results beside it."""
    numbers = [float(value) for row in outputs for value in row.values() if torch.as_tensor(value).dim() == 0]
    last = {name: torch.as_tensor(value).detach() for name, value in outputs[-1].items()}
    return numbers, {**state, **{f"the output {n}": stored(value) for n, value in last.items() if value.dim()}}


def _run_session(case: Case) -> list[Step]:
    steps: list[Step] = []
    for i in range(case.steps):
        inputs = {name: stored(rows[i]) for name, rows in case.batches.items()}
        state = _state_of(case.session)
        way, drawn = case.draws(state, inputs)
        outputs = case.session.entries[case.entry](**inputs)
        if not outputs.pop(HELD, True):
            break
        steps.append(Step(state, inputs, drawn, outputs, way))
    if not steps:
        raise Undecided("its first step asks for values that are not as they were when it was traced")
    return steps


def _state_of(session: Session) -> Tensors:
    return {name: session.state.torch(name).clone() for name in session.state}


def shaken(seed: int | None, unit: float) -> Shake:
    """What moves f32 values at random; others, and all where there is no seed, it leaves as they are."""
    random = torch.Generator().manual_seed(seed or 0)

    def moved(tensor: torch.Tensor) -> torch.Tensor:
        if seed is None or tensor.dtype != torch.float32:
            return tensor
        return tensor * (1 + unit * torch.randn(tensor.shape, generator=random))

    return moved


def _run_eager(case: Case, steps: Sequence[Step], moved: Shake) -> list[dict[str, Any]]:
    """What the function returns at each step, given what the session drew."""
    subject = case.subject
    leaves, spec = pytree.tree_flatten(tuple(subject.example_args))
    positions = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    examples = [leaves[i] for i in positions]
    numbers = {number.name: number for number in subject.changeable if number.name in case.given}
    inputs = [rows for name, rows in case.given.items() if name not in numbers]
    results = []
    for i, step in enumerate(steps):
        with torch.no_grad():
            for name, tensor in subject.state.tensors.items():
                if not name.endswith(".step"):
                    tensor.copy_(moved(tensor))
        for name, number in numbers.items():
            number.set(case.given[name][i].item())
        for position, example, rows in zip(positions, examples, inputs, strict=True):
            leaves[position] = moved(rows[i]).requires_grad_(example.requires_grad)
        with Drawn(step.draws) if step.draws else nullcontext(), refused_by_pytorch():
            returned = subject.function(*pytree.tree_unflatten(leaves, spec))
        results.append({name: _kept(leaf) for name, leaf in case.named(returned).items()})
    return results


@contextmanager
def refused_by_pytorch() -> Iterator[None]:
    """Raises Undecided where PyTorch's step does not take slots that are dense in a program."""
    try:
        yield
    except RuntimeError as error:
        if SPARSE_AND_DENSE not in str(error):
            raise
        raise Undecided("PyTorch adds no dense momentum to a sparse gradient") from error


def _kept(leaf: Any) -> Any:
    return stored(leaf.detach()).clone() if isinstance(leaf, torch.Tensor) else leaf


def _parting(case: Case, steps: Sequence[Step]) -> str:
    """Where a step's ops part from PyTorch's first."""
    observers: dict[int, list[Observer]] = {}
    defaults = {number.name: torch.tensor(number.default, dtype=torch.float64) for number in case.subject.changeable}
    for step in steps:
        if step.way is None:
            continue
        given = {**defaults, **step.state, **step.inputs}
        if id(step.way) not in observers:
            observers[id(step.way)] = _observers(step.way)
        made: dict[torch.fx.Node, Any] = {}
        for observe in observers[id(step.way)]:
            made |= observe(step.state, step.inputs, made)
        found = first_parting(step.way, [given.get(port.name) for port in step.way.takes], made)
        if found:
            return found
    return ""


def _observers(way: Graph) -> list[Observer]:
    """What observes every op, as many together as a bundle has outputs, from what those before observed."""
    ops = way.ops
    starts = range(0, len(ops), MOST_OUTPUTS)
    return [Observer(way, ops[i : i + MOST_OUTPUTS], dict.fromkeys(ops[:i])) for i in starts]


@contextmanager
def undone(subject: Subject) -> Iterator[None]:
    """Tensors, gradients and what Python holds are as before afterwards."""
    with left_by(undoing(subject)):
        yield


@contextmanager
def left_by(put_back: Callable[[], None]) -> Iterator[None]:
    """Calls what puts back, whatever comes of what is within."""
    try:
        yield
    finally:
        put_back()


def undoing(subject: Subject) -> Callable[[], None]:
    """What puts back tensors, gradients and what Python holds as they are now, as often as it is called."""
    tensors = list(subject.state.tensors.values())
    before = [(t.data, t.detach().clone(), t.grad, _cloned(known(t.grad))) for t in tensors]
    trained = [tensor.requires_grad for tensor in tensors]
    put_back_objects = putting_back(Snapshot(subject.roots(), {}))

    def put_back() -> None:
        put_back_objects()
        for tensor, flag in zip(tensors, trained, strict=True):
            tensor.requires_grad_(flag)
        with torch.no_grad():
            for tensor, (data, value, grad, gradient) in zip(tensors, before, strict=True):
                tensor.data = data
                tensor.copy_(value)
                tensor.grad = grad
                if gradient is not None:
                    grad.copy_(gradient)

    return put_back


def _cloned(tensor: torch.Tensor | None) -> torch.Tensor | None:
    return None if tensor is None else tensor.clone()


def _distance(a: torch.Tensor, reference: torch.Tensor) -> float:
    """Relative L2 distance; absolute where the reference is zero, and infinite where it has another shape."""
    if a.shape != reference.shape:
        return math.inf
    a, reference = a.double(), reference.double()
    norm = reference.norm().item()
    return float((a - reference).norm()) / (norm if norm > 0 else 1)
