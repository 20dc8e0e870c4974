"""What touches the insides of PyTorch that its documentation does not promise."""

from __future__ import annotations

import gc
import itertools
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch
from torch._C._dynamo.guards import GlobalStateGuard, TensorGuards
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.proxy_tensor import _ProxyTensor, get_proxy_mode, get_proxy_slot, set_proxy_slot
from torch.utils.hooks import RemovableHandle

from ingot.torch.base.replacements import by_thread, replaced

pytree: Any = torch.utils._pytree
HOOKS_OF_ALL = re.compile("_global_.*_hooks")
SET_DATA = torch.Tensor.data.__set__
HOOKS = ("_backward_hooks", "_post_accumulate_grad_hooks")  # of a tensor: dicts, or None
HOOKS_MADE = (RemovableHandle, "next_id")  # what counts them; the dicts alone say which are gone


def set_data(tensor: torch.Tensor, value: torch.Tensor) -> None:
    """``tensor.data = value`` while both are traced: later ops on either see one memory."""
    tensor.data = value
    mode = get_proxy_mode()
    proxy = mode and get_proxy_slot(value, mode.tracer, None)
    if proxy is not None:
        set_proxy_slot(tensor, mode.tracer, proxy)


def has_others(tensor: torch.Tensor) -> bool:
    """Whether anything else holds a tensor's memory, as a view does."""
    storage = tensor.untyped_storage()
    holders: int = torch._C._storage_Use_Count(storage._cdata)
    return holders > 2  # the tensor and `storage`


def likeness(examples: Sequence[torch.Tensor]) -> Callable[..., bool]:
    """A function that tells whether as many tensors are of the types, shapes, layouts and flags of examples."""
    if not examples:
        return lambda *values: not values
    sizes: list[Any] = [[*tensor.shape] for tensor in examples]
    strides: list[Any] = [[*tensor.stride()] for tensor in examples]
    return TensorGuards(*examples, dynamic_dims_sizes=sizes, dynamic_dims_strides=strides).check


def same_settings() -> Callable[[], bool]:
    """A function that tells whether PyTorch computes as it does now: gradients, autocast, types, threads and more."""
    return GlobalStateGuard().check


def copy_hooks(tensor: torch.Tensor, stand_in: torch.Tensor) -> None:
    """Gives a stand-in the hooks on gradients that a tensor has."""
    for hook in (tensor._backward_hooks or {}).values():
        stand_in.register_hook(hook)
    for hook in (tensor._post_accumulate_grad_hooks or {}).values():
        stand_in.register_post_accumulate_grad_hook(hook)


def hooks_of(tensor: torch.Tensor) -> list[Any]:
    """The hooks on a tensor's gradient."""
    with without_functions():
        return [*(tensor._backward_hooks or {}).values(), *(tensor._post_accumulate_grad_hooks or {}).values()]


def has_hooks(optimizer: torch.optim.Optimizer) -> bool:
    """Whether its steps call hooks: not where its class leaves out ``super().__init__()``, as wrappers do."""
    return hasattr(optimizer, "_optimizer_step_pre_hooks")


def step_hooks(optimizer: torch.optim.Optimizer) -> list[Any]:
    """The hooks that its steps call before and after, those of all optimizers too."""
    module = sys.modules["torch.optim.optimizer"]
    own = [getattr(optimizer, f"_optimizer_step_{when}_hooks", {}) for when in ("pre", "post")]
    of_all = [getattr(module, f"_global_optimizer_{when}_hooks") for when in ("pre", "post")]
    return [hook for hooks in (*own, *of_all) for hook in hooks.values()]


def hooks_of_all() -> dict[str, Any]:
    """The hooks on every module, and on every optimizer, by what they are called where they are kept."""
    modules = (sys.modules["torch.nn.modules.module"], sys.modules["torch.optim.optimizer"])
    return {name: hooks for m in modules for name, hooks in vars(m).items() if HOOKS_OF_ALL.fullmatch(name)}


def same_hook_numbers() -> AbstractContextManager[None]:
    """Hooks that are registered within have the numbers that those after it have again."""
    numbers = itertools.count(RemovableHandle.next_id)
    init = RemovableHandle.__init__

    def numbered(handle: RemovableHandle, *hooks: Any, **more: Any) -> None:
        init(handle, *hooks, **more)
        handle.id = next(numbers)
        RemovableHandle.next_id -= 1

    return replaced(RemovableHandle, "__init__", numbered)


def without_functions() -> AbstractContextManager[None]:
    """Tensors' attributes are read past those who follow what a function does with tensors."""
    return torch._C.DisableTorchFunction()  # type: ignore[no-any-return]


