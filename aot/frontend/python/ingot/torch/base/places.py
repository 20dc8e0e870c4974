"""Which line of the user's source, and which module, each traced op comes from."""

from __future__ import annotations

import copy
import itertools
import os
import re
import sys
import traceback
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any

import torch
from torch.fx import traceback as fx_traceback
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from ingot.stablehlo import Place
from ingot.torch.base.errors import Raised, TraceError
from ingot.torch.base.files import FRAMEWORK_FILES, GENERATED, STANDARD_LIBRARY, is_users
from ingot.torch.base.function_modes import FunctionMode
from ingot.torch.base.mixed import refuse_mixed_types
from ingot.torch.base.per_thread import PerThread
from ingot.torch.base.raised import raise_as_pytorch
from ingot.torch.base.replacements import replaced
from ingot.torch.base.streams import are_counted, next_stream
from ingot.torch.base.torch_internals import constants_of, pytree
from ingot.torch.base.torch_internals.fake_tensors import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
)
from ingot.torch.base.torch_internals.modes import (
    TorchDispatchMode,
    current_autograd_node,
    next_sequence_number,
    no_modes,
)
from ingot.torch.base.torch_internals.ops import LAYOUT

KEY, DRAW, COMPOSITE = "ingot_place", "ingot_draw", "ingot_composite"
OF_DATACLASSES = "__create_fn__"  # begins the names of functions that classes of data are given
OF_MAKE_FX = {"fn", "__builtins__"}  # the variables of the function by which make_fx calls what it traces
TRACE_LINE = re.compile(r'File "([^"]+)", line (\d+)')  # of a stack trace's text
COLLECTIVES = ("c10d", "_c10d_functional", "c10d_functional")  # namespaces of ops between processes
BY_GENERATOR = {"generator": "default", "low_generator": "low"}  # overloads, and those of torch's own generator
HOOKS = ("_forward_pre_hooks", "_forward_hooks", "_forward_hooks_always_called")  # of modules
# By these Python reads the values of a tensor itself, without an op.
READERS = (torch.Tensor.tolist, torch.Tensor.numpy, torch.Tensor.__array__, torch.Tensor.__dlpack__)

COMPUTED = (torch.SymInt, torch.SymFloat, torch.SymBool, torch.Tensor)  # what programs compute
# Errors of ops and of numbers: a program cannot do what PyTorch does.
REFUSALS = (TraceError, GuardOnDataDependentSymNode, DataDependentOutputException, DynamicOutputShapeException)

Run = Callable[[Any, Any, Any], Any]  # an op, its arguments, and those with names


def _run(func: Any, args: Any, kwargs: Any) -> Any:
    return func(*args, **kwargs)


