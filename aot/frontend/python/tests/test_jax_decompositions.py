"""Decompositions of matrices beside JAX, whose processors ask LAPACK for them: values and gradients.

What LAPACK leaves free, the signs of singular vectors and eigenvectors, drops out of the functions here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
import pytest
from jax_agreement import Bundle, distance

import ingot.jax

TOLERANCE = {np.float64: 1e-10, np.float32: 2e-5}
RANDOM = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape)


def eigenvectors(x: Any, lower: bool) -> Any:
    values, vectors = jax.lax.linalg.eigh(x, lower=lower, symmetrize_input=False)[::-1]
    return values, vectors**2, (vectors * values[..., None, :]) @ vectors.mT


def singular_vectors(x: Any, full_matrices: bool) -> Any:
    u, s, vt = jnp.linalg.svd(x, full_matrices=full_matrices)
    count = s.shape[-1]
    return s, u[..., :, :count] ** 2, u[..., :, :count] @ vt[..., :count, :]


def completed(x: Any) -> Any:
    """What does not depend on the vectors that nothing determines."""
    u, s, vt = jnp.linalg.svd(x)
    return u @ u.mT, vt @ vt.mT, s


SQUARE, TALL, WIDE, LARGE = normal(2, 5, 5), normal(2, 6, 4), normal(2, 4, 6), normal(100, 100)
RIGHT = normal(2, 5, 3)

# Each function of arrays gives arrays; those of floats have gradients.
CASES: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "solve": (jnp.linalg.solve, (SQUARE, RIGHT)),
    "solve_vector": (jnp.linalg.solve, (SQUARE[0], RIGHT[0, :, 0])),
    "inv": (jnp.linalg.inv, (SQUARE,)),
    "det": (lambda x: (jnp.linalg.det(x), *jnp.linalg.slogdet(x)), (SQUARE,)),
    "lu_factor": (lambda x: jsl.lu_factor(x), (SQUARE,)),
    "lu": (lambda x, y: (jsl.lu(x), jsl.lu(y)), (TALL[0], WIDE[0])),
    "lu_solve": (lambda x, b: jsl.lu_solve(jsl.lu_factor(x), b, trans=1), (SQUARE[0], RIGHT[0])),
    "qr": (lambda x, y: (*jnp.linalg.qr(x), jnp.linalg.qr(y, mode="r")), (TALL, SQUARE)),
    "eigh": (lambda x: eigenvectors(x, lower=True), (SQUARE,)),
    "eigh_upper": (lambda x: eigenvectors(x, lower=False), (SQUARE,)),
    "eigvalsh": (jnp.linalg.eigvalsh, (SQUARE,)),
    "svd": (lambda x, y: (singular_vectors(x, False), singular_vectors(y, False)), (TALL, WIDE)),
    "singular_values": (lambda x: jnp.linalg.svd(x, compute_uv=False), (TALL,)),
    "pinv": (jnp.linalg.pinv, (TALL[0],)),
    "large_solve": (lambda x: jnp.linalg.solve(x, x[:, :9] ** 2), (LARGE,)),
}


@pytest.fixture(scope="module", params=[np.float64, np.float32], ids=["f64", "f32"])
def dtype(request: pytest.FixtureRequest) -> type:
    return request.param


@cache
def outputs_of(name: str) -> Callable[..., dict[str, Any]]:
    """A case's arrays, and the gradients of their sum with weights."""
    function, arguments = CASES[name]

    def weighted(*xs: Any) -> Any:
        floats = [y for y in jax.tree.leaves(function(*xs)) if jnp.issubdtype(y.dtype, jnp.floating)]
        return sum(
            (jnp.sin(0.7 * jnp.arange(1, y.size + 1).reshape(y.shape)).astype(y.dtype) * y).sum() for y in floats
        )

    def whole(*xs: Any) -> dict[str, Any]:
        values = {f"value{i}": y for i, y in enumerate(jax.tree.leaves(function(*xs)))}
        gradients = jax.grad(weighted, argnums=tuple(range(len(arguments))))(*xs)
        return values | {f"gradient{i}": y for i, y in enumerate(gradients)}

    return jax.jit(whole)


