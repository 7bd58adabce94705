"""Fits of gradient boosting that are killed again and again end with the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ensemble.gradient_boosting.interrupted_fit import CASES, kill_after_writes, make
from tests.ensemble.gradient_boosting.test_checkpoint import assert_equal_fits, open_checkpoint

N_KILLS = 4

pytestmark = pytest.mark.soak


# A fit that stops early would end before it is killed.
@pytest.mark.parametrize("case", sorted(CASES.keys() - {"held_out", "one_tree"}))
def test_a_fit_that_is_killed_again_and_again(case, tmp_path):
    path = tmp_path / "fit.ckpt"
    rng = np.random.default_rng(sum(case.encode()))
    reached = [0]
    for _ in range(N_KILLS):
        kill_after_writes(case, path, int(rng.integers(2, 12)))
        reached.append(open_checkpoint(path, None).stored.trees.n_rounds)
    assert sorted(set(reached)) == reached  # every process continued the one before it
    learner, X, y = make(case, reached[-1] + 3)
    expected = make(case, reached[-1] + 3)[0].fit(X, y)
    assert_equal_fits(learner.fit(X, y, checkpoint=path), expected)
