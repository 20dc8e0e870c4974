"""What masks select by value, whose number is known only when a program runs: all rows, and which of them count.

``x[mask]``, ``nonzero`` and their like give a `Selected`, and functions of torch that treat rows alike give another.
Reductions, losses and scatters leave out the rows that do not count; there is no rule for what would put them together.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch
from torch.nn import functional

from ingot.torch.base.errors import SelectionRefused
from ingot.torch.base.function_modes import FunctionMode
from ingot.torch.base.places import user_place
from ingot.torch.base.torch_internals import pytree
from ingot.torch.numbers.answers import Answers
from ingot.torch.tracing.ctc import padded

Rule: TypeAlias = Callable[..., Any]

WHERE = "read with torch.where(mask, x, other) instead of x[mask], write with torch.where(mask, values, x)"


class TensorLike:
    """What ``isinstance`` and ``torch.is_tensor`` take for a tensor, as it is in PyTorch."""

    __class__ = property(lambda self: torch.Tensor)


class Selected(TensorLike):
    """The rows of a tensor [n, ...] that a mask [n] selects. Those that it does not are as the first that it does.

    `source` tells masks apart.
    """

    def __init__(self, rows: torch.Tensor, mask: torch.Tensor, source: tuple[Any, ...]) -> None:
        self.rows, self.mask, self.source = rows, mask, source

    @classmethod
    def of(cls, x: torch.Tensor, mask: torch.Tensor) -> Selected:
        """``x[mask]``, where the mask is as long as the tensor's first dimensions."""
        count = mask.numel()
        flat, rows = mask.reshape(count), x.reshape(count, *x.shape[mask.dim() :])
        first = rows.detach().index_select(0, flat.long().argmax(0, keepdim=True))
        return cls(torch.where(_beside(flat, rows), rows, first), flat, (mask, mask._version))

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.__name__.strip("_")
        rule = RULES.get(name) or (_each if name in ROW_BY_ROW else None)
        writes = func.__name__.endswith("_") and not func.__name__.endswith("__")
        try:
            if rule is None or (writes and rule is not _added):
                raise refusal(func.__name__)
            return rule(func, *args, **(kwargs or {}))
        except SelectionRefused as error:
            leaves = pytree.tree_leaves((args, kwargs))
            error.masks += [leaf.source[0] for leaf in leaves if isinstance(leaf, Selected)]
            raise

    def __getattr__(self, name: str) -> Any:
        if name in ("dtype", "device", "ndim", "requires_grad", "is_cuda"):
            return getattr(self.rows, name)
        if name == "shape":
            return self.size()
        method = getattr(torch.Tensor, name, None)
        if method is None:
            raise AttributeError(name)
        if not callable(method):
            raise refusal(name, self)
        return lambda *args, **kwargs: Selected.__torch_function__(method, (), (self, *args), kwargs)

    def __getitem__(self, index: Any) -> Any:
        return Selected.__torch_function__(torch.Tensor.__getitem__, (), (self, index))

    def size(self, dim: int | None = None) -> Any:
        """The sizes, of which the first is computed."""
        if dim is not None and dim % self.rows.dim():
            return self.rows.shape[dim]
        sizes = (self.count().item(), *self.rows.shape[1:])
        return sizes if dim is None else sizes[dim]

    def dim(self) -> int:
        """The number of dimensions."""
        return len(self.rows.shape)

    def count(self) -> torch.Tensor:
        """How many rows are selected."""
        return self.mask.sum()

    def with_rows(self, rows: torch.Tensor) -> Selected:
        """Other rows that are selected alike."""
        return Selected(rows, self.mask, self.source)

    def filled(self, value: float) -> torch.Tensor:
        """The rows, with a value in those that are not selected."""
        return torch.where(_beside(self.mask, self.rows), self.rows, value)


