"""Parts of eager programs: a function or a module whose forward and backward are compiled, and nothing around it."""

from __future__ import annotations

import functools
import types
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import torch

import ingot.torch.backend  # noqa: F401  (the backend has a name from here on)
from ingot.stablehlo import Place
from ingot.torch.base.errors import TraceError
from ingot.torch.base.files import is_users
from ingot.torch.base.places import short, user_place
from ingot.torch.base.replacements import exclusive, is_tracer, is_tracing
from ingot.torch.base.torch_internals import is_transformed, pytree
from ingot.torch.base.torch_internals.dynamo import BackendCompilerFailed, TorchRuntimeError, Unsupported, dynamo_config

Function = Callable[..., Any]


class Partial:
    """A function whose calls with tensors like the first call's run bundles, and others PyTorch."""

    def __init__(self, function: Function) -> None:
        functools.update_wrapper(self, function, updated=())
        self.function = function
        self._name = getattr(function, "__name__", type(function).__name__)
        # Apart: PyTorch counts together what is compiled of functions with the same code, and stops after a few.
        how = {"backend": "ingot", "dynamic": False, "fullgraph": True, "isolate_recompiles": True}
        self._compiled = torch.compile(_with_code(function), **how)
        self._key: list[str] | None = None
        self._others: list[Any] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs once; the first call compiles.

        Raises TraceError for what cannot be compiled.
        """
        if torch.compiler.is_dynamo_compiling() or is_tracer():  # what calls it is compiled as a whole
            return self.function(*args, **kwargs)
        key = [_kind(leaf) for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        if is_transformed():
            self._say("within torch.func", f"{self._name} is called within a function that torch.func transforms")
            return self.function(*args, **kwargs)
        if self._key not in (None, key):
            what = f"{self._name} is compiled for {', '.join(self._key or [])}, and was given {', '.join(key)}"
            self._say(key, what, "; pad the tensors to one shape")
            return self.function(*args, **kwargs)
        try:
            alone = exclusive() if self._key is None or is_tracing() else nullcontext()
            with alone, dynamo_config.patch(skip_nnmodule_hook_guards=False):
                result = self._compiled(*args, **kwargs)
        except BackendCompilerFailed as error:
            raise error.inner_exception if isinstance(error.inner_exception, TraceError) else error from None
        except (Unsupported, TorchRuntimeError) as error:
            raise self._refusal(error) from None
        self._key = key
        return result

    def _refusal(self, error: Any) -> TraceError:
        """What Dynamo cannot follow, with the user's last line on the way there."""
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reasons = [line for line in lines if line.startswith("Explanation: ") and line != "Explanation:"]
        what = " ".join([lines[0], *(reason.removeprefix("Explanation: ") for reason in reasons[:1])])
        frames = [frame for frame in error.real_stack if is_users(frame.filename)]
        place = Place(short(frames[-1].filename), frames[-1].lineno) if frames else user_place()
        fix = "leave it out of the part that is compiled, or call PyTorch for all of it"
        return TraceError(f"{self._name} cannot be compiled: {what}", place, fix)

    def _say(self, why: Any, what: str, fix: str = "") -> None:
        """Warns once that a call is PyTorch's."""
        if why not in self._others:
            self._others.append(why)
            warnings.warn(f"{what}: PyTorch runs it{fix}", stacklevel=3)


class PartialModule(Partial):
    """A module whose calls run bundles; its attributes, methods and class are the module's.

    `isinstance` takes the class, so that another module registers it as a child, with its parameters and buffers.
    """

    @property  # type: ignore[misc]  # objects may set their class
    def __class__(self) -> Any:
        return type(self.function)

    def __reduce__(self) -> Any:
        """A copy compiles the copied module."""
        return partial, (self.function,)

    def __repr__(self) -> str:
        return repr(self.function)

    def __getattr__(self, name: str) -> Any:
        """An attribute of the module."""
        if name == "function":  # not yet set
            raise AttributeError(name)
        return getattr(self.function, name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Sets an attribute of the module, but for those that this object has of its own."""
        is_own = "_others" not in vars(self) or name in vars(self)
        if is_own:
            object.__setattr__(self, name, value)
        else:
            setattr(self.function, name, value)

    def __delattr__(self, name: str) -> None:
        """Deletes an attribute of the module."""
        delattr(self.function, name)


def partial(function: Function) -> Partial:
    """``@ingot.torch.partial``: compiles a function's, or a module's, forward and backward within an eager program.

    A module's stands in its place: it has the module's attributes and methods. Parameters stay PyTorch's and get their
    gradients; what forward saves for backward is chosen by a minimum cut, and each call has its own. Each call draws
    the seed of its random ops from PyTorch's generator. Tensors of other shapes or types than those of the first call
    are PyTorch's to compute with, which a warning says, as are calls within ``torch.func``. There is no gradient of
    gradients. What Dynamo cannot follow (branches on values, prints, hooks on modules' gradients) is a TraceError with
    the line.
    """
    return (PartialModule if isinstance(function, torch.nn.Module) else Partial)(function)


def _with_code(function: Function) -> Function:
    """A function with code of its own: Dynamo calls all builtins by one, and may give that up for all of them."""
    if not isinstance(function, types.BuiltinFunctionType):
        return function

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    call.__code__ = call.__code__.replace(co_name=function.__name__)
    return call


def _kind(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)}"
