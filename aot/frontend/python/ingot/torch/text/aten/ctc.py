"""The loss of connectionist temporal classification and its gradient, each a loop over the frames.

Source: Graves, Fernández, Gomez, Schmidhuber, "Connectionist temporal classification", ICML 2006, equations 5 to 16,
with logarithms in the place of probabilities. Shapes: log_probs [t, n, classes], targets [n, s], lengths [n]. A path
goes through 2 * s + 1 states: the labels, with blanks before, between and after them.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

from ingot.stablehlo import TensorType, Value
from ingot.torch.text.aten.indexing import gather, rows, scatter_add
from ingot.torch.text.lowering import Lowering, aten

NEVER = -1e30  # the logarithm of a probability of 0; sums with it stay finite
INDEX = TensorType("i64")

Frame = Callable[[Value, Value], Value]


class States:
    """The states of each sequence, [n, 2 * s + 1], and which of them paths may go through."""

    def __init__(self, e: Lowering, log_probs: Value, targets: Value, wanted: Value, blank: int) -> None:
        _, labels = targets.shape
        between = [0, 1] if labels else [0, 0]
        self._e, self.frames = e, log_probs.shape[0]
        classes = e.pad(e.convert(targets, "i64"), e.constant(blank, INDEX), [0, 1], between, between)
        self.type = TensorType(log_probs.dtype, classes.shape)
        self.classes = e.broadcast_in_dim(classes, (self.frames, *classes.shape), [1, 2])
        self.emitted = gather(e, log_probs, 2, self.classes)
        self.never = e.constant(NEVER, self.type)
        before_last = e.pad(classes, e.constant(blank, INDEX), [0, 2], [0, -2])
        is_label = e.compare("NE", classes, e.constant(blank, classes.type))
        self.may_skip = e.binary("and", e.compare("NE", classes, before_last), is_label)
        self._number = e.iota(1, classes.type)
        last = e.binary("multiply", wanted, e.constant(2, wanted.type))
        self._last = e.broadcast_in_dim(last, classes.shape, [0])
        is_last = e.compare("EQ", self._number, self._last)
        is_label_before = e.compare("EQ", e.binary("add", self._number, e.constant(1, classes.type)), self._last)
        self.ends = e.select(e.binary("or", is_last, is_label_before), e.constant(0, self.type), self.never)

    def start(self) -> Value:
        """Before the first frame: paths go to the first blank or the first label from here."""
        e = self._e
        is_first = e.compare("EQ", self._number, e.constant(0, self._number.type))
        return e.select(is_first, e.constant(0, self.type), self.never)

    def is_within(self, t: Value, lengths: Value) -> Value:
        """Whether a frame is within each length, for each state."""
        e = self._e
        within = e.compare("LT", e.broadcast_in_dim(t, lengths.shape, []), lengths)
        return e.broadcast_in_dim(within, self.type.shape, [0])

    def are_wanted(self) -> Value:
        """Whether states are of a sequence's own labels."""
        return self._e.compare("LE", self._number, self._last)

    def shifted(self, x: Value, by: int) -> Value:
        """Each state's value at another state."""
        return self._e.pad(x, NEVER, [0, by], [0, -by])

    def row(self, t: Value) -> Value:
        """The states' log-probabilities in a frame."""
        return rows(self._e, self.emitted, t, 0)

    def sum(self, *logs: Value) -> Value:
        """The logarithm of the sum of what these are logarithms of."""
        e = self._e
        most = functools.reduce(functools.partial(e.binary, "maximum"), logs)
        parts = (e.unary("exponential", e.binary("subtract", x, most)) for x in logs)
        return e.binary("add", most, e.unary("log", functools.reduce(functools.partial(e.binary, "add"), parts)))

    def over_frames(
        self, frame: Frame, start: Value, shown: Frame, *, is_backward: bool = False
    ) -> tuple[Value, Value]:
        """What `frame` makes of the frame before, for the last frame; and for each what is `shown` of that."""
        e = self._e
        count, one = e.constant(self.frames, INDEX), e.constant(1, INDEX)

        def body(carried: list[Value]) -> list[Value]:
            i, values, every = carried
            after = e.binary("add", i, one)
            t = e.binary("subtract", count, after) if is_backward else i
            made = frame(t, values)
            row = shown(t, made)
            every = e.scatter("set", every, e.reshape(t, (1,)), row, window_dims=[0, 1], inserted=[0], index_map=[0])
            return [after, made, every]

        every = e.constant(NEVER, self.emitted.type)
        starts = [e.constant(0, INDEX), start, every]
        _, last, every = e.while_loop(starts, lambda carried: [e.compare("LT", carried[0], count)], body)
        return last, every