class Behind(TensorLike):
    """What is selected, behind dimensions of 1, ``x[None, rows]``: it is reshaped to rows again."""

    def __init__(self, selected: Selected, ahead: int) -> None:
        self._selected, self._ahead = selected, ahead

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise refusal(func.__name__, *(leaf._selected for leaf in pytree.tree_leaves(args) if isinstance(leaf, cls)))

    def __getattr__(self, name: str) -> Any:
        raise refusal(name, self._selected)

    def reshape(self, *sizes: Any) -> Selected:
        """The rows, in other sizes."""
        return self._selected.reshape(*sizes)  # type: ignore[no-any-return]

    view = reshape

    def squeeze(self, dim: int = 0) -> Any:
        """The same without the first dimension."""
        if dim != 0:
            raise refusal("squeeze", self._selected)
        return self._selected if self._ahead == 1 else Behind(self._selected, self._ahead - 1)


def _beside(mask: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    return mask.reshape(-1, *[1] * (rows.dim() - 1))


def refusal(name: str, *asked: Selected) -> SelectionRefused:
    """The error where the number of rows would have to be known."""
    what = f"the shape of what a mask selects depends on its values, and {name} would have to know it"
    fix = f"shapes are fixed when the function is traced: {WHERE}"
    return SelectionRefused(what, user_place(), fix, [selected.source[0] for selected in asked])


def _together(name: str, *trees: Any) -> Selected:
    """The first of what is selected, where all of it is by one mask, and the rest is the same for each row."""
    leaves = pytree.tree_leaves(trees)
    found = [leaf for leaf in leaves if isinstance(leaf, Selected)]
    if any(x.source[0] is not found[0].source[0] or x.source[1:] != found[0].source[1:] for x in found):
        raise SelectionRefused(
            f"{name} is of what different masks select", user_place(), "select both by one mask, which is made once"
        )
    rank = found[0].rows.dim()
    for other in (leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and not isinstance(leaf, Selected)):
        if other.dim() > rank or (other.dim() == rank and rank and other.shape[0] != 1):
            raise refusal(name)
    return found[0]


def _rows(tree: Any) -> Any:
    return pytree.tree_map_only(Selected, lambda x: x.rows, tree)


def _each(func: Any, *args: Any, **kwargs: Any) -> Any:
    """A function of each element, or of each row, by itself."""
    return _with_each(_together(func.__name__, args, kwargs), func(*_rows(args), **_rows(kwargs)))


def _first_alone(func: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    """A function of each row of its first operand, and of others that are the same for all."""
    if any(isinstance(leaf, Selected) for leaf in pytree.tree_leaves((args, kwargs))) or not isinstance(x, Selected):
        raise refusal(func.__name__)
    return x.with_rows(func(x.rows, *args, **kwargs))


def _along(func: Any, x: Selected, dim: int | None = None, *args: Any, **kwargs: Any) -> Any:
    """A function along one dimension, which is not that of the rows."""
    if dim is None or dim % x.rows.dim() == 0:
        raise refusal(func.__name__)
    return _each(func, x, dim, *args, **kwargs)


def _unsqueezed(func: Any, x: Selected, dim: int) -> Selected:
    if dim % (x.rows.dim() + 1) == 0:
        raise refusal(func.__name__)
    return x.with_rows(func(x.rows, dim))


def _normalised(func: Any, x: Selected, shape: Sequence[int], *args: Any, **kwargs: Any) -> Any:
    if len(shape) >= x.rows.dim():
        raise refusal(func.__name__)
    return _first_alone(func, x, shape, *args, **kwargs)


def _with_each(x: Selected, made: Any) -> Any:
    """What a function made of the rows: of one that gives values and indices each by its name."""
    return pytree.tree_map_only(torch.Tensor, x.with_rows, made)


def _reduction(fill: float) -> Rule:
    """A reduction, which a value in the rows that are not selected leaves as it is."""

    def reduce(func: Any, x: Selected, dim: Any = None, *args: Any, **kwargs: Any) -> Any:
        if dim is None:
            return func(x.filled(fill), *args, **kwargs)
        if 0 not in _dims(x, dim):
            return _with_each(x, func(x.rows, dim, *args, **kwargs))
        if func.__name__ in ("max", "min"):  # positions among what is selected
            raise refusal(f"{func.__name__} along rows")
        return func(x.filled(fill), dim, *args, **kwargs)

    return reduce


def _dims(x: Selected, dim: Any) -> list[int]:
    return [d % x.rows.dim() for d in ((dim,) if isinstance(dim, int) else dim)]


def _mean(func: Any, x: Selected, dim: Any = None, *args: Any, **kwargs: Any) -> Any:
    dims = [*range(x.rows.dim())] if dim is None or dim == () else _dims(x, dim)
    if 0 not in dims:
        return x.with_rows(func(x.rows, dim, *args, **kwargs))
    others = math.prod(x.rows.shape[d] for d in dims if d)
    total = x.filled(0).sum(dims, *args, **kwargs)
    return total / (x.count() * others).to(total.dtype)


def _loss(func: Any, *args: Any, **kwargs: Any) -> Any:
    """A loss of each row, and what becomes of them."""
    given = inspect.signature(func).bind(*args, **kwargs).arguments
    reduction = given.pop("reduction", "mean")
    if given.pop("size_average", None) is not None or given.pop("reduce", None) is not None:
        raise refusal(func.__name__)
    target = given.get("target")
    if isinstance(target, Selected) and func.__name__ in OF_CLASSES and not target.rows.is_floating_point():
        together, ignored = _together(func.__name__, given["input"], target), given.get("ignore_index", -100)
        loss = func(**{**_rows(given), "target": target.filled(ignored)}, reduction=reduction)
        return together.with_rows(loss) if reduction == "none" else loss
    if given.get("weight") is not None and not func.__name__.startswith("binary"):
        raise refusal(f"{func.__name__} with weights")
    each = _each(func, **given, reduction="none")
    if reduction == "none":
        return each
    if reduction not in ("mean", "sum"):
        raise refusal(f"{func.__name__} by {reduction!r}")
    return each.mean() if reduction == "mean" else each.sum()


def _reshaped(func: Any, x: Selected, *sizes: Any) -> Selected:
    """Other sizes for each row, or, of a single size, all elements in a row."""
    first, *rest = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], tuple | list) else sizes
    wide, given = math.prod(x.rows.shape[1:]), math.prod(rest)
    if isinstance(first, int) and first != -1:
        raise refusal(func.__name__)
    if func.__name__ == "expand":
        return x.with_rows(x.rows.expand(-1, *rest))
    if rest and given == wide and min(rest) > 0:
        return x.with_rows(x.rows.reshape(-1, *rest))
    if rest or not isinstance(first, int):
        raise refusal(func.__name__)
    if wide == 1:
        return x.with_rows(x.rows.reshape(-1))
    return Selected(x.rows.reshape(-1), x.mask.repeat_interleave(wide), (*x.source, wide))


