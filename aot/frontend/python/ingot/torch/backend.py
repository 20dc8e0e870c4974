"""``torch.compile(function, backend="ingot")``: each graph that PyTorch finds runs as a bundle.

Its ``options`` may have a ``memory_limit``, that of ``ingot.compile`` for a call forward, and for one backward.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import record_function

import ingot.torch.text.aten  # noqa: F401  (fills the table, which says what stays whole)
from ingot import cache
from ingot.compiler import MemoryLimit
from ingot.entry import Entry
from ingot.session import Bundle, Session
from ingot.stablehlo import Place, Port
from ingot.torch.base import metrics
from ingot.torch.base.errors import TraceError
from ingot.torch.base.places import dynamo_place_of, number_draws
from ingot.torch.base.profiles import kernel_events
from ingot.torch.base.replacements import exclusive
from ingot.torch.base.torch_internals.dynamo import aot_autograd, boxed, functorch_config, register_backend
from ingot.torch.base.torch_internals.modes import is_profiled, no_modes
from ingot.torch.base.torch_internals.ops import CHOOSE_ATTENTION
from ingot.torch.numbers.index_checks import INDICES_WITHIN, with_checks
from ingot.torch.program import ROUNDS
from ingot.torch.text.decompositions import decompositions
from ingot.torch.text.emit import Way, emit
from ingot.torch.tracing.state import outputs_of, stored
from ingot.torch.tracing.substitutes import OF_GRADIENTS, substitutes

MEMORY_LIMIT = "memory_limit"
SEED_MAX, ZERO = 2**63 - 1, torch.tensor(0)  # of calls' seeds; the number of each call's step
NO_TOKEN = torch.empty(0)  # PyTorch traces effects with such a tensor, and gives None in its place


@register_backend(name="ingot")  # type: ignore[untyped-decorator]
def backend(
    graph: torch.fx.GraphModule, inputs: Sequence[Any], *, options: Mapping[str, Any] | None = None
) -> Callable[..., Any]:
    """What torch.compile calls for each graph of a function. State is among its arguments, and stays PyTorch's.

    Raises ValueError for options that there are not.
    """
    _make_differentiable(graph)
    given = dict(options or {})
    graphs = Graphs(given.pop(MEMORY_LIMIT, None))
    if given:
        raise ValueError(f"the backend ingot has no option {', '.join(given)}; it has {MEMORY_LIMIT}")
    compile_graph = aot_autograd(
        fw_compiler=partial(graphs.add, "forward"),
        bw_compiler=partial(graphs.add, "backward"),
        decompositions=decompositions(),
    )
    backward_first = functorch_config().patch(force_non_lazy_backward_lowering=True)  # it comes before forward runs
    with backward_first, sdpa_kernel(SDPBackend.MATH):  # gradients of other kernels are one op without a rule
        function: Callable[..., Any] = compile_graph(graph, inputs)
    return function


def _make_differentiable(graph: torch.fx.GraphModule) -> None:
    """Has functions whose gradient is one op without a rule made of ops that have rules.

    Of attention too: what chooses a kernel of PyTorch's for it, as `sdpa_kernel` does, is left out.
    """
    choose = getattr(torch.nn.attention, CHOOSE_ATTENTION)
    for module in (module for module in graph.modules() if isinstance(module, torch.fx.GraphModule)):
        for node in list(module.graph.nodes):
            if node.op == "call_function" and node.target in DIFFERENTIABLE:
                node.target = _made_of_others(node.target, dynamo_place_of(node))
            elif node.target is choose:
                module.graph.erase_node(node)
        module.recompile()


def _made_of_others(function: Callable[..., Any], place: Place | None) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            with exclusive(), substitutes(OF_GRADIENTS):
                return function(*args, **kwargs)
        except TraceError as error:
            raise TraceError(error.what, place or error.place, error.fix) from error

    return call


DIFFERENTIABLE = (
    *(functional.ctc_loss, functional.grid_sample, functional.multilabel_margin_loss),
    *(functional.embedding, functional.embedding_bag, torch.embedding_renorm_, torch.ctc_loss, torch.grid_sampler),
)


class Graphs:
    """Forward and backward of one function: entry points of one bundle, which is compiled when one of them runs.

    What forward saves for backward is a result of the one and an argument of the other, in PyTorch's hands.
    """

    def __init__(self, memory_limit: MemoryLimit | None) -> None:
        self._memory_limit = memory_limit
        self._lock = threading.Lock()  # of the two below, as several threads may call the function first
        self._texts: dict[str, str] = {}  # of entry points that no bundle has yet
        self._entries: dict[str, tuple[Entry, Entry]] = {}  # each also as profilers see it

    def add(self, name: str, graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        """A graph of ATen ops as a function of its arguments.

        Each call draws a seed for its random ops from PyTorch's generator. Raises TraceError for sizes that are left
        open.
        """
        if not all(isinstance(value, torch.Tensor) for value in inputs):
            raise TraceError("the graph leaves sizes open", fix="torch.compile(..., dynamic=False) fixes them")
        _take_checks_to_pass(graph.graph)
        number_draws(graph.graph)
        results = _keep_tensors(graph.graph)
        checked = with_checks(graph)
        made = [result for result in results if result]
        gives = map(Port, [*made, INDICES_WITHIN] if checked else made)
        ports = [Port(f"x{i}") for i in range(len(inputs))]
        with no_modes():  # constants have values
            text, is_random = emit([Way(checked or graph)], name, ports, [*gives], counts_steps=False)
        self._texts[name] = text
        complex_results = {key for key, node in zip(made, _returned(graph.graph), strict=True) if _is_complex(node)}

        def run(*arguments: torch.Tensor | None) -> list[torch.Tensor | None]:
            given = [NO_TOKEN if argument is None else argument.resolve_conj() for argument in arguments]
            drawn = [torch.randint(SEED_MAX, ()), ZERO] if is_random else []
            tensors = self._outputs(name, [*given, *drawn])
            if not tensors.pop(INDICES_WITHIN, True):  # PyTorch raises an error
                tensors = dict(zip(made, map(stored, torch.fx.Interpreter(graph).run(*given)), strict=True))
            for key in complex_results:
                tensors[key] = torch.view_as_complex(tensors[key])
            return [tensors[key] if key else None for key in results]

        return boxed(run)

    def _outputs(self, name: str, tensors: Sequence[torch.Tensor]) -> dict[str, torch.Tensor]:
        """Runs an entry point, as an event of its own where a profiler of PyTorch's records it."""
        entry, profiled = self._entry(name)
        if not is_profiled():
            return outputs_of(entry, tensors)
        with record_function(f"ingot: {name}"):
            return outputs_of(profiled, tensors)

    def _entry(self, name: str) -> tuple[Entry, Entry]:
        with self._lock:
            if self._texts:
                texts, self._texts = self._texts, {}
                session = Session(self._compiled(texts))
                events = kernel_events(session.bundle)
                self._entries |= {key: (entry, entry.with_events(events)) for key, entry in session.entries.items()}
            return self._entries[name]

    def _compiled(self, texts: Mapping[str, str]) -> Bundle:
        with metrics.timed(metrics.COMPILE):
            return cache.compiled(texts, skip=ROUNDS, memory_limit=self._memory_limit)


