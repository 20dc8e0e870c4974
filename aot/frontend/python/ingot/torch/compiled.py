"""A training function that trains through ingot, in the process that it is in."""

from __future__ import annotations

import functools
import inspect
import os
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Literal

import torch

from ingot._engine import Error
from ingot.compiler import Math
from ingot.session import MAX_THREADS
from ingot.torch.auto_checkpoint import limit_of
from ingot.torch.base.errors import FirstStepDiffers, LeftToPyTorch, Raised, TraceError
from ingot.torch.base.keywords import ArgumentsRefused, Positions
from ingot.torch.base.parts import check_parts
from ingot.torch.base.raised import is_of_call
from ingot.torch.base.replacements import exclusive
from ingot.torch.base.torch_internals.modes import modes_around
from ingot.torch.base.tracebacks import shortened
from ingot.torch.buckets import Buckets
from ingot.torch.changes import Changes
from ingot.torch.comparisons import Comparisons
from ingot.torch.left_calls import LeftCalls
from ingot.torch.optimizers.wrapped import with_wrapped
from ingot.torch.program import Program, Substituted
from ingot.torch.python_state.repetition import Carried
from ingot.torch.run import Departed, DisagreementError, Options, Run, shapes_of
from ingot.torch.running.feed import IndicesOutside
from ingot.torch.running.redecorated import Programs, programs_of
from ingot.torch.runs import Runs
from ingot.torch.subjects import Model, Optimizer, Scheduler
from ingot.torch.tracer import Call, Tracer
from ingot.torch.tracing.containers import Changed
from ingot.torch.tracing.left_out import left_out

Step = Callable[..., Any]
NONE = object()  # no result


class RetraceRequired(Exception):
    """A call is to be traced again, with fewer numbers or checks of values."""