def _of_sequences(
    func: Any, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, *args: Any, **kwargs: Any
) -> Any:
    """``ctc_loss`` of targets one after the other, which a mask [n, s] selects: each has a row again."""
    mask = targets.source[0] if isinstance(targets, Selected) else None
    if mask is None or mask.dim() != 2 or not isinstance(target_lengths, torch.Tensor):
        raise refusal(func.__name__)
    together = targets.rows[(~targets.mask).long().argsort(stable=True)]
    longest = mask.shape[1]
    targets = padded(together, target_lengths, longest)
    loss = func(log_probs, targets, input_lengths, target_lengths, *args, **kwargs)
    return torch.where((target_lengths > longest).any(), math.nan, loss)  # longer ones are none of this mask's


def _gather(func: Any, x: Any, dim: int, index: Any, **kwargs: Any) -> Any:
    if dim == 0 and not isinstance(x, Selected):
        return index.with_rows(func(x, dim, index.rows, **kwargs))
    if dim == 0 or not isinstance(x, Selected) or not isinstance(index, Selected):
        raise refusal(func.__name__)
    return _each(func, x, dim, index, **kwargs)


def _taken(func: Any, x: Any, index: Any) -> Any:
    """Elements by index: of what is selected, of each row alike; of a tensor, where what is selected says."""
    keys = index if isinstance(index, tuple) else (index,)
    if isinstance(x, Selected):
        if keys[0] is Ellipsis or keys[0] == slice(None):
            return _each(func, x, index)
        raise refusal("an index")
    ahead = next((i for i, key in enumerate(keys) if key is not None), 0)
    behind = next((i for i, key in enumerate(reversed(keys)) if key is not None), 0)
    taken = keys[ahead : len(keys) - behind]
    if not all(isinstance(key, Selected) and key.rows.dtype is torch.long for key in taken):
        raise refusal("an index")
    rows = _together("an index", taken).with_rows(func(x, (*_rows(taken), *[None] * behind)))
    return Behind(rows, ahead) if ahead else rows


