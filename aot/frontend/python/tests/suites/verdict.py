"""What a sample's results, or its exception, say of ingot."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree

import ingot.torch
from ingot.judge import SHAKES, TOLERANCE_FACTOR

from .doors import OpSample, Sample, dense, joined, widened

FLOOR = 4  # units in the last place, where no shaking shows any rounding
MOST_TOGETHER = 16  # samples in one program
SHOWN = 240  # characters of a message
EXCEPTION = re.compile(r"^\w*(Error|Exception|Interrupt|SymNode|Symbol)\b")  # of Python's, in a refusal
OURS = re.compile(r"ingot/torch/|a row in|has no row|0x[0-9a-f]{6,}")  # what only a colleague could use
ON_CPU_ALONE = re.compile(r"expected \w+ to be on cpu")  # PyTorch's rule for an argument, on every device
NAME = re.compile(r"^'[\w.]+'|^`[^`]+`")  # of the user's, which says where as a line does
FOLDERS = re.compile(r"(/[\w.+-]+)+/")
CLASSES = ("agree", "refused", "unclear", "raw", "silent", "excused", "n/a")
FAULTS = ("unclear", "raw", "silent")


@dataclass(frozen=True)
class Verdict:
    """Of `count` samples from `index` on: one of `CLASSES`, and why."""

    index: int
    count: int
    kind: str
    message: str = ""


def verdicts(samples: Sequence[Sample], excuse: str, first: int, alone: bool) -> Iterator[Verdict]:
    """Judges samples from the `first` on: several of an op in one program, each alone where they do not agree."""
    size = 1 if alone or not all(isinstance(sample, OpSample) for sample in samples) else MOST_TOGETHER
    for start in range(first, len(samples), size):
        group: Any = samples[start : start + size]
        if len(group) > 1 and judged(joined(group))[0] == "agree":
            yield Verdict(start, len(group), "agree")
        else:
            yield from (Verdict(i, 1, *judged(sample, excuse)) for i, sample in enumerate(group, start))


def judged(sample: Sample, excuse: str = "") -> tuple[str, str]:
    """The class of one sample, and why; an `excuse` is for values that differ."""
    try:
        expected = sample.in_pytorch()
    except Exception as error:
        return "n/a", f"PyTorch: {first_line(error)}"
    try:
        given = sample.through_ingot()
    except Exception as error:
        return of_exception(error, sample, excuse)
    if message := structure(given, expected):
        return "silent", message
    mine, theirs = pytree.tree_leaves(given), pytree.tree_leaves(expected)
    if not values(mine, theirs):
        return "agree", ""
    steady = steady_leaves(sample, theirs)
    mine, theirs = [mine[i] for i in steady], [theirs[i] for i in steady]
    if not (message := values(mine, theirs)):
        return "agree", ""
    if excuse:
        return "excused", excuse
    return ("agree", "") if is_rounding(sample, steady, mine, theirs) else ("silent", message)


def of_exception(error: BaseException, sample: Sample, excuse: str = "") -> tuple[str, str]:
    """Whether a refusal is clear: it has a cause, the user's line or name for it, and a way out."""
    chain = [*causes(error)]
    if caught := next((e for e in chain if isinstance(e, ingot.torch.DisagreementError)), None):
        return ("excused", excuse) if excuse else ("silent", f"caught by the first call: {first_line(caught)}")
    refusal = next((e for e in chain if isinstance(e, ingot.torch.TraceError)), None)
    if refusal is None:
        try:
            sample.through_pytorch_alone()
        except Exception as own:
            return "n/a", f"PyTorch: {first_line(own)}"
        if ON_CPU_ALONE.search(str(chain[-1])):
            return "n/a", f"PyTorch: {first_line(chain[-1])}"
        return "raw", first_line(chain[-1])
    message = first_line(refusal)
    if not refusal.place and not NAME.search(refusal.what):
        return "unclear", f"no place: {message}"
    if not refusal.fix:
        return "unclear", f"no way out: {message}"
    return ("unclear" if EXCEPTION.search(refusal.what) or OURS.search(str(refusal)) else "refused"), message


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """An exception, and those that it wraps, as torch.compile wraps what its backends raise."""
    while error is not None:
        yield error
        error = getattr(error, "inner_exception", None) or error.__cause__