class Places(TorchDispatchMode):  # type: ignore[misc]  # torch is not checked
    """Notes the place of every op for the graph's nodes; those of backward have the place of their forward op.

    Of random ops it also notes the stream, and which of them it is: what they are taken apart into belongs together;
    of ops within a composite, its name and which of them it is.
    """

    def __init__(self, capture: bool, constants: Container[int], is_guarded: bool = False, run: Run = _run) -> None:
        """`run` calls an op.

        Where a program is guarded, tensors at `paths` may be constants, as their values are compared before each call.
        """
        super().__init__()
        self._run = run
        self.modules: list[str] = []
        self.last: Place | None = None
        self.paths: Mapping[int, tuple[str, Any]] = {}  # of tensors that the function reaches, by identity
        self.drawn: list[list[tuple[int, Place | None]]] = []  # by each call: where generators were
        self.generators: list[torch.Generator | None] = []  # of each draw; None: the default one
        self._capture, self._is_guarded = capture, is_guarded
        self.read: dict[int, torch.Tensor] = {}  # by identity: tensors with values
        self.asked: set[int] = set()  # those whose values Python asked for, by identity
        self._constants = constants  # tensors that may be read without being asked for, by identity
        self._forward: dict[int, Place] = {}
        self._draws = itertools.count(1)
        self._composites = itertools.count(1)
        self._composite: tuple[str, int] | None = None

    @contextmanager
    def composite(self, name: str) -> Iterator[None]:
        """Ops until it is left are of one composite; within another they are of that one."""
        if self._composite:
            yield
            return
        self._composite = (name, next(self._composites))
        self._note()
        try:
            yield
        finally:
            self._composite = None
            self._note()

    def _note(self, draw: tuple[int, int] | None = None) -> None:
        """Says what the nodes that follow come from; also those of arithmetic with numbers, which are no ops here."""
        fx_traceback.current_meta["custom"] = {KEY: self.last, DRAW: draw, COMPOSITE: self._composite}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        place = self._place()
        self.last = place or self.last
        if func.namespace in COLLECTIVES:
            raise TraceError(
                f"{func.name()} is of several processes, and a program of one", place, "train in one process"
            )
        is_random = torch.Tag.nondeterministic_seeded in func.tags
        kwargs = kwargs or {}
        self._note(self._draw(kwargs.get("generator")) if is_random else None)
        if "generator" in kwargs:
            func = getattr(func._overloadpacket, BY_GENERATOR.get(func._overloadname, func._overloadname))
            kwargs = {name: value for name, value in kwargs.items() if name != "generator"}
        for value in pytree.arg_tree_leaves(*args, **kwargs):
            if isinstance(value, torch.Tensor):
                self._refuse_layout(value, func, place)
                if func.name() != "aten::lift_fresh":
                    self.note_read(value, func.name(), place)
        if torch.Tag.data_dependent_output in func.tags:
            self.asked.update(map(id, constants_of(args)))
        if func is torch.ops.aten.equal.default:  # also where PyTorch's own code asks whether something holds
            return args[0].shape == args[1].shape and bool(torch.eq(*args).all())
        return self._ran(func, args, kwargs, place)

    def _ran(self, func: Any, args: Any, kwargs: Any, place: Place | None) -> Any:
        """Runs an op. If it fails, raises PyTorch's own error."""
        try:
            refuse_mixed_types(func, args, kwargs, place)
        except TraceError:
            if self._is_guarded:
                raise_as_pytorch(func, args, kwargs)
            raise
        try:
            return self._run(func, args, kwargs)
        except REFUSALS:
            raise
        except Exception:
            raise_as_pytorch(func, args, kwargs)
            raise

    def _refuse_layout(self, operand: torch.Tensor, func: Any, place: Place | None) -> None:
        """Raises TraceError for an operand whose layout no program has."""
        if (layout := LAYOUT.__get__(operand)) is not torch.strided and _gives_tensors(func):
            called = self._called(operand)
            what = f"{func.name()} reads {called}, whose layout is {layout}, and a program's is strided"
            raise TraceError(what, place, "compute with its to_dense(); sparse gradients of embeddings are taken")

    def note_read(self, operand: torch.Tensor, reader: str, place: Place | None) -> None:
        """Notes an operand with values; raises TraceError for one that no program has."""
        if isinstance(operand, FakeTensor):
            return
        is_trained = operand.requires_grad and torch.is_grad_enabled()
        is_compared = self._is_guarded and id(operand) in self.paths and not is_trained
        if not self._capture and not is_compared and id(operand) not in self._constants:
            what = f"{reader} reads {self._called(operand)}, which is neither an argument nor state"
            keep = "" if self._is_guarded else "; add(..., capture=True) keeps its value as a constant"
            path, _ = self.paths.get(id(operand), ("", None))
            if operand.grad_fn is not None:
                what += ": it was computed before the call, and has gradients"
                raise TraceError(what, place, of_graph(path), 1)
            raise TraceError(what, place, f"pass it as an argument, or {to_be_state(path, operand)}{keep}", 1)
        self.read[id(operand)] = operand

    def note_asked(self, operand: torch.Tensor, reader: str) -> None:
        """Notes a tensor with values, which Python reads without an op."""
        self.note_read(operand, reader, user_place())
        self.asked.add(id(operand))

    def _called(self, tensor: torch.Tensor) -> str:
        """What the user's code calls a tensor, and its type."""
        path = self.paths.get(id(tensor), ("",))[0]
        name = path or named_in(user_frame(sys._getframe(3)), tensor)
        return f"{f'the tensor `{name}`' if name else 'a tensor'} ({tensor.dtype} {tuple(tensor.shape)})"

    def _draw(self, generator: torch.Generator | None) -> tuple[int, int]:
        """Which random numbers an op draws; each call must draw others."""
        stream, seed = next_stream(generator)
        self.drawn[-1].append((seed, self.last))
        self.generators.append(None if generator is torch.default_generator else generator)
        return stream, next(self._draws)

    def begin_call(self) -> None:
        """Says that a call begins."""
        self.drawn.append([])

    def draws_on(self) -> bool:
        """Whether a call that follows draws other random numbers than the first, as its generator only counts."""
        return not any(self.generators) and are_counted({seed for seed, _ in self.drawn[0]})

    def refuse_repeated_draws(self) -> None:
        """Raises TraceError where both calls drew the same random numbers."""
        for calls in itertools.pairwise(self.drawn):
            for (first, place), (second, _) in zip(*calls, strict=False):
                if first == second:
                    what = "each call draws the same random numbers, as a generator is seeded or put back, or made anew"
                    fix = "draw without that: a program's seed is Program(..., seed=...); or draw before, and pass it"
                    raise TraceError(what, place, fix, 7)

    def _place(self) -> Place | None:
        node = current_autograd_node()
        if node is not None and node._sequence_nr() in self._forward:
            return self._forward[node._sequence_nr()]
        place = user_place(self.modules[-1] if self.modules else "")
        if place is None:
            return None
        # An op's node of the autograd graph is made, and numbered, just before the op itself runs.
        self._forward.setdefault(next_sequence_number() - 1, place)
        return place