def _put(func: Any, x: Any, mask: Any, values: Any) -> None:
    """``x[mask] = values`` of what the same mask selects."""
    if isinstance(x, Selected) or not isinstance(values, Selected) or mask is not values.source[0]:
        raise refusal("a write")
    x.copy_(torch.where(mask.reshape(*mask.shape, *[1] * (x.dim() - mask.dim())), values.rows.reshape(x.shape), x))


def _added(func: Any, x: Any, dim: int, index: Any, values: Any, **kwargs: Any) -> Any:
    """``x.index_add_(0, index, values)``, of rows that count."""
    if isinstance(x, Selected) or dim != 0 or not isinstance(index, Selected) or not isinstance(values, Selected):
        raise refusal(func.__name__)
    if index.source[0] is not values.source[0]:
        _together(func.__name__, index, values)
    return func(x, dim, index.rows, values.filled(0), **kwargs)


def _pointwise() -> set[str]:
    """The names of functions of each element by itself."""
    packets = (getattr(torch.ops.aten, name) for name in dir(torch.ops.aten) if not name.endswith("_"))
    overloads = (getattr(packet, name) for packet in packets for name in getattr(packet, "overloads", list)())
    drawing = torch.Tag.nondeterministic_seeded
    return {
        op._overloadpacket.__name__ for op in overloads if torch.Tag.pointwise in op.tags and drawing not in op.tags
    }


OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor")
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
TYPES = ("float", "double", "half", "bfloat16", "long", "int", "bool", "to", "type", "type_as")
ROW_BY_ROW = {
    *_pointwise(),
    *OPERATORS,
    *(f"r{name}" for name in OPERATORS),
    *COMPARISONS,
    *TYPES,
    *("detach", "clone", "contiguous", "invert", "neg", "abs", "relu", "where"),
}
OF_CLASSES = ("cross_entropy", "nll_loss")  # by which a row can be ignored
LOSSES = (
    *(functional.cross_entropy, functional.nll_loss, functional.mse_loss, functional.l1_loss),
    *(functional.smooth_l1_loss, functional.huber_loss, functional.binary_cross_entropy),
    functional.binary_cross_entropy_with_logits,
)
RULES: dict[str, Rule] = {
    **dict.fromkeys(("sum", "any", "count_nonzero", "nansum"), _reduction(0)),
    **dict.fromkeys(("prod", "all"), _reduction(1)),
    **dict.fromkeys(("max", "amax", "logsumexp"), _reduction(-math.inf)),
    **dict.fromkeys(("min", "amin"), _reduction(math.inf)),
    **dict.fromkeys(("softmax", "log_softmax", "squeeze", "normalize", "argmax", "argmin"), _along),
    **dict.fromkeys(("linear", "embedding"), _first_alone),
    **dict.fromkeys(("view", "reshape", "expand"), _reshaped),
    **{loss.__name__: _loss for loss in LOSSES},
    **{
        "ctc_loss": _of_sequences,
        "unsqueeze": _unsqueezed,
        "mean": _mean,
        "layer_norm": _normalised,
        "gather": _gather,
        "getitem": _taken,
        "setitem": _put,
    },
    **dict.fromkeys(("index_add", "scatter_add"), _added),
}


