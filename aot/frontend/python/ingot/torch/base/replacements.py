"""Attributes that are replaced while a step is traced, and the lock that lets one thread do so at a time.

PyTorch, Python and the user's modules belong to the whole process, so other threads meet what is replaced. Every
replacement therefore begins by asking which thread calls it: only the thread that traces gets the substitute, all
others get the original. `TABLE` lists all of them.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident
from types import FrameType, FunctionType, ModuleType
from typing import Any, NamedTuple

FRAME = sys._getframe
ABSENT = object()
ANY = "*"


class Row(NamedTuple):
    """Attributes of some owners: modules, classes with their subclasses, or objects of one kind."""

    owners: str
    names: str
    why: str


# ANY stands for names that depend on the step.
TABLE = (
    Row("a user's function", "__code__", "`is`, `float` and `int` accept numbers that the program computes"),
    Row("a user's module", ANY, "`type`, `isinstance`, `id` and imported clocks, as in their own modules"),
    Row("a module of the model", ANY, "other threads see no stand-ins and hooks"),
    Row("an optimizer's module", ANY, "updates stay whole, and counters of steps are tensors"),
    Row("an optimizer that was not given", "zero_grad step", "refused: the program does not have its state"),
    Row("builtins", "min max divmod", "computed by the program for its numbers"),
    Row("builtins", "print", "a program does not print again"),
    Row("Logger", "handle", "a program does not print again"),
    Row(
        "math",
        "sqrt exp expm1 log log2 log10 log1p pow sin cos tan sinh cosh tanh asin acos atan atan2 hypot erf fabs "
        "isfinite isnan isinf",
        "computed by the program for its numbers",
    ),
    Row("operator", "is_ is_not", "a stand-in is the tensor that it stands for"),
    Row("os", "stat lstat access urandom", "a program does not repeat what is read outside of Python"),
    Row("builtins, io, os", "open", "a program does not repeat what is read outside of Python"),
    Row("os", "listdir scandir", "a program does not repeat what is read outside of Python"),
    Row("random, numpy.random", ANY, "draws of this thread are told from those of others"),
    Row("random", "_urandom", "a program does not repeat what is read outside of Python"),
    Row(
        "time",
        "time time_ns monotonic monotonic_ns perf_counter perf_counter_ns process_time process_time_ns thread_time "
        "thread_time_ns gmtime localtime ctime asctime strftime clock_gettime clock_gettime_ns",
        "a program does not repeat what is read outside of Python",
    ),
    Row("sys", "_getframe", "frames show variables that are not watched"),
    Row("torch", "_grouped_mm", "made of ops that take all types"),
    Row("torch, Tensor", "bincount", "as many bins as there are positions"),
    Row(
        "torch",
        "ctc_loss embedding_renorm_ grid_sampler set_anomaly_enabled tensor as_tensor",
        "made of ops that have a rule",
    ),
    Row("torch", "batch_norm lerp", "made of ops that take computed floats"),
    Row("Tensor", "lerp lerp_", "made of ops that take computed floats"),
    Row("torch._VF", "dropout", "made of ops that take computed floats"),
    Row("torch._C._nn", "cross_entropy_loss", "made of ops that take computed floats"),
    Row("torch", "embedding embedding_bag", "rows of sparse gradients are noted"),
    Row("torch", "save manual_seed initial_seed", "refused: it has no meaning within a program"),
    Row("torch", "get_rng_state set_rng_state", "random numbers are counted, not drawn"),
    Row("torch.random", "get_rng_state set_rng_state manual_seed", "random numbers are counted, not drawn"),
    Row("torch.autograd", "_engine_run_backward", "notes that gradients are computed"),
    Row("torch.compiler", "_is_compiling_flag", "libraries do not choose by values of tensors"),
    Row(
        "_MakefxTracer",
        "_construct_modes_with_fx_tracer _convert_args_to_fake",
        "most ops are recorded in a shorter way",
    ),
    Row("torch.fx._symbolic_trace", "torch", "other threads run what Dynamo has compiled"),
    Row("torch.fx._symbolic_trace", "_orig_module_call _orig_module_getattr", "methods that users replaced are seen"),
    Row("torch._higher_order_ops.cond", "cond_op", "made of ops that have a rule"),
    Row("torch._higher_order_ops.utils", "_hop_compile_and_call", "made of ops that have a rule"),
    Row("torch._higher_order_ops.while_loop", "while_loop_op", "made of ops that have a rule"),
    Row("torch._dynamo.bytecode_transformation", "stacksize_analysis", "it fails for generators"),
    Row("torch.nn.attention", "_sdpa_kernel", "attention is made of ops that have a rule"),
    Row("torch.nn.attention.bias", "CausalBias", "a mask is a tensor"),
    Row("torch.nn.functional", "one_hot multilabel_margin_loss", "made of ops that have a rule"),
    Row(
        "torch.nn.functional",
        "batch_norm cross_entropy gelu group_norm layer_norm rms_norm scaled_dot_product_attention",
        "stays whole in the program",
    ),
    Row("torch.nn.modules.transformer", "_detect_is_causal_mask", "it would read a mask's values"),
    Row("torch.optim._functional", "sparse_adam", "updates the rows of a sparse gradient alone"),
    Row("torch.optim.adagrad", "_single_tensor_adagrad", "updates the rows of a sparse gradient alone"),
    Row(
        "torch.utils.checkpoint",
        "_checkpoint_without_reentrant_generator _checkpoint_without_reentrant_generator_impl SAC_IGNORED_OPS",
        "the compiler shall compute it again",
    ),
    Row("CheckpointFunction", "apply", "the compiler shall compute it again"),
    Row("ScriptFunction", "__call__", "the ops of its source are seen"),
    Row("Module", "_apply", "a module that is where it shall be is not moved"),
    Row("Module", "zero_grad", "notes which gradients are cleared"),
    Row("Optimizer", "zero_grad", "notes which gradients are cleared"),
    Row("Optimizer", "state param_groups", "other threads see no stand-ins"),
    Row("LRScheduler", "state_dict get_last_lr", "other threads see no stand-ins"),
    Row("RNNBase", "_flat_weights _flat_weight_refs", "other threads see no weights that are moved"),
    Row("torch.optim.lbfgs", "_to_scalar", "refused: LBFGS chooses by losses"),
    Row("LRScheduler", "step", "refused unless the scheduler is the program's"),
    Row("GradScaler", "_maybe_opt_step", "steps are selected where gradients are finite"),
    Row("DistributedDataParallel", "forward", "refused: it needs several processes"),
    Row("AveragedModel", "update_parameters", "it looks whether there is an average yet"),
    Row("RemovableHandle", "__init__", "hooks have the same numbers in every trace"),
    Row("Tensor", "__hash__ __eq__", "a stand-in and the tensor that it stands for are one key"),
    Row("Tensor", "__getattr__", "notes which attributes are asked of arguments"),
    Row("Tensor", "data_ptr storage storage_offset untyped_storage _is_view _base _version", "refused to users' code"),
    Row(
        "Tensor",
        "is_sparse layout to_dense coalesce _indices _nnz _values indices is_coalesced sparse_mask values",
        "a sparse gradient is dense in a program",
    ),
    Row("FakeTensor", "__bool__ __int__ __index__", "choices by values become branches of the program"),
    Row("FakeTensor", "__repr__ __format__ numpy __array__", "refused: there are no values yet"),
    Row("FakeTensor", "__reduce_ex__ __deepcopy__", "other threads save and copy what stand-ins are for"),
    Row("SymInt, SymFloat", "__array_ufunc__", "NumPy's functions of numbers are computed by the program"),
    Row("SymInt", "__bool__ __eq__ __ne__ __float__ __int__ __index__ __hash__ __str__ __repr__ __format__", "numbers"),
    Row("SymFloat", "__bool__ __eq__ __ne__ __float__ __int__ __repr__ __format__ __trunc__", "numbers"),
    Row("SymBool", "__bool__ __eq__ __ne__ __int__", "choices by numbers become branches of the program"),
    Row(
        "SymInt, SymFloat",
        "__truediv__ __rtruediv__ __floordiv__ __rfloordiv__ __mod__ __rmod__",
        "a division by 0 that is caught is a branch of the program",
    ),
    Row(
        "TraceError, GuardOnDataDependentSymNode, DataDependentOutputException, DynamicOutputShapeException",
        "__init__",
        "a refusal that the user's code catches is raised all the same",
    ),
)
ROWS = {(owner, name) for row in TABLE for owner in row.owners.split(", ") for name in row.names.split()}

_LOCK = threading.RLock()
_tracers: list[int] = []  # the thread that holds the lock, once for each time, and those that work for it


def _restart() -> None:
    """A forked process has one thread, which does not trace."""
    global _LOCK
    _LOCK = threading.RLock()
    _tracers.clear()


os.register_at_fork(after_in_child=_restart)


@contextmanager
def exclusive() -> Iterator[None]:
    """One thread at a time traces steps and compares them; others wait. A thread may enter again."""
    with _LOCK, working_for_tracer():
        yield


@contextmanager
def working_for_tracer() -> Iterator[None]:
    """This thread gets what is replaced, as it works for the thread that traces, which waits for it."""
    _tracers.append(get_ident())
    try:
        yield
    finally:
        _tracers.remove(get_ident())


def is_tracer() -> bool:
    """Whether this thread is the one that traces."""
    return get_ident() in _tracers


def is_tracing() -> bool:
    """Whether any thread traces."""
    return bool(_tracers)


def by_thread(substitute: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is the substitute for the thread that traces, and the original for all others."""

    @functools.wraps(original)
    def called(*args: Any, **kwargs: Any) -> Any:
        if get_ident() not in _tracers:
            return original(*args, **kwargs)
        return substitute(*args, **kwargs)

    return called


