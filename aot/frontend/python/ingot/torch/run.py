"""A program of a compiled function, run over the live model and optimizer."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch

from ingot._engine import Error
from ingot.compiler import Math
from ingot.session import Session
from ingot.torch.account import Account
from ingot.torch.base.errors import TraceError, of_contract
from ingot.torch.base.torch_internals import pytree, same_settings
from ingot.torch.base.torch_internals.modes import is_profiled
from ingot.torch.buckets import Buckets
from ingot.torch.numbers.index_checks import INDICES_WITHIN
from ingot.torch.program import Program
from ingot.torch.python_state.aliases import refuse_arguments
from ingot.torch.running.apart import Apart
from ingot.torch.running.captured import Captured
from ingot.torch.running.feed import Feed, profiled
from ingot.torch.running.guard import Guard
from ingot.torch.running.live import Live
from ingot.torch.running.python_numbers import PythonNumbers
from ingot.torch.running.random_keys import RandomKeys
from ingot.torch.running.results import Results
from ingot.torch.running.source import Source
from ingot.torch.text.emit import HELD
from ingot.torch.tracing.kept_gradients import LiveGradients
from ingot.torch.tracing.state import stored
from ingot.torch.tracing.unkept import UnkeptGradients, mark_arguments, refuse_gradients, refuse_made

LOG = logging.getLogger(__name__)
ENTRY = "step"
VERIFIED_STEPS = 3
# Times what rounding allows, of a program that another process traced: what rounding does to its ops is not known here.
# A gradient that is 0 but for rounding, as of the bias of an attention's keys, was up to 8 times as far as PyTorch's.
FOUND_TOLERANCE = 100
Shapes = list[torch.Size]


class DisagreementError(Error, RuntimeError):
    """The compiled steps give other numbers than PyTorch."""


@dataclass(frozen=True)
class Options:
    """How functions are compiled, and what is done when they change."""

    threads: int = 1
    training: bool = True
    verify: bool = True
    spot_checks: bool = True
    on_change: Literal["retrace", "error"] = "retrace"
    target: str = "host"
    buckets: Buckets | None = None
    memory_limit: int | str | None = None
    micro_batches: int | str | None = None
    math: Math = "standard"

    def __post_init__(self) -> None:
        """Raises ValueError for a value that is none of an option's."""
        _check("on_change", self.on_change, ("retrace", "error"))
        _check("math", self.math, get_args(Math))
        if type(self.threads) is not int or self.threads < 1:
            raise ValueError(f"threads is {self.threads!r}, and is to be a number of threads")
        if self.buckets and not self.verify:
            raise ValueError("steps with buckets are compared with PyTorch's: leave verify on")

    def of_bundle(self, entry: str) -> dict[str, Any]:
        """The options of `ingot.compile`."""
        wanted = {"memory_limit": self.memory_limit, "micro_batches": self.micro_batches}
        memory = {name: {entry: value} for name, value in wanted.items() if value is not None}
        return {"target": self.target, "math": self.math, **memory}


class Departed(Exception):
    """A program was run where values that Python asked for were others than when it was traced: it changed nothing."""


