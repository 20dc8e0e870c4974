"""Training functions as JAX's users write them, small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax_agreement import Training

STEPS, ROWS, WIDTH, HIDDEN, CLASSES = 5, 8, 6, 16, 4
RANDOM = np.random.RandomState()


def normal(*shape: int, scale: float = 0.5) -> np.ndarray:
    return (scale * RANDOM.standard_normal(shape)).astype(np.float32)


def dense(inputs: int, outputs: int) -> dict[str, np.ndarray]:
    return {"w": normal(inputs, outputs), "b": normal(outputs)}


def classes(*shape: int) -> dict[str, np.ndarray]:
    """Batches of rows of that shape, and the class of each."""
    labels = RANDOM.randint(0, CLASSES, (STEPS, ROWS)).astype(np.int32)
    return {"x": normal(STEPS, ROWS, *shape, scale=1), "y": labels}


def cross_entropy(logits: jax.Array, labels: jax.Array) -> jax.Array:
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], -1).mean()


def apply(layer: Any, x: jax.Array) -> jax.Array:
    return x @ layer["w"] + layer["b"]


def mlp_loss(params: Any, batch: Any) -> jax.Array:
    return cross_entropy(apply(params["fc2"], jnp.tanh(apply(params["fc1"], batch["x"]))), batch["y"])


def mlp_params() -> Any:
    return {"fc1": dense(WIDTH, HIDDEN), "fc2": dense(HIDDEN, CLASSES)}


def sgd_by_hand() -> Training:
    """The learning rate is a number in the batch; parameters of the function are called as nobody expects."""

    def step(carry: Any, data: Any) -> Any:
        loss, grads = jax.value_and_grad(mlp_loss)(carry["params"], data)
        params = jax.tree.map(lambda p, g: p - data["lr"] * g, carry["params"], grads)
        return {"params": params, "step": carry["step"] + 1}, {"loss": loss}

    return Training(step, {"params": mlp_params(), "step": 0}, classes(WIDTH), {"lr": 0.25})


def adam_with_schedule() -> Training:
    schedule = optax.warmup_cosine_decay_schedule(0.0, 0.05, 2, STEPS)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(schedule))

    def step(state: Any, batch: Any) -> Any:
        loss, grads = jax.value_and_grad(mlp_loss)(state["params"], batch)
        updates, opt = optimizer.update(grads, state["opt"], state["params"])
        return {"params": optax.apply_updates(state["params"], updates), "opt": opt}, {"loss": loss}

    params = mlp_params()
    return Training(step, {"params": params, "opt": optimizer.init(params)}, classes(WIDTH), {})


def dropout(key: jax.Array) -> Training:
    """The state's key is split at every step; `key` is of the new style or of the old."""
    optimizer = optax.sgd(0.1, momentum=0.9)

    def step(state: Any, batch: Any) -> Any:
        key, mine = jax.random.split(state["key"])

        def loss_of(params: Any) -> jax.Array:
            hidden = jax.nn.relu(apply(params["fc1"], batch["x"]))
            kept = jnp.where(jax.random.bernoulli(mine, 0.75, hidden.shape), hidden / 0.75, 0)
            return cross_entropy(apply(params["fc2"], kept), batch["y"])

        loss, grads = jax.value_and_grad(loss_of)(state["params"])
        updates, opt = optimizer.update(grads, state["opt"])
        return {"params": optax.apply_updates(state["params"], updates), "opt": opt, "key": key}, {"loss": loss}

    params = mlp_params()
    state = {"params": params, "opt": optimizer.init(params), "key": key}
    return Training(step, state, classes(WIDTH), {}, has_f64=False)


class Cell(NamedTuple):
    """A recurrent layer of a NamedTuple."""

    inputs: Any
    hidden: Any


@jax.tree_util.register_dataclass
@dataclass
class TrainState:
    """A state as libraries of layers have it: a dataclass with what is fixed in the tree's structure."""

    step: Any
    params: Any
    moments: Any


def scan_rnn() -> Training:
    """A loop over time; the state is a dataclass of a NamedTuple, a list and a number."""

    def loss_of(params: Any, batch: Any) -> jax.Array:
        cell, (head,) = params

        def advance(h: jax.Array, x: jax.Array) -> tuple[jax.Array, None]:
            return jnp.tanh(apply(cell.inputs, x) + h @ cell.hidden), None

        first = jnp.zeros((ROWS, HIDDEN), batch["x"].dtype)
        h, _ = jax.lax.scan(advance, first, batch["x"].swapaxes(0, 1))
        return cross_entropy(apply(head, h), batch["y"])

    def step(state: TrainState, batch: Any) -> Any:
        loss, grads = jax.value_and_grad(loss_of)(state.params, batch)
        moments = jax.tree.map(lambda m, g: 0.9 * m + g, state.moments, grads)
        params = jax.tree.map(lambda p, m: p - 0.05 * m, state.params, moments)
        return TrainState(state.step + 1, params, moments), {"loss": loss}

    params = (Cell(dense(WIDTH, HIDDEN), normal(HIDDEN, HIDDEN, scale=0.2)), [dense(HIDDEN, CLASSES)])
    return Training(step, TrainState(0, params, jax.tree.map(np.zeros_like, params)), classes(7, WIDTH), {})


def bf16_mixed() -> Training:
    """Matrix products in bf16 of f32 parameters, and a bf16 average of them in the state."""

    def loss_of(params: Any, batch: Any) -> jax.Array:
        small = jax.tree.map(lambda a: a.astype(jnp.bfloat16), params)
        hidden = jax.nn.relu(apply(small["fc1"], batch["x"].astype(jnp.bfloat16)))
        return cross_entropy(apply(small["fc2"], hidden).astype(jnp.float32), batch["y"])

    def step(state: Any, batch: Any) -> Any:
        loss, grads = jax.value_and_grad(loss_of)(state["params"], batch)
        params = jax.tree.map(lambda p, g: p - 0.1 * g, state["params"], grads)
        average = jax.tree.map(lambda a, p: (0.5 * a + 0.5 * p).astype(jnp.bfloat16), state["average"], params)
        return {"params": params, "average": average}, {"loss": loss}

    params = mlp_params()
    average = jax.tree.map(lambda p: jnp.asarray(p, jnp.bfloat16), params)
    return Training(step, {"params": params, "average": average}, classes(WIDTH), {}, has_f64=False)


MODELS: dict[str, Callable[[], Training]] = {
    "sgd_by_hand": sgd_by_hand,
    "adam_with_schedule": adam_with_schedule,
    "dropout_new_key": lambda: dropout(jax.random.key(3)),
    "dropout_old_key": lambda: dropout(jax.random.PRNGKey(3)),
    "scan_rnn": scan_rnn,
    "bf16_mixed": bf16_mixed,
}


def make(name: str) -> Training:
    """A training made anew, the same each time."""
    RANDOM.seed(0)
    return MODELS[name]()
