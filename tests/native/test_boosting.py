"""Growers of boosted trees that share their codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ceiba import GradientBoostingRegressor, _native
from ceiba._typing import Array

X = np.random.default_rng(0).normal(size=(6000, 5))
GRADIENT = np.random.default_rng(1).normal(size=(3, 6000)) + X.T[:3]
SEEDS = np.arange(3, dtype=np.uint64)


@pytest.fixture
def inputs(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the config, the codes and the encoding with which X is fitted."""
    kind, given = _native.BoostingGrower, []

    def keep(*arguments: Any) -> Any:
        given.append(arguments)
        return kind(*arguments)

    with monkeypatch.context() as context:
        context.setattr(_native, "BoostingGrower", keep)
        GradientBoostingRegressor(1).fit(X, X[:, 0])
    return given[0][:3]


@pytest.fixture
def make_grower(inputs: Any) -> Any:
    """Return a function that makes growers on the codes of X, or on a copy of them."""
    config, codes, encoding = inputs
    return lambda threads, copied=False: _native.BoostingGrower(
        config, codes.copy() if copied else codes, encoding, threads
    )


def grow(growers: list[Any], gradient: Array, **options: Any) -> None:
    parameters = {"rows": None, "columns": None, "seeds": SEEDS[: len(growers)], **options}
    _native.grow_trees(growers, gradient, None, None, **parameters)


def test_trees_grown_at_the_same_time_are_those_grown_alone(make_grower: Any) -> None:
    first = make_grower(3)
    together = [first, first.with_shared_codes(), first.with_shared_codes()]
    columns = np.array([[0, 1], [1, 2], [2, 4]], np.int32)
    grow(together, GRADIENT, columns=columns)
    for k in range(3):
        alone = make_grower(1)
        grow([alone], GRADIENT[[k]], columns=columns[[k]], seeds=SEEDS[[k]])
        np.testing.assert_array_equal(together[k].node_sums(), alone.node_sums())
        np.testing.assert_array_equal(
            together[k].newton_values(GRADIENT[[k]]), alone.newton_values(GRADIENT[[k]])
        )


def test_growers_must_be_different_and_share_their_codes(make_grower: Any) -> None:
    first = make_grower(2)
    with pytest.raises(ValueError, match="different"):
        grow([first, first], GRADIENT[:2])
    with pytest.raises(ValueError, match="share their codes"):
        grow([first, make_grower(2, copied=True)], GRADIENT[:2])


def test_growers_keep_their_number_of_outputs(make_grower: Any) -> None:
    first = make_grower(2)
    other = first.with_shared_codes()
    grow([other], GRADIENT[:1])
    with pytest.raises(ValueError, match="as many outputs per tree"):
        grow([make_grower(2), other], GRADIENT[[0, 1, 2, 0]])
    with pytest.raises(ValueError, match="as many outputs per tree"):
        grow([first, other], GRADIENT[[0, 1, 2, 0]])
    with pytest.raises(ValueError, match="one row per output"):
        other.newton_values(GRADIENT[:2])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("min_rows", 0),
        ("min_rows", 2**60),
        ("min_child_weight", -1.0),
        ("min_split_gain", np.nan),
        ("columns_per_node", -1),
        ("monotonic", [1]),
        ("monotonic", [2, 0, 0, 0, 0]),
    ],
)
def test_invalid_configs_raise(inputs: Any, name: str, value: Any) -> None:
    config, codes, encoding = inputs
    setattr(config, name, value)
    with pytest.raises(ValueError, match=f"{name}.* must"):
        _native.BoostingGrower(config, codes, encoding, 1)


def test_trees_of_several_outputs_have_no_constraints(inputs: Any) -> None:
    config, codes, encoding = inputs
    config.monotonic = [1, 0, 0, 0, 0]
    grower = _native.BoostingGrower(config, codes, encoding, 1)
    with pytest.raises(ValueError, match="several outputs"):
        grow([grower], GRADIENT[:2])
    grow([grower], GRADIENT[:1])


def test_a_grower_whose_growth_failed_has_no_tree(make_grower: Any) -> None:
    grower = make_grower(1)
    grow([grower], GRADIENT[:1])
    with pytest.raises(ValueError, match="finite"):
        grow([grower], np.full((1, 6000), np.inf))
    with pytest.raises(ValueError, match="grow"):
        grower.newton_values(GRADIENT[:1])