class CompiledStep(Substituted):
    """A function whose calls run a bundle. Arguments are tensors, floats, and values that are fixed for a program."""

    def __init__(
        self,
        function: Step,
        make_program: Callable[[bool], Program],
        options: Options,
        programs: Programs,
        optimizers: Sequence[torch.optim.Optimizer] = (),
    ) -> None:
        functools.update_wrapper(self, function)
        self._name = getattr(function, "__name__", type(function).__name__)
        self.function, self._options, self._programs = function, options, programs
        self._runs, self._left = Runs(function, programs, options.threads), LeftCalls(self._name, options, programs)
        self._comparisons = Comparisons(self._name, options, optimizers)
        self._trace = Tracer(self._name, make_program, options, programs, optimizers)
        self._parts = make_program, options, programs, optimizers
        self._bound: dict[int, CompiledStep] = {}  # by the id of their object, which they keep
        called = function.forward if isinstance(function, torch.nn.Module) else function
        self._positions = Positions(function, inspect.signature(called))
        self._by_position = self._positions.function
        self._changes = Changes(self._name, options, programs, self._runs, self._positions.signature)

    def __get__(self, owner: Any, _: Any = None) -> CompiledStep:
        """A function that is decorated in a class is a method of its objects."""
        if owner is None or not isinstance(self.function, types.FunctionType):
            return self
        if id(owner) not in self._bound:
            self._bound[id(owner)] = type(self)(types.MethodType(self.function, owner), *self._parts)
        return self._bound[id(owner)]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs once; the first call, and one of other shapes or with other values that are fixed, traces before.

        Raises TraceError for what cannot be compiled, DisagreementError where the program does something else; what
        the function itself raises in PyTorch: such a call is PyTorch's.
        """
        if modes := modes_around():
            if self._programs.is_first(modes[0]):
                warnings.warn(f"{self._name}: calls are PyTorch's while {modes[0]}", stacklevel=2)
            return self.function(*args, **kwargs)
        if self._runs.same:
            self._runs.drop_others()
        self._comparisons.calls += 1
        departed: list[Run] = []
        try:
            given = self._positions.of(args, kwargs) if kwargs or self._positions.has_keywords else args
            result = self._by_latest(given, departed)
            if result is NONE:
                result = self._compiled(given, departed)
            return result.write(given) if type(result) is Changed else result
        except (ArgumentsRefused, IndicesOutside):
            pass
        except Error as error:
            raise shortened(error)  # noqa: B904  (it has its cause)
        return self.function(*args, **kwargs)  # which raises the error, in no other's handler

    def _by_latest(self, args: tuple[Any, ...], departed: list[Run]) -> Any:
        """The result of the latest program, or NONE if the call is not of this program or `departed` from it."""
        latest = self._runs.latest
        if not latest or (tensors := latest.taken(args)) is None or not latest.holds():
            return NONE
        if not self._comparisons.still_agrees(latest, tensors):
            self._runs.drop(latest)
            return NONE
        try:
            return latest(tensors, are_taken=True)
        except Departed:
            departed.append(latest)
            return NONE

    def _compiled(self, args: tuple[Any, ...], departed: list[Run]) -> Any:
        """What a call gives that is not seen at once to be of the latest program, or has `departed` from it."""
        call = self._trace.call_of(args, self._positions)
        if any(run.is_checked for run in departed):
            return self._by_position(*call.given)
        self._runs.drop_ended()
        while True:
            run = self._runs.fitting(call.key, departed)
            if run is None and (self._changes.are_too_many(call) or self._left.are_all(call.key)):
                return self._by_position(*call.given)
            refusal: TraceError | None = None
            is_fatal = self._options.on_change == "error" or not (self._runs.have_run or self._left)
            with nullcontext() if run else exclusive():
                run = run or self._runs.fitting(call.key, departed)  # of another thread, until now
                is_new = run is None
                try:
                    run = run or self._new_run(call)
                    if run is None or shapes_of(call.unpadded) in run.differing:
                        return self._by_position(*call.given)
                    if is_new or self._comparisons.still_agrees(run, call.tensors):
                        return self._ran(run, call)
                    self._runs.drop(run)
                except Departed:
                    assert run is not None
                    if run.is_checked:
                        return self._by_position(*call.given)
                    if is_new and is_fatal:
                        raise run.rounded() from None
                    refusal = run.rounded() if is_new else None
                    departed.append(run)
                except DisagreementError as error:
                    assert run is not None
                    self._leave_to_pytorch(run, call, error)
                except RetraceRequired:
                    call = self._trace.call_of(args, self._positions)
                except TraceError as error:
                    if is_fatal and not isinstance(error, LeftToPyTorch):
                        raise
                    refusal = error
            if refusal:
                return self._refused(call, refusal)

    def _new_run(self, call: Call) -> Run | None:
        """A program that is traced for a call; None where the call is PyTorch's, as later ones may be alike."""
        change = self._changes.of(call)
        if self._runs and self._trace.adapts(call, self._runs.keys):
            raise RetraceRequired
        reads_more = bool(change) and self._trace.reads(call, self._runs.changed_numbers(call.key))
        try:
            run = self._trace(call, change or "the first call")
            self._changes.say_traced_again(change, reads_more)
            return run
        except FirstStepDiffers:  # from the state that it makes on, steps are alike
            return None
        except Carried as error:
            self._left.add_first(call.key, error)
            return None
        except TraceError as error:
            if is_of_call(error.__cause__) or not self._trace.reads_less(call):
                raise
            raise RetraceRequired from None

    def _refused(self, call: Call, error: TraceError) -> Any:
        """A call in PyTorch, as it cannot be traced after others were, or as it raises: PyTorch raises the error."""
        result = self._by_position(*call.given)
        if isinstance(error, Raised):
            self._trace.reads_less(call)
        self._left.add_refused(call.key, error)
        return result

    def _ran(self, run: Run, call: Call) -> Any:
        """What a program gives, which is compared before with PyTorch on arguments of other shapes."""
        run.refuse_arguments(call.unpadded)
        self._comparisons.with_new_shapes(run, call)
        self._runs.add(run)
        self._runs.latest = run
        self._left.end()
        return run(call.tensors)

    def _leave_to_pytorch(self, run: Run, call: Call, error: DisagreementError) -> None:
        """Keeps a training going whose later calls differ; the first call raises, before anything is trained.

        It does not raise if the program was traced without some arguments, as it may differ by these.
        """
        if self._options.on_change == "error" or not (self._runs.have_run or left_out(call.args)):
            raise error
        run.differing.append(shapes_of(call.unpadded))
        self._runs.add(run)
        what = f"{self._name}: calls with arguments of these shapes are PyTorch's from now on"
        warnings.warn(f"{what}: {error}", stacklevel=4)

    @property
    def programs(self) -> int:
        """How many programs there are: one for each set of shapes and of values that are fixed."""
        return len(self._runs)

    @property
    def memory_bytes(self) -> int:
        """What its last program holds: state, and the arena of a call; 0 before the first call."""
        return self._runs.latest.memory_bytes if self._runs.latest else 0

    def state_dict(self) -> dict[str, Any]:
        """State for a checkpoint, in addition to models and optimizers: with ``seed=...``, the calls so far."""
        return self._programs.random.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from what `state_dict` gave."""
        self._programs.random.load_state_dict(state)

    def explain(self) -> str:
        """The step's programs as text: why each was made, what it holds and watches, and the seconds that it took."""
        lines = [f"{self._name}: {self.programs} program{'s' * (self.programs != 1)}"]
        lines += [f"  {i}. {account}" for i, account in enumerate(self._runs.accounts, 1)]
        return "\n".join([*lines, *self._left.lines()])

    def roofline(self) -> str:
        """Measures the machine's peaks and each kernel of the last program: time, GFLOP/s, GB/s, and what bounds it.

        Takes some seconds, as it compiles and measures on random inputs. Raises RuntimeError before the first call.
        """
        if not self._runs.latest:
            raise RuntimeError(f"{self._name} has no program yet: call it once, then ask for the roofline")
        return self._runs.latest.source.roofline(self._options.threads)