@pytest.fixture(scope="module")
def bundle(dtype: type, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """Every case as an entry point."""
    program = ingot.jax.Program()
    with jax.enable_x64(dtype is np.float64):
        for name, (_, arguments) in CASES.items():
            whole = outputs_of(name)
            batch = tuple(x.astype(dtype) for x in arguments)
            program.add(name, lambda s, b, whole=whole: whole(*b), (), batch, training=False)
    return Bundle(program, tmp_path_factory.mktemp("decompositions"))


@pytest.mark.parametrize("name", CASES)
def test_decomposition(name: str, dtype: type, bundle: Bundle) -> None:
    arguments = [x.astype(dtype) for x in CASES[name][1]]
    outputs, _ = bundle.run({f"batch.{i}": x for i, x in enumerate(arguments)}, name)
    with jax.enable_x64(True):
        expected = {
            key: np.asarray(y) for key, y in outputs_of(name)(*(x.astype(np.float64) for x in arguments)).items()
        }
    assert outputs.keys() == expected.keys()
    for key, reference in expected.items():
        if np.issubdtype(reference.dtype, np.integer):
            assert np.array_equal(outputs[key], reference), key
        else:
            assert outputs[key].dtype == dtype
            assert distance(outputs[key], reference) <= TOLERANCE[dtype], (key, distance(outputs[key], reference))


def test_hard_spectra(dtype: type, tmp_path: Path) -> None:
    """Vectors are orthonormal and give the matrix back to a few roundings: graded, clustered and absent values."""
    size, epsilon = 33, np.finfo(dtype).eps
    basis = np.linalg.qr(normal(size, size))[0]
    order = np.arange(size)
    spectra = [10.0 ** -(order / 2), 1 + 1e-7 * order, order < 5, np.where(order % 2, 1, -1), order - 16.0]
    a = np.stack([basis * spectrum @ basis.T for spectrum in spectra]).astype(dtype)
    a = (a + a.mT) / 2

    def f(state: Any, batch: Any) -> Any:
        return {"eigh": tuple(jnp.linalg.eigh(batch)), "svd": tuple(jnp.linalg.svd(batch))}

    program = ingot.jax.Program()
    with jax.enable_x64(dtype is np.float64):
        program.add("f", f, (), a, training=False)
    outputs, _ = Bundle(program, tmp_path).run({"batch": a}, "f")
    values, vectors, u, s, vt = (outputs[n].astype(np.float64) for n in ("eigh.0", "eigh.1", "svd.0", "svd.1", "svd.2"))
    for left, middle, right in ((vectors, values, vectors.mT), (u, s, vt)):
        for orthonormal in (left, right):
            assert np.abs(orthonormal @ orthonormal.mT - np.eye(size)).max() < 20 * epsilon
        scale = np.abs(middle).max(axis=1)[:, None, None]
        assert (np.abs(left * middle[:, None] @ right - a) < 20 * epsilon * scale).all()
    assert (np.diff(values) >= 0).all()
    assert (np.diff(s) <= 0).all()
    assert (s >= 0).all()


def test_singular_matrices_end(tmp_path: Path) -> None:
    """As with LAPACK a pivot of zero is no error, and NaN stays NaN."""
    singular, nan = np.stack([np.ones((4, 4)), np.zeros((4, 4))]).astype(np.float32), np.eye(4, dtype=np.float32)
    nan[2, 1] = nan[1, 2] = np.nan

    def f(state: Any, batch: Any) -> Any:
        return {
            "lu": jax.lax.linalg.lu(batch["singular"]),
            "inv": jnp.linalg.inv(batch["singular"]),
            "eigh": jnp.linalg.eigh(batch["singular"])[0],
            "svd": tuple(jnp.linalg.svd(batch["singular"])),
            "nan": [jnp.linalg.inv(batch["nan"]), *jnp.linalg.eigh(batch["nan"]), *jnp.linalg.svd(batch["nan"])],
        }

    program, batch = ingot.jax.Program(), {"singular": singular, "nan": nan}
    program.add("f", f, (), batch, training=False)
    outputs, _ = Bundle(program, tmp_path).run({f"batch.{name}": x for name, x in batch.items()}, "f")
    for i, reference in enumerate(jax.lax.linalg.lu(singular)):
        np.testing.assert_array_equal(outputs[f"lu.{i}"], reference)
    assert not np.isfinite(outputs["inv"]).all(axis=(1, 2)).any()
    np.testing.assert_allclose(outputs["eigh"], [[0, 0, 0, 4], [0, 0, 0, 0]], atol=1e-6)
    u, s, vt = (outputs[f"svd.{i}"] for i in range(3))
    np.testing.assert_allclose(s, [[4, 0, 0, 0], [0, 0, 0, 0]], atol=1e-6)
    for vectors in (u, vt):
        np.testing.assert_allclose(vectors @ vectors.mT, [np.eye(4)] * 2, atol=1e-6)
    assert all(np.isnan(outputs[f"nan.{i}"]).any() for i in range(6))
