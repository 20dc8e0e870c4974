"""What other threads see of models, optimizers and schedulers while this one traces a step or compares it.

They may save, log or evaluate the model meanwhile. They do not wait for this thread, which may take seconds, and may
itself wait for them: the dicts of modules hold other tensors for each, and optimizers have a copy for others. What
other threads write into these copies is lost.
"""

from __future__ import annotations

import collections
import copy
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any

import torch
from torch.optim.lr_scheduler import LRScheduler

from ingot.torch.base.per_thread import PerThread
from ingot.torch.base.replacements import replaced, with_subclasses
from ingot.torch.base.torch_internals.fake_tensors import FakeTensor
from ingot.torch.tracing.state import Optimizers, State

ByIdentity = Mapping[int, torch.Tensor]
Undo = ExitStack


def seen_as_before(state: State) -> AbstractContextManager[None]:
    """Other threads see copies of the state, while this one runs steps on it that are undone.

    Where there is no other thread nothing is copied: none begins but from this one.
    """
    if threading.active_count() == 1:
        return nullcontext()
    return seen(state, {}, {id(tensor): _copied(tensor) for tensor in state.tensors.values()})


@contextmanager
def seen(state: State, mine: ByIdentity, theirs: ByIdentity) -> Iterator[None]:
    """This thread finds tensors of modules that are `mine`, others `theirs`, in the place of those that are there.

    Others find optimizers and schedulers as they are now.
    """
    with ExitStack() as undo:
        modules = {id(module): module for model in state.models.values() for module in model.modules()}
        for module in modules.values():
            for name in ("_parameters", "_buffers"):
                held = vars(module)[name]
                view = PerThread(_exchanged(held, mine), _exchanged(held, theirs))
                undo.enter_context(replaced(vars(module), name, view, kind="a module of the model"))
        _show_weights([m for m in modules.values() if isinstance(m, torch.nn.RNNBase)], theirs, undo)
        _show_stand_ins({id(mine[id(t)]): t for t in state.tensors.values() if id(t) in mine}, undo)
        _show_optimizers(state.optimizers, theirs, undo)
        _show_schedulers(state.schedulers, undo)
        if threading.active_count() > 1:
            time.sleep(sys.getswitchinterval())  # for threads that are amid what they found before
        yield


def _exchanged(held: dict[str, Any], by_id: ByIdentity) -> dict[str, Any]:
    """A dict with other tensors; the same dict, which may be written, where there are none."""
    if not by_id:
        return held
    made = copy.copy(held)
    made.update({key: by_id.get(id(value), value) for key, value in held.items()})
    return made


def _show_stand_ins(real: ByIdentity, undo: Undo) -> None:
    """Others copy and save stand-ins as what they are for: an optimizer's records, which they hold, have them."""

    def of_real(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def copy(tensor: torch.Tensor, *args: Any) -> Any:
            found = real.get(id(tensor))
            return method(tensor, *args) if found is None else getattr(found, name)(*args)

        return copy

    for name in ("__reduce_ex__", "__deepcopy__"):
        method = getattr(FakeTensor, name)
        undo.enter_context(replaced(FakeTensor, name, method, original=of_real(name, method)))


def _show_weights(modules: list[torch.nn.RNNBase], theirs: ByIdentity, undo: Undo) -> None:
    """Recurrent modules list their weights twice more, and list them anew where they find others."""
    weights = {id(module): [theirs.get(id(weight), weight) for weight in module._flat_weights] for module in modules}
    references = {
        key: [weight if weight is None else weakref.ref(weight) for weight in w] for key, w in weights.items()
    }
    for name, others in (("_flat_weights", weights), ("_flat_weight_refs", references)) if modules else ():
        own = {id(module): [*getattr(module, name)] for module in modules}
        for module in modules:
            undo.enter_context(replaced(vars(module), name, others[id(module)], kind="a module of the model"))
        seen_by_others = _attribute(name, {})
        undo.enter_context(replaced(torch.nn.RNNBase, name, _attribute(name, own), original=seen_by_others))


def _show_optimizers(optimizers: Optimizers, theirs: ByIdentity, undo: Undo) -> None:
    """Others find copies: this thread changes groups and records in place, as a step may hold them.

    In these parameters are themselves: what looks one up that it has read before, or reads next, shall find it.
    """

    def other(value: Any) -> Any:
        return [*value] if type(value) is list else theirs.get(id(value), value)

    copies: dict[str, dict[int, Any]] = {"state": {}, "param_groups": {}}
    for optimizer in optimizers.values():
        groups = [{key: other(value) for key, value in group.items()} for group in optimizer.param_groups]
        state: dict[Any, Any] = collections.defaultdict(dict)
        state |= {p: {slot: other(v) for slot, v in held.items()} for p, held in optimizer.state.items()}
        copies["state"][id(optimizer)], copies["param_groups"][id(optimizer)] = state, groups
    for name, held in copies.items():
        own, others = _attribute(name, {}), _attribute(name, held)
        undo.enter_context(replaced(torch.optim.Optimizer, name, own, original=others))


def _attribute(name: str, instead: dict[int, Any]) -> property:
    """An attribute that objects hold themselves, and what some, by their identities, have instead."""

    def get(owner: Any) -> Any:
        if id(owner) in instead:
            return instead[id(owner)]
        if name not in vars(owner):
            raise AttributeError(f"{type(owner).__name__!r} object has no attribute {name!r}", name=name, obj=owner)
        return vars(owner)[name]

    def put(owner: Any, value: Any) -> None:
        if id(owner) in instead:
            instead[id(owner)] = value
        else:
            vars(owner)[name] = value

    return property(get, put)


def _show_schedulers(schedulers: Mapping[str, LRScheduler], undo: Undo) -> None:
    """Others are told of copies."""
    copies = {id(scheduler): copy.copy(scheduler) for scheduler in schedulers.values()}

    def of_copy(method: Callable[..., Any]) -> Callable[..., Any]:
        return lambda scheduler, *args: method(copies.get(id(scheduler), scheduler), *args)

    for owner in with_subclasses(LRScheduler) if copies else ():
        for name in {"state_dict", "get_last_lr"} & {*vars(owner)}:
            method = vars(owner)[name]
            undo.enter_context(replaced(owner, name, method, original=of_copy(method)))


def _copied(tensor: torch.Tensor) -> torch.Tensor:
    made = tensor.detach().clone()
    return torch.nn.Parameter(made, tensor.requires_grad) if isinstance(tensor, torch.nn.Parameter) else made