def first_line(error: BaseException) -> str:
    """The kind of an exception, and the first line that says something, without folders."""
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {FOLDERS.sub('', line)}"[:SHOWN]


def structure(given: Any, expected: Any) -> str:
    """How types, shapes or element types differ, "" where they do not."""
    mine, theirs = _by_path(given), _by_path(expected)
    for path in dict.fromkeys([*theirs, *mine]):
        if path not in mine or path not in theirs:
            return f"result{path} is {'PyTorch' if path in theirs else 'ingot'}'s alone"
        if (kind := _kind(mine[path])) != (of_pytorch := _kind(theirs[path])):
            return f"result{path} is {kind}, PyTorch's {of_pytorch}"
    return "" if pytree.tree_structure(given) == pytree.tree_structure(expected) else "other lists, tuples or dicts"


def _by_path(results: Any) -> dict[str, Any]:
    return {pytree.keystr(path): leaf for path, leaf in pytree.tree_flatten_with_path(results)[0]}


def _kind(leaf: Any) -> str:
    if not isinstance(leaf, torch.Tensor):
        return type(leaf).__name__
    return f"{str(leaf.dtype).removeprefix('torch.')}{[*leaf.shape]}"


def values(given: Sequence[Any], expected: Sequence[Any]) -> str:
    """How the first results that differ do so, by more than PyTorch's own tests allow; "" where none does."""
    return next(filter(None, map(_difference, given, expected)), "")


def _difference(given: Any, expected: Any) -> str:
    if not isinstance(expected, torch.Tensor):
        return "" if given == expected or (given != given and expected != expected) else f"{given!r}, not {expected!r}"
    try:
        torch.testing.assert_close(dense(given), dense(expected), equal_nan=True)
    except AssertionError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return f"{_kind(expected)}: {' '.join(lines)}"[:SHOWN]
    return ""


def steady_leaves(sample: Sample, expected: Sequence[Any]) -> list[int]:
    """The results that another seed does not change in PyTorch: those that are not random."""
    pairs = zip(pytree.tree_leaves(sample.in_pytorch(seed=1)), expected, strict=True)
    return [i for i, (a, b) in enumerate(pairs) if _kind(a) == _kind(b) and not _difference(a, b)]


def is_rounding(sample: Sample, steady: Sequence[int], given: Sequence[Any], expected: Sequence[Any]) -> bool:
    """Whether ingot is as near to f64 as PyTorch, whose inputs are moved by a unit in the last place."""
    random = torch.Generator().manual_seed(0)
    alters = [widened, *[lambda x: nudged(x, random)] * SHAKES]
    try:
        runs = [pytree.tree_leaves(sample.in_pytorch(alter)) for alter in alters]
        truth, *shaken = ([leaves[i] for i in steady] for leaves in runs)
    except Exception:  # there is no f64 of it
        return False
    return all(_is_near(*results) for results in zip(truth, given, expected, *shaken, strict=True))


def nudged(x: Any, random: torch.Generator) -> Any:
    """A tensor whose values move by about a unit in the last place, within their range; others as they are."""
    if not isinstance(x, torch.Tensor) or x.layout is not torch.strided or not x.numel():
        return x
    if not x.is_floating_point() and not x.is_complex():
        return x
    moved = (x * (1 + torch.randn(x.shape, generator=random) * torch.finfo(x.dtype).eps)).to(x.dtype)
    return moved if x.is_complex() else moved.clamp(x.min(), x.max())


def _is_near(truth: Any, given: Any, expected: Any, *shaken: Any) -> bool:
    if not isinstance(expected, torch.Tensor) or not (expected.is_floating_point() or expected.is_complex()):
        return not _difference(given, expected)
    true, mine, *theirs = (dense(x).to(torch.complex128) for x in (truth, given, expected, *shaken))
    finite = torch.stack([x.isfinite() for x in (true, *theirs)]).all(0)
    if not mine[finite].isfinite().all() or _difference(mine[~finite], theirs[0][~finite]):
        return False
    size = true[finite].norm().item() or 1
    mine_is_off, *theirs_are = ((x - true)[finite].norm().item() / size for x in (mine, *theirs))
    return mine_is_off <= TOLERANCE_FACTOR * max(theirs_are) + FLOOR * torch.finfo(expected.dtype).eps
