"""Gradients that live from call to call: state where they are kept, else refused."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import torch

from ingot.stablehlo import Place
from ingot.torch.base.errors import TraceError
from ingot.torch.base.function_modes import FunctionMode
from ingot.torch.base.places import user_place
from ingot.torch.base.replacements import replaced
from ingot.torch.base.torch_internals import without_functions
from ingot.torch.tracing.kept_gradients import KeptGradients
from ingot.torch.tracing.state import State, gradient_name, parameters_of
from ingot.torch.tracing.zeros import is_zeros

Read = Callable[[], dict[str, torch.Tensor]]
Names = Callable[[], list[str]]
Note = Callable[[torch.Tensor], None]


class Uses:
    """What a function does with gradients, in which order: of parameters, by identity."""

    def __init__(self) -> None:
        self.cleared: set[int] = set()
        self._read_first: dict[int, Place | None] = {}
        self._added_first: dict[int, Place | None] = {}  # and neither read nor cleared since
        self.asked_first: set[int] = set()
        self.added: set[int] = set()
        self.made: set[int] = set()
        self.left: set[int] = set()
        self.told_from_none: set[int] = set()  # read where they are None or zeros, as the call before left them
        self._zeroed_first: set[int] = set()
        self._is_clearing = False

    def add(self, parameter: torch.Tensor) -> None:
        """A backward pass adds to it."""
        self.left.add(id(parameter))
        if id(parameter) not in self.cleared:
            self._added_first.setdefault(id(parameter), user_place())
        self.added.add(id(parameter))
        self.made.add(id(parameter))

    def ask(self, parameter: torch.Tensor) -> None:
        """It is read."""
        if not self._is_clearing:
            if id(parameter) not in self.cleared:
                self._read_first.setdefault(id(parameter), user_place())
            if not {id(parameter)} & (self.cleared | self.added):
                self.asked_first.add(id(parameter))
            if id(parameter) in self._zeroed_first - self.added:
                self.told_from_none.add(id(parameter))

    @property
    def used_first(self) -> dict[int, Place | None]:
        """Where it was used as the call before left it; what was only added to it and cleared then is no use."""
        return self._added_first | self._read_first

    def zero(self, parameter: torch.Tensor) -> None:
        """It is zeros from now on, unless it is None."""
        if not {id(parameter)} & (self.cleared | self.added):
            self._zeroed_first.add(id(parameter))
        self.clear(parameter)

    def clear(self, parameter: torch.Tensor) -> None:
        """There is none, or zeros, from now on."""
        self.cleared.add(id(parameter))
        self._added_first.pop(id(parameter), None)
        self.left.discard(id(parameter))

    def replace(self, parameter: torch.Tensor) -> None:
        """It is another."""
        self.cleared.add(id(parameter))
        self._added_first.pop(id(parameter), None)
        self.left.add(id(parameter))
        self.made.add(id(parameter))

    @contextmanager
    def noted(self, parameters: Mapping[str, torch.Tensor], *, are_kept: bool) -> Iterator[None]:
        """Notes what is done; zeros that stand in the place of gradients clear no gradient that is kept."""

        def noting(zero_grad: Callable[..., None]) -> Callable[..., None]:
            def zero_and_clear(owner: Any, set_to_none: bool = True) -> None:
                every = parameters_of(owner) if isinstance(owner, torch.optim.Optimizer) else owner.parameters()
                for parameter in every if set_to_none or not are_kept else ():
                    (self.clear if set_to_none else self.zero)(parameter)
                self._is_clearing = True
                try:
                    zero_grad(owner, set_to_none)
                finally:
                    self._is_clearing = False

            return zero_and_clear

        with ExitStack() as undo:
            for parameter in parameters.values():
                undo.callback(parameter.register_post_accumulate_grad_hook(self.add).remove)
            for owner in (torch.optim.Optimizer, torch.nn.Module):
                undo.enter_context(replaced(owner, "zero_grad", noting(owner.zero_grad)))
            undo.enter_context(_UsedByHand(self.clear, self.replace, self.ask))
            yield


class Given(NamedTuple):
    """The gradients that a function finds, and functions that tell what becomes of them."""

    read: Read
    used: Names = list  # parameters whose gradients, which are not kept, were used as they were
    needed: Names = list  # those to be kept where calls follow: they are zeros, or the function reads if they are None
    kept: Callable[[], KeptGradients] = KeptGradients


@contextmanager
def gradients(
    state: State, stand_ins: Mapping[str, torch.Tensor], missing: Container[str], is_followed: bool
) -> Iterator[Given]:
    """Gives stand-ins for parameters their gradients: those of the state but the `missing` ones, or none.

    Where gradients are not kept, only those of parameters that an optimizer steps matter; all, where there is none.
    With `is_followed`, other calls follow in this process: this one may leave gradients, which the tracer then keeps.
    """
    parameters = {name: stand_ins[name] for name in state.trained}
    for tensor in stand_ins.values():
        tensor.grad = None
    if not state.keep_gradients:
        stepped = {id(parameter) for optimizer in state.optimizers.values() for parameter in parameters_of(optimizer)}
        read = {name: parameter for name, parameter in parameters.items() if id(parameter) in stepped or not stepped}
        with not_carried(read, is_followed) as (used, needed):
            yield Given(dict, used, needed)
        return
    start_with(parameters, stand_ins, missing)
    uses = Uses()

    def values() -> dict[str, torch.Tensor]:
        return {
            gradient_name(name): torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            for name, parameter in parameters.items()
        }

    def kept() -> KeptGradients:
        with without_functions():
            found = {name: parameter.grad for name, parameter in parameters.items()}
        asked = [name for name, parameter in parameters.items() if id(parameter) in uses.asked_first]
        without = [name for name in asked if name in missing]
        same = [n for n, p in parameters.items() if found[n] is stand_ins[gradient_name(n)] and id(p) not in uses.added]
        same += [name for name in without if found[name] is None]
        cleared = [name for name in parameters if found[name] is None and name not in same]
        made = [name for name, parameter in parameters.items() if id(parameter) in uses.made]
        return KeptGradients(asked, without, made, cleared, same)

    with uses.noted(parameters, are_kept=True):
        yield Given(values, kept=kept)


def start_with(
    stand_ins: Mapping[str, torch.Tensor], state: Mapping[str, torch.Tensor], missing: Container[str]
) -> None:
    """Gives parameters the gradients of the state, but for those that are missing."""
    with without_functions():
        for name, parameter in stand_ins.items():
            parameter.grad = None if name in missing else state.get(gradient_name(name))


def left_gradients(state: State, stand_ins: Mapping[str, torch.Tensor]) -> list[str]:
    """Names of the parameters that a function leaves with gradients, which are not kept."""
    if state.keep_gradients:
        return []
    with without_functions():
        return [name for name in state.trained if stand_ins[name].grad is not None]


@contextmanager
def not_carried(parameters: Mapping[str, torch.Tensor], is_followed: bool) -> Iterator[tuple[Names, Names]]:
    """Raises TraceError, at the end, for a gradient that was added to or read before it was cleared, and left there.

    Gives functions that name those that were so far, left there or not, and those that are needed: which were left as
    zeros, or of which the function reads whether they are None, as in ``if p.grad is not None: p.grad.zero_()``.

    Gradients start as None while a function is traced; in PyTorch those that the call before left are there.
    """
    uses = Uses()

    def used() -> list[str]:
        return [name for name, parameter in parameters.items() if id(parameter) in uses.used_first]

    def left() -> list[str]:
        ids = uses.left.intersection(uses.used_first)
        return [name for name, parameter in parameters.items() if id(parameter) in ids and parameter.grad is not None]

    def needed() -> list[str]:
        with without_functions():
            zeroed = [name for name in used() if is_zeros(parameters[name].grad)]
            asked = [name for name in left() if id(parameters[name]) in uses.asked_first]
        return [*zeroed, *asked, *(name for name, each in parameters.items() if id(each) in uses.told_from_none)]

    with uses.noted(parameters, are_kept=False):
        yield used, needed
    for name in left():
        parameter = parameters[name]
        if not is_zeros(parameter.grad) and not (is_followed and id(parameter) in uses.asked_first):
            raise TraceError(
                f"the gradient of {name!r} lives on after the function, for the next call to use it",
                uses.used_first[id(parameter)],
                "call zero_grad() before backward() or after it, or keep gradients as state: keep_gradients=True",
            )


class _UsedByHand(FunctionMode):
    """Notes ``parameter.grad = ...``, which replaces what was there, and where ``parameter.grad`` is read."""

    SET, GET = torch.Tensor.grad.__set__, torch.Tensor.grad.__get__

    def __init__(self, clear: Note, replace: Note, use: Note):
        super().__init__()
        self._clear, self._replace, self._use = clear, replace, use

    def _called(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func == self.SET:
            (self._clear if args[1] is None else self._replace)(args[0])
        elif func == self.GET:
            self._use(args[0])
        return func(*args, **kwargs)