class Run:
    """One program of a function: what it was traced with, and its bundle over the live state."""

    guard: Guard
    account: Account
    _live: Live
    keep: Callable[[], None] | None = None  # what keeps its trace for other processes

    def __init__(
        self,
        program: Program,
        key: Any,
        options: Options,
        random: RandomKeys,
        apart: Apart | None = None,
        others: Iterable[Run] = (),
    ) -> None:
        """`apart` finds the tensors among a call's arguments: without, those of the program's example do.

        `others` are runs whose memory of the state it may have.
        """
        self.key = key
        self.has_departed = False  # in its last run
        self._program, self._traced = program, program.traced[ENTRY]
        self._subject = self._traced.subject
        self.is_checked = self._traced.is_checked  # by code that raises where it departs
        self.verified: list[Shapes] = []  # shapes of arguments as they were given
        self.differing: list[Shapes] = []  # those for which it is not what PyTorch does
        self._is_padded = options.buckets is not None
        checks = {f"{INDICES_WITHIN}{i}": text for i, text in enumerate(self._traced.checks)}
        self.source = Source(ENTRY, program.texts | checks, options.of_bundle(ENTRY))
        self._bundle = self.source.bundle()
        self._tensors = self._subject.state.tensors | random.tensors
        self._random, self._generators = random, self._traced.generators
        modules = (module for model in self._subject.state.models.values() for module in model.modules())
        lives = (other._live for other in others)
        self._live = Live(self._bundle, options.threads, self._tensors, lives, modules)
        self._written = {name: self._tensors[name] for name in self._traced.written}
        self._untouched = {id(self._tensors[name]) for name in self._traced.untouched}
        numbers = {number.name: number for number in self._subject.changeable}
        given = [row["name"] for row in self._traced.inputs if row["name"] not in numbers]
        self._captured = Captured(self._traced.captures)
        examples = tensors_of(self._subject.example_args)
        self._feed = Feed(self._live.session, ENTRY, given, examples, self._captured, numbers, [*checks])
        self._unkept = UnkeptGradients(self._traced.gradients, self._tensors)
        self._argument_gradients = self._traced.argument_gradients
        self._used_gradients = {name: self._tensors[name] for name in self._traced.used_gradients}
        self.gradients = LiveGradients(self._subject.state, self._tensors, self._traced.kept_gradients)
        self._apart = apart or Apart(self._subject.example_args)
        self._shapes = shapes_of(examples)
        self._absent = self._traced.absent
        self._results = Results(self._traced.returned, self._tensors, is_padded=self._is_padded)
        self._numbers = PythonNumbers(self._subject, self._traced.computed, self._tensors, self._live.names)
        self._is_more = bool(
            self._captured
            or self._used_gradients
            or self._argument_gradients
            or self._numbers
            or self._subject.state.keep_gradients
            or any(port.name == HELD for port in self._live.session.entries[ENTRY].outputs)
        )
        self._settings_stay: Callable[[], bool] = lambda: False

    def holds(self) -> bool:
        """Whether all that is fixed in it is as it was."""
        if not (self._live.fits() and self.guard.holds()):
            return False
        return not self._is_more or (
            self._captured.hold()
            and not self._live.overlaps(self._captured())
            and self._numbers.are_in_tables()
            and self.gradients.hold()
        )

    def uses(self, slot: Any) -> bool:
        """Whether the program reads or changes what an optimizer holds; what is no tensor it may."""
        return not isinstance(slot, torch.Tensor) or id(slot) not in self._untouched

    @property
    def is_over(self) -> bool:
        """Whether it has no more rates of a scheduler."""
        return self._numbers.are_over

    @property
    def places(self) -> list[tuple[int, Any]]:
        """The places in Python of numbers that the program carries, and of tensors that it captures."""
        return [*self._numbers.places, *self._captured.places]

    @property
    def memory_bytes(self) -> int:
        """State, and the arena of a call."""
        return self._bundle.state_bytes + self._bundle.arena_bytes

    def taken(self, args: tuple[Any, ...]) -> tuple[torch.Tensor, ...] | None:
        """The tensors of a call's arguments, where these are seen at once to be of its program.

        With buckets a batch that fills one is compared first, as others are.
        """
        tensors = self._apart(args)
        are_taken = (
            tensors is not None
            and self._feed.takes(tensors)
            and (not self._is_padded or self._shapes in self.verified)
            and (self._settings_stay() or self._is_set_alike())
            and not (self._absent and any(self._absent & {*vars(x)} for x in tensors))
            and not any(map(self._live.is_inside, map(torch.Tensor.data_ptr, tensors)))
        )
        return tensors if are_taken else None

    def refuse_arguments(self, arguments: Sequence[torch.Tensor]) -> None:
        """Raises TraceError for an argument in the memory of state that the program changes."""
        if self._live.overlaps(arguments) or not self._live.holds_state():
            refuse_arguments(arguments, self._written)

    def _is_set_alike(self) -> bool:
        """Whether PyTorch is set as it was, in all that is fixed in a program."""
        if settings() != self.key[1]:
            return False
        self._settings_stay = same_settings()
        return True

    def __call__(self, arguments: tuple[torch.Tensor, ...], are_taken: bool = False) -> Any:
        """Runs on the live state; `are_taken` says that these are tensors that it takes."""
        marked, missing = self._begin(arguments) if self._is_more else ({}, ())
        if self._generators:
            self._random.begin_call(self._generators)
        self._live.take_in()
        outputs = (profiled(self._feed, self.account.step) if is_profiled() else self._feed)(arguments, are_taken)
        self._live.written()
        if self._is_more:
            self._end(outputs, missing)
        self._unkept.stand()
        if marked:
            mark_arguments(marked)
        return self._results(outputs, arguments)

    def _begin(self, arguments: tuple[torch.Tensor, ...]) -> tuple[dict[str, torch.Tensor], Container[str]]:
        """Takes in what Python holds beside tensors of the state.

        Gives the arguments that get gradients, by name, and the names of parameters whose kept gradients are None.
        """
        refuse_gradients(self._used_gradients)
        marked = {self._traced.inputs[i]["name"]: arguments[i] for i in self._argument_gradients}
        refuse_made(marked)
        self._take_numbers()
        return marked, self.gradients.take()

    def _end(self, outputs: dict[str, torch.Tensor], missing: Container[str]) -> None:
        """Leaves in Python what a step has changed there; raises Departed where it changed nothing."""
        self.has_departed = not outputs.pop(HELD, True)
        if self.has_departed:
            raise Departed
        self._numbers.leave()
        self.gradients.leave(missing)

    def _take_numbers(self) -> None:
        """Copies Python's numbers into the state; raises Departed if the program cannot compute with them."""
        if not self._numbers.take():
            raise Departed

    def rounded(self) -> TraceError:
        """The error where values are others in the program as soon as it was traced."""
        if limited := self._numbers.computed.limited:
            what = f"Python computes integers of what a tensor gives at {limited[0]}, which is too large for 64 bits"
            return TraceError(what, fix="compute with floats, or keep it small: n % 1_000_003")
        what = f"Python asks for values of tensors at {self._traced.asked[0]}, which rounding or random numbers decide"
        return TraceError(f"{what}: in the program they are others", fix="compute with tensors, torch.where")

    def change(self) -> str:
        """Why it is not enough."""
        asked = "Python would be given other values of tensors" if self.has_departed else ""
        shared = "a tensor that is read is in the memory of the state" if self._live.overlaps(self._captured()) else ""
        of_values = self._captured.change() or shared or self._numbers.change()
        changes = of_contract(self._live.change() or self.gradients.change(), 2) or of_contract(of_values, 4)
        return changes or of_contract(asked, 5) or of_contract(self.guard.change(), 4)

    def compare(self, name: str, arguments: Sequence[torch.Tensor], given: Sequence[torch.Tensor], steps: int) -> None:
        """Compares so many steps; raises DisagreementError, Undecided where PyTorch cannot be given what was drawn."""
        refuse_gradients(self._used_gradients)
        self._take_numbers()
        self.gradients.take()
        steps = self.gradients.steps(self._numbers.computed.calls(self._numbers.values(), steps))
        session = Session(self._bundle)
        for state in session.state:
            session.state[state] = stored(self._tensors[state].detach())
        names = [row["name"] for row in self._traced.inputs]
        captured = [tensor.resolve_conj() for tensor in self._captured()]
        batches, as_given = (
            dict(zip(names, map(_repeated, (*tensors, *captured)), strict=False)) for tensors in (arguments, given)
        )
        how: dict[str, Any] = {"session": session, "as_given": as_given, "steps": steps, "is_in_part": True}
        agreement = self._program.verify(batches, ENTRY, **how)
        if agreement.steps:
            self.account.part = f"{agreement.steps} of {steps} steps was compared, as they are slow"
        if agreement.by_rounding:
            LOG.info("%s %s", name, agreement)
            if agreement.parting:
                warnings.warn(f"{name} {agreement}", stacklevel=6)
        if not agreement.holds_within(1 if self._traced.graphs else FOUND_TOLERANCE):
            raise DisagreementError(f"{name} is not what PyTorch does: it {agreement}; verify=False takes it as it is")


def _check(option: str, value: Any, known: Sequence[str]) -> None:
    if value not in known:
        raise ValueError(f"{option} is {value!r}, and is to be {' or '.join(map(repr, known))}")


def tensors_of(tree: Any) -> tuple[torch.Tensor, ...]:
    """The tensors in a tree."""
    return tuple(leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor))


def _repeated(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().expand(VERIFIED_STEPS, *tensor.shape)


def shapes_of(tensors: Sequence[torch.Tensor]) -> Shapes:
    """Their shapes."""
    return [tensor.shape for tensor in tensors]


SETTINGS = (
    *("torch.is_grad_enabled()", "torch.is_inference_mode_enabled()", "torch.get_default_dtype()"),
    *("torch.is_autocast_enabled('cpu')", "torch.get_autocast_dtype('cpu')"),
    "torch.are_deterministic_algorithms_enabled()",
)  # what `settings` gives


def settings() -> tuple[Any, ...]:
    """What PyTorch is set to that is fixed in a program."""
    autocast = torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
    gradients = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
    return *gradients, torch.get_default_dtype(), *autocast, torch.are_deterministic_algorithms_enabled()