def calling_frame() -> FrameType:
    """The frame that called the substitute which asks for it."""
    frame = FRAME(2)
    while frame.f_code.co_filename == __file__ and frame.f_back:
        frame = frame.f_back
    return frame


def noting(function: Callable[..., Any], note: Callable[[], None]) -> Callable[..., Any]:
    """A function before each of whose calls something is noted; `calling_frame` sees through it."""

    def noted(*args: Any, **named: Any) -> Any:
        note()
        return function(*args, **named)

    return noted


@contextmanager
def replaced(owner: Any, name: str, value: Any, *, kind: str = "", original: Any = None) -> Iterator[None]:
    """An attribute of an owner, or an entry of a dict, is another for the thread that traces.

    Functions and properties are made `by_thread`; another value must tell threads apart itself. `kind` is the owner's
    name in TABLE where it is not its own, `original` what other threads get where that is not what is there.
    """
    if not any((owned, n) in ROWS for owned in _names_of(kind or owner) for n in (name, ANY)):
        raise KeyError(f"TABLE has no row for {name!r} of {kind or owner}")
    held = owner if isinstance(owner, dict) else vars(owner)
    before = owner.__code__ if isinstance(owner, FunctionType) else held.get(name, ABSENT)
    _put(owner, name, _guarded(owner, name, value, original))
    try:
        yield
    finally:
        _put(owner, name, before)


