"""Factorizations of large matrices end soon after Ctrl-C, with the same results."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings

import numpy as np
import pytest

from ceiba import GaussianMixture
from ceiba.mixture import linalg


def interrupt_after(seconds):
    sent = []

    def send():
        time.sleep(seconds)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=send).start()
    return sent


def test_waiting_for_a_long_routine_is_interrupted():
    sent = interrupt_after(0.05)
    with pytest.raises(KeyboardInterrupt):
        linalg.run_interruptibly(lambda: time.sleep(5))
    assert time.perf_counter() - sent[0] < 1.0


def test_errors_and_results_pass_through():
    assert linalg.run_interruptibly(lambda: 7) == 7
    with pytest.raises(np.linalg.LinAlgError):
        linalg.cholesky(-np.eye(linalg.LARGE_MATRIX)[None])


def test_large_matrices_give_the_same_bits(monkeypatch):
    rng = np.random.default_rng(0)
    roots = rng.normal(size=(2, 30, 40))
    matrices = roots @ roots.transpose(0, 2, 1)
    small = linalg.cholesky(matrices), *linalg.eigh(matrices)
    small += (linalg.multiply_eigen(small[2], small[1]),)
    monkeypatch.setattr(linalg, "LARGE_MATRIX", 10)
    large = linalg.cholesky(matrices), *linalg.eigh(matrices)
    large += (linalg.multiply_eigen(large[2], large[1]),)
    for one, other in zip(small, large, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0.0, 0.001])
def test_mixture_of_many_columns_is_interrupted(missing):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 1200))
    X[rng.random(X.shape) < missing] = np.nan
    sent = interrupt_after(2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(KeyboardInterrupt):
            GaussianMixture(2, init_params="random", max_iter=1000, tol=0.0).fit(X)
    assert time.perf_counter() - sent[0] < 1.0  # 30 ms on an idle machine