@aten("ingot::ctc_loss.default")
def ctc_loss(
    e: Lowering, log_probs: Value, targets: Value, given: Value, wanted: Value, blank: int, zero: bool
) -> tuple[Value, Value]:
    """Minus the log-likelihood of each sequence [n], and of paths to each state in each frame [t, n, 2 * s + 1].

    A loss is infinite where no path has the labels. Of paths it is the log-likelihood itself.
    """
    states = States(e, log_probs, targets, wanted, blank)

    def frame(t: Value, paths: Value) -> Value:
        skipped = e.select(states.may_skip, states.shifted(paths, 2), states.never)
        reached = e.binary("add", states.sum(paths, states.shifted(paths, 1), skipped), states.row(t))
        return e.select(states.is_within(t, given), reached, paths)

    def shown(t: Value, paths: Value) -> Value:
        is_reached = e.binary("and", states.is_within(t, given), states.are_wanted())
        return e.select(is_reached, paths, states.never)

    last, every = states.over_frames(frame, states.start(), shown)
    ended = e.binary("add", last, states.ends)
    most = e.reduce("maximum", ended, [1])
    parts = e.unary("exponential", e.binary("subtract", ended, e.broadcast_in_dim(most, ended.shape, [0])))
    likelihood = e.binary("add", most, e.unary("log", e.reduce("add", parts, [1])))
    is_impossible = e.compare("LT", likelihood, e.constant(NEVER / 2, likelihood.type))
    losses = e.select(is_impossible, e.constant(math.inf, likelihood.type), e.unary("negate", likelihood))
    return losses, every


@aten("ingot::ctc_gradient.default")
def ctc_gradient(
    e: Lowering,
    gradient: Value,
    log_probs: Value,
    targets: Value,
    given: Value,
    wanted: Value,
    losses: Value,
    paths: Value,
    blank: int,
    zero: bool,
) -> Value:
    """Probabilities of classes, less the share of the paths that are in a class's states; 0 outside of lengths.

    That is the gradient of log_softmax's operand, as PyTorch gives it. Of an infinite loss it is NaN, or 0.
    """
    states = States(e, log_probs, targets, wanted, blank)
    one, last = e.constant(1, INDEX), e.constant(states.frames - 1, INDEX)
    before_end = e.binary("subtract", given, e.constant(1, given.type))

    def frame(t: Value, rest: Value) -> Value:
        """Of the paths from each state to the end, without the state's own frame."""
        later = e.binary("add", rest, states.row(e.binary("minimum", e.binary("add", t, one), last)))
        skipped = states.shifted(e.select(states.may_skip, later, states.never), -2)
        reached = states.sum(later, states.shifted(later, -1), skipped)
        return e.select(states.is_within(t, before_end), reached, states.ends)

    _, rests = states.over_frames(frame, states.ends, lambda _, rest: rest, is_backward=True)
    whole = e.broadcast_in_dim(losses, paths.shape, [1])
    shares = e.unary("exponential", e.binary("add", e.binary("add", paths, rests), whole))
    by_class = scatter_add(e, e.constant(0, log_probs.type), 2, states.classes, shares)
    factor = e.broadcast_in_dim(gradient, log_probs.shape, [1])
    found = e.binary("multiply", factor, e.binary("subtract", e.unary("exponential", log_probs), by_class))
    is_infinite = e.broadcast_in_dim(e.compare("EQ", losses, e.constant(math.inf, losses.type)), found.shape, [1])
    found = e.select(is_infinite, e.constant(0 if zero else math.nan, found.type), found)
    frames = e.iota(0, found.type.with_dtype("i64"))
    is_within = e.compare("LT", frames, e.broadcast_in_dim(given, found.shape, [1]))
    return e.select(is_within, found, e.constant(0, found.type))
