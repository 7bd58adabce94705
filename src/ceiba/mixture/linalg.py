"""Factorizations of large matrices that Ctrl-C interrupts within a fraction of a second."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from ceiba._typing import Array

R = TypeVar("R")

# Matrices of fewer columns are factorized within 50 ms.
LARGE_MATRIX = 400


def run_interruptibly(function: Callable[[], R]) -> R:
    """Call a function that releases the interpreter lock, in a thread that the caller waits for.

    A signal reaches Python code only between two instructions of the main thread, not inside of a
    LAPACK routine: an eigenvalue decomposition of 1,500 columns takes seconds. After Ctrl-C the
    routine ends by itself, and its result is dropped.
    """
    if threading.current_thread() is not threading.main_thread():
        return function()
    results: list[R] = []
    errors: list[BaseException] = []

    def call() -> None:
        try:
            results.append(function())
        except BaseException as error:  # raised again by the waiting thread
            errors.append(error)

    worker = threading.Thread(target=call, daemon=True)
    worker.start()
    while worker.is_alive():
        # Without a time limit, a signal that another thread received would not end the waiting.
        worker.join(0.05)
    if errors:
        raise errors[0]
    return results[0]


def for_each_matrix(function: Callable[[Array], R], matrices: Array) -> list[R] | None:
    """Apply a function to large matrices one by one; None where they are small."""
    if matrices.shape[-1] < LARGE_MATRIX:
        return None
    return [run_interruptibly(lambda one=one: function(one)) for one in matrices]  # type: ignore[misc]


def cholesky(matrices: Array) -> Array:
    """Compute the lower Cholesky factor of each matrix, (k, d, d)."""
    factors = for_each_matrix(np.linalg.cholesky, matrices)
    return np.linalg.cholesky(matrices) if factors is None else np.stack(factors)


def eigh(matrices: Array) -> tuple[Array, Array]:
    """Compute eigenvalues, ascending, and eigenvectors of each symmetric matrix, (k, d, d)."""
    parts = for_each_matrix(np.linalg.eigh, matrices)
    if parts is None:
        values, vectors = np.linalg.eigh(matrices)
        return values, vectors
    return np.stack([values for values, _ in parts]), np.stack([vectors for _, vectors in parts])


def multiply_eigen(vectors: Array, values: Array) -> Array:
    """Compute ``V diag(values) V'`` for each matrix of eigenvectors."""
    if vectors.shape[-1] < LARGE_MATRIX:
        return np.asarray((vectors * values[:, None, :]) @ vectors.transpose(0, 2, 1))
    pairs = zip(vectors, values, strict=True)
    return np.stack([(one * own) @ one.T for one, own in pairs])
