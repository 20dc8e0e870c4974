"""Leaves of JAX's trees: their names, their types, and their values as NumPy has them."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ingot.folder import dotted
from ingot.jax.private import weakly_typed
from ingot.stablehlo import TensorType

DTYPES = {
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "ui8",
    "uint16": "ui16",
    "uint32": "ui32",
    "uint64": "ui64",
    "bool": "i1",
    "complex64": "complex<f32>",
    "complex128": "complex<f64>",
}


def named_leaves(tree: Any, root: str = "") -> dict[str, Any]:
    """The leaves of a tree by their dotted paths, which `root` begins: ``state.opt.0.mu.w``.

    Raises ValueError where two leaves would have one name.
    """
    named: dict[str, Any] = {}
    for path, leaf in jax.tree_util.tree_leaves_with_path(tree):
        name = ".".join(part for part in (root, dotted(path)) if part)
        if name in named:
            raise ValueError(f"two leaves are called {name!r}; take dots out of the keys of dictionaries")
        named[name] = leaf
    return named


def abstract(tree: Any, root: str) -> Any:
    """The same tree with a ShapeDtypeStruct in the place of each array and number, on no particular device.

    Raises TypeError with the path for what a program cannot hold.
    """
    types = [_abstract_leaf(leaf, name) for name, leaf in named_leaves(tree, root).items()]
    return jax.tree.unflatten(jax.tree.structure(tree), types)


def _abstract_leaf(leaf: Any, name: str) -> jax.ShapeDtypeStruct:
    try:
        aval = jax.typeof(leaf)
    except TypeError:
        raise TypeError(
            f"{name} is a {type(leaf).__name__}, no array; keep what is fixed out of the tree: let the function close "
            "over it, or make it a static field"
        ) from None
    return checked(aval, name)


def checked(aval: Any, name: str) -> jax.ShapeDtypeStruct:
    """What JAX knows of a leaf, as a ShapeDtypeStruct on no particular device.

    Raises TypeError with the leaf's name for what a program cannot hold.
    """
    if not hasattr(aval, "shape"):
        raise TypeError(f"{name} is {aval}, no array; leave it out")
    like = jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=getattr(aval, "weak_type", False))
    if stored(like).dtype.name not in DTYPES:
        what = "float0" if like.dtype == jax.dtypes.float0 else like.dtype
        raise TypeError(f"{name} is {what}, which is not supported; use one of {', '.join(DTYPES)}")
    if not all(isinstance(size, int) for size in like.shape):
        raise TypeError(f"{name} leaves sizes open, {like.shape}; give each a number: a program has one shape")
    return like


def is_key(leaf: Any) -> bool:
    """Whether a leaf holds random keys of the new style, ``jax.random.key``."""
    return bool(jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key))


def stored(like: jax.ShapeDtypeStruct) -> jax.ShapeDtypeStruct:
    """What a program has in the place of a leaf: the same, or the ui32 words of random keys."""
    return jax.eval_shape(jax.random.key_data, like) if is_key(like) else like


def type_of(like: jax.ShapeDtypeStruct) -> TensorType:
    """The type that a leaf has in a program."""
    held = stored(like)
    return TensorType(DTYPES[held.dtype.name], held.shape)


def to_numpy(leaf: Any, like: jax.ShapeDtypeStruct) -> np.ndarray:
    """The value of a leaf, as files have it; raises TypeError for a ``jax.ShapeDtypeStruct``, which has none."""
    if isinstance(leaf, jax.ShapeDtypeStruct):
        raise TypeError(f"{leaf} stands in the place of an array, but its values are needed; give the array")
    words = jax.random.key_data(leaf) if is_key(like) else leaf
    array = np.array(words, dtype=stored(like).dtype, order="C")
    return np.stack([array.real, array.imag], -1) if np.iscomplexobj(array) else array


def in_file(like: jax.ShapeDtypeStruct) -> jax.ShapeDtypeStruct:
    """What a file has in the place of a leaf: complex numbers are pairs of real ones, in one more, last dimension."""
    held = stored(like)
    real = np.finfo(held.dtype).dtype if jax.numpy.iscomplexobj(held) else None
    return jax.ShapeDtypeStruct((*held.shape, 2), real) if real else held


def from_numpy(value: np.ndarray, like: jax.ShapeDtypeStruct) -> jax.Array:
    """The array, or the random keys, that a file has."""
    array = jax.numpy.asarray(value.view(like.dtype)[..., 0] if jax.numpy.iscomplexobj(like) else value)
    if is_key(like):
        return jax.random.wrap_key_data(array, impl=_implementation(like))
    return weakly_typed(array, array.dtype, weak_type=True) if like.weak_type else array


def _implementation(keys: jax.ShapeDtypeStruct) -> Any:
    """The kind of random keys; JAX tells it only of keys that are there."""
    found: list[Any] = []
    jax.eval_shape(lambda k: found.append(jax.random.key_impl(k)), keys)
    return found[0]