def _guarded(owner: Any, name: str, value: Any, original: Any) -> Any:
    """The value, which other threads do not get."""
    if isinstance(value, property):
        other = inspect.getattr_static(owner, name) if original is None else original
        read = value.fget and by_thread(value.fget, other.__get__)
        return property(read, value.fset and by_thread(value.fset, other.__set__))
    is_static = isinstance(value, staticmethod)
    function = value.__func__ if is_static else value
    if not callable(function) or isinstance(function, type):
        return value
    if original is None:
        original = owner[name] if isinstance(owner, dict) else getattr(owner, name)
    called = by_thread(function, original)
    return staticmethod(called) if is_static else called


def _put(owner: Any, name: str, value: Any) -> None:
    """Sets an attribute or an entry; takes away one that is absent."""
    if isinstance(owner, dict):
        if value is ABSENT:
            owner.pop(name, None)
        else:
            owner[name] = value
    elif value is ABSENT:
        delattr(owner, name)
    else:
        setattr(owner, name, value)


def _names_of(owner: Any) -> list[str]:
    """The names that TABLE may use for an owner."""
    if isinstance(owner, str):
        return [owner]
    if isinstance(owner, FunctionType):
        return ["a user's function"]
    if isinstance(owner, dict):
        return ["a user's module"]
    return [owner.__name__] if isinstance(owner, ModuleType) else [base.__name__ for base in owner.__mro__]


def with_subclasses(base: Any) -> Iterator[Any]:
    """A class and all that derive from it; another owner alone."""
    yield base
    derived: type
    for derived in base.__subclasses__() if isinstance(base, type) else ():
        yield from with_subclasses(derived)