def _take_checks_to_pass(graph: torch.fx.Graph) -> None:
    """Leaves out what raises an error for a matrix that has no inverse or no factors, as in whole steps.

    Raises TraceError for other effects of a graph, which PyTorch keeps in order by tokens.
    """
    for node in graph.find_nodes(op="call_function", target=torch.ops.higher_order.with_effects):
        token, op = node.args[:2]
        if op is not torch.ops.aten._linalg_check_errors.default:
            raise TraceError(
                f"the graph calls {op}, which does more than compute", fix="call it outside of the function"
            )
        for taken in list(node.users):
            taken.replace_all_uses_with(token)
            graph.erase_node(taken)
        graph.erase_node(node)


def _returned(graph: torch.fx.Graph) -> list[torch.fx.Node]:
    (returned,) = graph.output_node().args
    return list(returned)


def _keep_tensors(graph: torch.fx.Graph) -> list[str]:
    """Leaves tensors alone in what a graph returns; gives a name for each result that is one, "" for each other."""
    returned = _returned(graph)
    kept = [node for node in returned if isinstance(node, torch.fx.Node)]
    graph.output_node().args = (kept,)
    count = iter(range(len(kept)))
    return [f"y{next(count)}" if isinstance(node, torch.fx.Node) else "" for node in returned]


def _is_complex(node: torch.fx.Node) -> bool:
    return bool(node.meta["val"].is_complex())
