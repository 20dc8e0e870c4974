"""A bundle's state in the place of the live tensors': what is trained is what PyTorch sees."""

from __future__ import annotations

import gc
import itertools
import operator
import warnings
import weakref
from collections.abc import Callable, Container, Iterable, Mapping, Sequence

import torch

from ingot._engine import addresses, are_at, living
from ingot.session import Bundle, Session
from ingot.torch.base.errors import TraceError
from ingot.torch.base.torch_internals import has_others, likeness
from ingot.torch.tracing.state import stored

KINDS = (torch.Tensor, torch.nn.Parameter)


class Live:
    """A session in whose memory a model's and an optimizer's own tensors lie."""

    session: Session

    def __init__(
        self,
        bundle: Bundle,
        threads: int,
        tensors: Mapping[str, torch.Tensor],
        others: Iterable[Live] = (),
        modules: Iterable[torch.nn.Module] = (),
    ) -> None:
        """Its memory is that of the first of the others that has the same state in it, if one has.

        The modules are those whose state it is: of tensors in their attributes it is known what a step does with them.
        So tensors stay where they are when another program runs, and so do views of them.
        """
        self._tensors = tuple([tensors[name] for name in bundle.states])
        same = (other.session.memory for other in others if other.has(bundle, self._tensors))
        memory = next(same, None)
        self.session = Session(bundle, threads, memory=memory, keeps_state=memory is not None)
        self._names = [*bundle.states]
        self.names = set(bundle.states)  # of the state that lies in the session's memory
        with torch.inference_mode(False):  # whose tensors could not be trained later
            self._views = [self.session.state.torch(name) for name in bundle.states]
        self._pointers = [view.data_ptr() for view in self._views]
        self._addresses = addresses(tuple(self._views))
        ends = [view.data_ptr() + view.nbytes for view in self._views]
        self.is_inside = range(min(self._pointers, default=0), max(ends, default=0)).__contains__  # an address
        self._forms = [*map(_form, self._tensors)]
        self._are_alike: Callable[..., bool] = lambda *_: False  # once they lie in the session's memory
        self._is_alike = False  # as `fits` found
        self._modules = tuple(modules)
        self._are_in = False  # whether the tensors were ever taken in
        LIVES.add(self)

    def has(self, bundle: Bundle, tensors: Sequence[torch.Tensor]) -> bool:
        """Whether the same tensors are the state of a bundle, at the same places in its memory."""
        places = [*self.session.bundle.states.values()]
        return places == [*bundle.states.values()] and all(map(operator.is_, self._tensors, tensors))

    def fits(self) -> bool:
        """Whether the tensors are of the types and shapes that the program was traced with."""
        self._is_alike = self._are_alike(*self._tensors)
        return self._is_alike or [*map(_form, self._tensors)] == self._forms

    def change(self) -> str:
        """Which tensor does not, and what it is."""
        for name, tensor, form in zip(self._names, self._tensors, self._forms, strict=True):
            if (now := _form(tensor)) != form:
                texts = [f"{dtype} {tuple(shape)}" for dtype, shape in (now, form)]
                return f"`{name}` is {texts[0]}, and was {texts[1]}"
        return ""

    def overlaps(self, tensors: Iterable[torch.Tensor]) -> bool:
        """Whether any of the tensors begins in the session's memory."""
        return any(map(self.is_inside, map(torch.Tensor.data_ptr, tensors)))

    def holds_state(self) -> bool:
        """Whether the state is in the session's memory."""
        return are_at(self._tensors, self._addresses)

    def take_in(self) -> None:
        """Copies the tensors that do not lie in the session's memory as it has them into it; from then on they do.

        Raises TraceError for one that other processes share.
        """
        if self._is_alike and are_at(self._tensors, self._addresses):
            return
        named = dict(zip(self._names, self._tensors, strict=True))
        refuse_shared(named)
        if not self._are_in:
            self._are_in = True
            held = (vars(module).values() for module in self._modules)
            known = itertools.chain(self._tensors, *held, *(live._views for live in LIVES))
            warn_of_views(named, self.is_inside, {*map(id, known)})
        with torch.inference_mode(False), torch.no_grad():
            for i, value in self._elsewhere():
                tensor, pointer = self._tensors[i], self._pointers[i]
                if self._views[i].data_ptr() != pointer:  # its memory became another
                    self._views[i] = self.session.state.torch(self._names[i])
                view = self._views[i].copy_(value)
                tensor.data = torch.view_as_complex(view) if tensor.is_complex() else view
        self._are_alike = likeness(self._tensors)

    def _elsewhere(self) -> list[tuple[int, torch.Tensor]]:
        """The values that are not where the session has them, by number; copies of those elsewhere in its memory."""
        found: list[tuple[int, torch.Tensor]] = []
        for i, (tensor, pointer, view) in enumerate(zip(self._tensors, self._pointers, self._views, strict=True)):
            value = stored(tensor.detach())
            if value.data_ptr() != pointer or value.stride() != view.stride():
                found.append((i, value.clone() if self.is_inside(value.data_ptr()) else value))
        return found

    def written(self) -> None:
        """Tells PyTorch that the state has other values: backward passes through the old ones are errors."""
        torch.autograd.graph.increment_version(self._tensors)


LIVES: weakref.WeakSet[Live] = weakref.WeakSet()


def refuse_shared(tensors: Mapping[str, torch.Tensor]) -> None:
    """Raises TraceError for a tensor in memory that processes share: a program's state is in this process alone."""
    for name, tensor in tensors.items():
        if tensor.is_shared():
            what = f"`{name}` is in shared memory, where other processes would not see that it is trained"
            fix = "train a copy of the model, copy.deepcopy(model), or leave the step to PyTorch: enabled=False"
            raise TraceError(what, fix=fix)


def warn_of_views(tensors: Mapping[str, torch.Tensor], is_inside: Callable[[int], bool], known: Container[int]) -> None:
    """Warns of tensors that stay in the memory that the state leaves: they no longer see what is trained.

    Those with the identities in `known` are no matter.
    """
    shared = ((name, x) for name, x in tensors.items() if not is_inside(x.data_ptr()) and has_others(x))
    left = {x.untyped_storage().data_ptr(): name for name, x in shared}
    if _first_view(left, known):
        gc.collect()  # of what is found, nobody may have some any more
    if found := _first_view(left, known):
        view, name = found
        what = f"a tensor of shape {tuple(view.shape)} that was made before shares the memory of `{name}`"
        warnings.warn(f"{what}, and no longer sees it change: make such after the first call", stacklevel=7)


def _first_view(storages: Mapping[int, str], known: Container[int]) -> tuple[torch.Tensor, str] | None:
    """A tensor in one of the storages, which are by address, and the storage's name; none of the known ones."""
    for value in itertools.chain.from_iterable(map(living, KINDS if storages else ())):
        if id(value) in known or value.layout is not torch.strided or value.device.type != "cpu":
            continue
        if name := storages.get(value.untyped_storage().data_ptr()):
            return value, name
    return None


def _form(tensor: torch.Tensor) -> tuple[torch.dtype, torch.Size]:
    return tensor.dtype, tensor.shape