class PyTorchsStep(CompiledStep):
    """A step that is not compiled: it has what a compiled one has, and calls the function."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function."""
        return self.function(*args, **kwargs)

    def explain(self) -> str:
        """That it is not compiled."""
        return f"{self._name}: all calls are PyTorch's, as enabled=False or INGOT=0 say"


def compile(
    function: Step,
    model: Model,
    optimizer: Optimizer = None,
    scheduler: Scheduler = None,
    *,
    total_steps: int | None = None,
    keep_gradients: bool = False,
    seed: int | None = None,
    enabled: bool | None = None,
    threads: int | None = 1,
    training: bool = True,
    verify: bool = True,
    spot_checks: bool = True,
    on_change: Literal["retrace", "error"] = "retrace",
    target: str = "host",
    buckets: Buckets | None = None,
    memory_limit: int | str | None = None,
    micro_batches: int | str | None = None,
    math: Math = "standard",
) -> Step:
    """A training function that runs as a bundle in this process, on the live model and optimizer.

    From the first call on, parameters, buffers and slots lie in the bundle's memory: ``state_dict()``, evaluation in
    PyTorch and checkpoints see what is trained. Gradients have no values there, which whoever asks for them is told,
    unless `keep_gradients`. The first call traces, compiles, and compares some steps with PyTorch (`verify`), which is
    given what random ops drew. `spot_checks` compares calls 1,000, 2,000, 4,000 and so on again, in at most 1 % of the
    time: a program that differs from PyTorch is traced again with a warning. Arguments of other shapes, and whatever
    else is fixed in a program and changes, are traced and compared again with one warning, or with `on_change="error"`
    refused; `buckets` pads batches.
    Steps run on `threads`, None for as many as PyTorch's ops do, with the same bits for any number.
    Each call draws the seed of its random ops from PyTorch's generator, or counts calls from a `seed` of its own.
    `memory_limit` is that of `ingot.compile`, for a call: what does not fit is computed again, to the same bits;
    without, it is what `auto_checkpoint` said of the model. So are `micro_batches` and `math`. With `enabled` false, or
    INGOT=0 in the environment, it calls the function itself.
    """
    if not callable(function) or isinstance(function, type):
        raise TypeError(f"what is compiled is a {type(function).__name__}, and is to be a function")
    check_parts(model, optimizer, scheduler)
    if seed is not None and type(seed) is not int:
        raise TypeError(f"seed is {seed!r}, and is to be an integer, or None to follow PyTorch's generator")

    def make_program(are_gradients_kept: bool) -> Program:
        how = functools.partial(Program, model, optimizer, scheduler, total_steps=total_steps, is_open=True)
        return how(keep_gradients=keep_gradients or are_gradients_kept, seed=seed or 0)

    limit = memory_limit if memory_limit is not None else limit_of(model) if training else None
    threads = min(torch.get_num_threads(), MAX_THREADS) if threads is None else threads
    options = Options(threads, training, verify, spot_checks, on_change, target, buckets, limit, micro_batches, math)
    parts = model, optimizer, scheduler, total_steps, keep_gradients, seed, options
    optimizers = [*with_wrapped(optimizer).values()]
    is_off = enabled is False or (enabled is None and os.environ.get("INGOT") == "0")
    kind = PyTorchsStep if is_off else CompiledStep
    return kind(function, make_program, options, programs_of(function, model, optimizer, parts, seed), optimizers)


def step(
    model: Model, optimizer: Optimizer = None, scheduler: Scheduler = None, **options: Any
) -> Callable[[Step], Step]:
    """`compile` as a decorator: ``@ingot.torch.step(model, optimizer)``."""
    if inspect.isroutine(model):
        raise TypeError("the decorator is given the model: @ingot.torch.step(model, optimizer)")
    check_parts(model, optimizer, scheduler)
    return lambda function: compile(function, model, optimizer, scheduler, **options)