def depends_on(number: torch.SymFloat, other: torch.SymFloat) -> bool:
    """Whether a number that a program computes is made of another, which is an input."""
    return bool(other.node.expr in number.node.expr.free_symbols)


def node_of(value: Any) -> torch.fx.Node | None:
    """The node of the graph that is traced which gives a tensor or a number; None for what is not traced."""
    mode = get_proxy_mode()
    is_traced = isinstance(value, torch.Tensor | torch.SymInt | torch.SymFloat | torch.SymBool)
    slot = mode and is_traced and get_proxy_slot(value, mode.tracer, None)
    if not slot:
        return None
    proxy = slot.proxy if isinstance(value, torch.Tensor) else slot.force()
    return proxy.node


def constants_of(args: Sequence[Any]) -> Iterator[torch.Tensor]:
    """The tensors with values that some arguments are, or that the graph which is traced computes them of."""
    tensors = [value for value in pytree.tree_leaves(args) if isinstance(value, torch.Tensor)]
    yield from (tensor for tensor in tensors if not isinstance(tensor, FakeTensor))
    seen = {node for tensor in tensors if (node := node_of(tensor))}
    waiting = [*seen]
    while waiting:
        node = waiting.pop()
        if node.op == "get_attr":
            yield getattr(get_proxy_mode().tracer.root, str(node.target))
        inner = [read for read in node.all_input_nodes if read not in seen]
        seen.update(inner)
        waiting += inner


SHAPE = "shape"  # of the tensor that a node gives, among what is noted of it


def shape_of(node: torch.fx.Node) -> torch.Size | None:
    """The shape of the tensor that a node of the graph that is traced gives; None where that is not known any more."""
    tracked = get_proxy_mode().tracer.tensor_tracker
    held = (tensor.shape for tensor, slot in tracked.items() if slot.proxy.node is node)
    known: torch.Size | None = node.meta.get(SHAPE) or next(held, None)
    return known


def constant_of(node: torch.fx.Node) -> Any:
    """The tensor with values that a node of the graph that is traced stands for; None where it is no constant."""
    return getattr(get_proxy_mode().tracer.root, str(node.target)) if node.op == "get_attr" else None


def traced_nodes() -> list[torch.fx.Node]:
    """The nodes of the graph so far."""
    mode = get_proxy_mode()
    assert mode is not None
    return list(mode.tracer.graph.nodes)


def traced_tensors() -> list[torch.Tensor]:
    """Those that ops of the graph gave so far and that something still holds."""
    return list(get_proxy_mode().tracer.tensor_tracker)


def fake_mode() -> Any:
    """What gives tensors without values where a mode of dispatch runs; None where there is none."""
    return torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.FAKE)


@contextmanager
def told_classes(class_of: Callable[[torch.Tensor], type]) -> Iterator[None]:
    """``tensor.__class__`` of tensors without values is what a function says.

    A class's own dict alone takes an entry of this name after the class is made; setting another attribute says that
    it has changed.
    """

    def changed() -> None:
        FakeTensor._told = None
        del FakeTensor._told

    (own,) = gc.get_referents(vars(FakeTensor))
    own["__class__"] = property(by_thread(class_of, lambda value: type(value)))
    changed()
    try:
        yield
    finally:
        del own["__class__"]
        changed()


def running_modes() -> bool:
    """Whether a mode sees the ops of PyTorch's that are called, or functions are transformed."""
    return bool(torch._C._len_torch_dispatch_stack() or torch._C._len_torch_function_stack() or is_transformed())


def is_transformed() -> bool:
    """Whether a function of torch.func's transforms what runs."""
    return torch._C._functorch.peek_interpreter_stack() is not None


def track(tensor: torch.Tensor, node: torch.fx.Node, tracer: Any = None) -> None:
    """Says which node of the graph that is traced gives a tensor."""
    tracer = tracer or get_proxy_mode().tracer
    tracer.tensor_tracker[tensor] = _ProxyTensor(torch.fx.Proxy(node, tracer), None)


def functional_value(tensor: torch.Tensor) -> torch.Tensor:
    """What a functional tensor is now."""
    torch._sync(tensor)
    return torch._from_functional_tensor(tensor)


def is_functional_base(tensor: torch.Tensor) -> bool:
    """Whether a functional tensor is a view of no other."""
    return bool(torch._is_functional_tensor_base(tensor))


def put_functional(tensor: torch.Tensor, value: torch.Tensor) -> None:
    """Makes a functional tensor, which is no view, be another from now on."""
    torch._functionalize_replace(tensor, value)
    torch._functionalize_commit_update(tensor)
    torch._functionalize_sync(tensor)


def is_open(tensor: torch.Tensor) -> bool:
    """Whether sizes of a tensor are not known while a function is traced."""
    return any(isinstance(size, torch.SymInt) for size in tensor.shape)