class Reading(FunctionMode):
    """Notes tensors whose values Python reads without an op."""

    def __init__(self, places: Places) -> None:
        super().__init__()
        self._places = places

    def _called(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func not in READERS or isinstance(args[0], FakeTensor):
            return func(*args, **kwargs)
        self._places.note_asked(args[0], f"{func.__name__}()")
        with no_modes():
            return func(*args, **kwargs)


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame of the user's code."""
    while frame and not is_users_code(frame):
        frame = frame.f_back
    return frame


def named_in(frame: FrameType | None, value: Any) -> str:
    """The name of a value in a frame: of a variable, or of an attribute of `self`. Empty if it has none."""
    names = {**frame.f_globals, **frame.f_locals} if frame else {}
    of_self = getattr(names.get("self"), "__dict__", {})
    names |= {f"self.{name}": held for name, held in of_self.items()}
    return next((name for name, held in names.items() if held is value), "")


def is_users_code(frame: FrameType) -> bool:
    """Whether a frame's code belongs neither to PyTorch, nor to Python, nor to this package."""
    file = frame.f_code.co_filename
    if file.startswith("<"):
        if file.startswith(GENERATED) or frame.f_code.co_qualname.startswith(OF_DATACLASSES):
            return False
        if frame.f_globals.keys() <= OF_MAKE_FX:
            return False
        file = frame.f_globals.get("__file__") or file
    return not file.startswith(FRAMEWORK_FILES) and (not file.startswith(STANDARD_LIBRARY) or "-packages" in file)


def user_place(module: str = "") -> Place | None:
    """The user's line that runs."""
    frame = user_frame(sys._getframe(1))
    return place_in(frame, module) if frame else None


def place_in(frame: FrameType, module: str = "") -> Place:
    """The line at which a frame is."""
    return Place(short(frame.f_code.co_filename), frame.f_lineno, module)


def to_be_state(path: str, tensor: torch.Tensor) -> str:
    """What makes a tensor at a path part of the state."""
    if ".state[" in path:
        return "give the optimizer that it is of, too: {'outer': ..., 'inner': ...}"
    if isinstance(tensor, torch.nn.Parameter):
        return "give the model that it is of, too: {'outer': ..., 'inner': ...}"
    if tensor.requires_grad:
        return "make it a torch.nn.Parameter of the model, such as torch.nn.ParameterList"
    return "register it as a buffer of the model"


def of_graph(path: str) -> str:
    """Advice for a tensor, at a path, that a model computed with gradients before the call."""
    model = path.partition(".")[0] if re.match(r"\w+\.", path) else "model"
    model = "model" if model == "self" else model
    return (
        f"compute it in the function; or leave the function to PyTorch, and compile the model that computes it: "
        f"{model} = ingot.torch.partial({model})"
    )


@contextmanager
def only_trace_errors() -> Iterator[None]:
    """Turns other errors into TraceErrors, with the user's line at which they were raised."""
    try:
        yield
    except TraceError:
        raise
    except AttributeError as error:
        if isinstance(error.obj, torch.SymFloat | torch.SymInt):
            what = f"`{error.name}` is of tensors, and asked of a number that the program takes or computes"
            raise Raised(what, user_line(error), "compute another number: rate = rate * 0.9") from error
        if not isinstance(error.obj, torch.Tensor):
            raise Raised(f"AttributeError: {error}", user_line(error)) from error
        what = f"`{error.name}`, an attribute of a tensor, is not there while the function is traced"
        raise Raised(what, user_line(error), "keep it in a dict by the tensor itself, held[p]") from error
    except Exception as error:
        raise Raised(f"{type(error).__name__}: {error}", user_line(error)) from error


def user_line(error: Exception) -> Place | None:
    """The user's line at which an error was raised."""
    steps = list(traceback.walk_tb(error.__traceback__))
    lines = [Place(short(f.f_code.co_filename), line, "") for f, line in steps if is_users_code(f)]
    return lines[-1] if lines else None


@contextmanager
def module_paths(models: Mapping[str, torch.nn.Module], stack: list[str]) -> Iterator[None]:
    """Keeps the path of the module that runs in this thread on top of `stack`."""

    def leave(*_: Any) -> None:
        stack.pop()

    with ExitStack() as undo:
        for prefix, model in models.items():
            for path, module in model.named_modules(prefix=prefix):
                for name in HOOKS:
                    hooks = vars(module)[name]
                    mine = PerThread(copy.copy(hooks), hooks)
                    undo.enter_context(replaced(vars(module), name, mine, kind="a module of the model"))
                module.register_forward_pre_hook(lambda *_, path=path: stack.append(path))
                module.register_forward_hook(leave, always_call=True)
        yield


def short(path: str) -> str:
    """A file's name as it is called from here, if it lies below."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def _gives_tensors(func: Any) -> bool:
    """Whether an op gives tensors, and may raise: not one that asks what a tensor is."""
    return any("Tensor" in str(given.type) for given in func._schema.returns)


def place_of(node: torch.fx.Node) -> Place | None:
    """Where a node comes from; None when it is not known."""
    place: Place | None = _noted(node, KEY)
    return place


def dynamo_place_of(node: torch.fx.Node) -> Place | None:
    """The user's line that Dynamo says a node comes from, or one that reads it or that it reads; None for neither."""
    traces = (other.meta.get("stack_trace") for other in (node, *node.users, *node.all_input_nodes))
    lines = (TRACE_LINE.findall(trace) for trace in traces if trace)
    places = ([Place(short(file), int(line)) for file, line in found if is_users(file)] for found in lines)
    return next((found[-1] for found in places if found), None)


def draw_of(node: torch.fx.Node) -> tuple[int, int]:
    """The stream of the random op that a node comes from, and the op's number; zeros for others."""
    draw: tuple[int, int] = _noted(node, DRAW) or (0, 0)
    return draw


def number_draws(graph: torch.fx.Graph) -> None:
    """Has each random op of a graph that this package did not trace draw from a stream of its own.

    PyTorch's partitioner puts ops that save and restore its generator around those that it repeats, without types.
    """
    stream = itertools.count()
    for node in graph.nodes:
        called = getattr(node.target, "__name__", "")
        if called == "run_and_save_rng_state":
            results = sorted(node.users, key=lambda user: user.args[1])
            node.meta["val"] = tuple(result.meta["val"] for result in results)
        elif called == "run_with_rng_state":
            args, named = torch.fx.map_arg((node.args[2:], node.kwargs), lambda operand: operand.meta["val"])
            with torch.random.fork_rng(devices=[]):
                node.meta["val"] = node.args[1](*args, **named)
        elif torch.Tag.nondeterministic_seeded not in getattr(node.target, "tags", ()):
            continue
        node.meta["custom"] = {**node.meta.get("custom", {}), DRAW: (next(stream), 0)}


def composite_of(node: torch.fx.Node) -> tuple[str, int] | None:
    """The name of the composite that a node belongs to, and its number; None for others."""
    composite: tuple[str, int] | None = _noted(node, COMPOSITE)
    return composite


def _noted(node: torch.fx.Node, key: str) -> Any:
    return node.meta.get("custom", {}).get(key)