def _operator(name: str) -> Rule:
    method = getattr(torch.Tensor, name)
    return lambda self, *args: Selected.__torch_function__(method, (), (self, *args))


def _unknown(name: str) -> Rule:
    def refuse(self: Selected, *_: Any) -> Any:
        raise refusal(name, self)

    return refuse


for _name in (*OPERATORS, *(f"r{name}" for name in OPERATORS), *COMPARISONS, "neg", "abs", "invert"):
    if hasattr(torch.Tensor, f"__{_name}__"):
        setattr(Selected, f"__{_name}__", _operator(f"__{_name}__"))
for _name in (
    *(f"i{name}" for name in OPERATORS),
    "bool",
    "len",
    "iter",
    "float",
    "int",
    "index",
    "setitem",
    "repr",
    "format",
    "array",
):
    setattr(Selected, f"__{_name}__", _unknown(f"__{_name}__"))


NOTHING = object()  # is selected


class Selecting(FunctionMode):
    """Makes `Selected` of what masks select by value, but where `answers` say how many rows there are."""

    def __init__(self, answers: Answers | None = None) -> None:
        super().__init__()
        self._answers = answers

    def _called(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        select = SELECTING.get(func)
        made = select(*args, **kwargs) if select and Selected not in types else NOTHING
        selected = made[0] if isinstance(made, tuple) else made
        is_known = isinstance(selected, Selected) and self._answers and self._answers.is_fixed(selected.source[0])
        return func(*args, **kwargs) if made is NOTHING or is_known else made


def _is_mask(x: torch.Tensor, index: Any) -> bool:
    is_mask = isinstance(index, torch.Tensor) and index.dtype is torch.bool and index.dim() > 0
    return is_mask and x.shape[: index.dim()] == index.shape


def _by_mask(x: torch.Tensor, index: Any) -> Any:
    return Selected.of(x, index) if _is_mask(x, index) else NOTHING


def _put_by_mask(x: torch.Tensor, index: Any, values: Any) -> Any:
    """``x[mask] = values``, the same for each row."""
    is_alike = isinstance(values, torch.Tensor) and _is_mask(x, index) and values.dim() <= x.dim() - index.dim()
    if not is_alike or values.dtype != x.dtype:
        return NOTHING
    x.copy_(torch.where(index.reshape(*index.shape, *[1] * (x.dim() - index.dim())), values, x))
    return None


def _masked_select(x: torch.Tensor, mask: torch.Tensor) -> Any:
    return _by_mask(x, mask) if x.shape == mask.shape else NOTHING


def _nonzero(x: torch.Tensor, *, as_tuple: bool = False) -> Any:
    """The positions of what is not zero, one in a row."""
    mask = x if x.dtype is torch.bool else x != 0
    sizes = [torch.arange(size).reshape(-1, *[1] * (x.dim() - 1 - i)) for i, size in enumerate(x.shape)]
    columns = [place.expand(x.shape).reshape(-1) for place in sizes]
    places = torch.stack(columns, 1) if columns else torch.zeros(1, 0, dtype=torch.long)
    found = Selected(places, mask.reshape(-1), (mask, mask._version))
    return tuple(found[:, i] for i in range(x.dim())) if as_tuple else found


def _where(x: torch.Tensor, *others: Any, **more: Any) -> Any:
    return NOTHING if others or more else _nonzero(x, as_tuple=True)


SELECTING: dict[Any, Rule] = {
    torch.Tensor.__getitem__: _by_mask,
    torch.Tensor.__setitem__: _put_by_mask,
    torch.masked_select: _masked_select,
    torch.Tensor.masked_select: _masked_select,
    torch.nonzero: _nonzero,
    torch.Tensor.nonzero: _nonzero,
    torch.where: _where,
}
