"""Assignment and sums against loops and exact arithmetic, with and without row state."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics.pairwise import nan_euclidean_distances

from ceiba import _native
from ceiba.cluster.statistics import Assignment, CenterSums, center_distances, farthest_points
from ceiba.engine import Batch
from ceiba.engine.local import LocalRows
from ceiba.stats import Points, PointSpace
from tests.budget import examples
from tests.oracles import kmeans_naive as naive
from tests.oracles.kmeans_tables import groups, ones, problems

DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def space_of(X, bounded=True):
    observed = ~np.isnan(X)
    mean = np.where(observed, X, 0.0).sum(axis=0, dtype=float) / observed.sum(axis=0)
    return PointSpace(mean, not observed.all(), bounded)


def positive(X, weight):
    """Drop rows of weight zero, as the learner does."""
    return (X, None) if weight is None else (X[weight > 0], weight[weight > 0])


# One iteration, without row state


def assert_sums(sums, X, weight, own, k, offset):
    rows, weights = X.tolist(), ones(X, weight)
    total = np.array(naive.column_weights(rows, weights, own, k))
    summed = np.array(naive.column_sums(rows, weights, own, k, offset.tolist()))
    size = np.sum(weights) * max(1.0, np.nanmax(np.abs(X - offset)))
    np.testing.assert_allclose(sums.sums, summed, rtol=1e-12, atol=1e-13 * size)
    np.testing.assert_allclose(np.broadcast_to(sums.weights, total.shape), total, rtol=1e-13)
    assert sums.counts.tolist() == [own.count(c) for c in range(k)]
    # A cluster is empty or not, whatever the rounding.
    np.testing.assert_array_equal(np.broadcast_to(sums.weights == 0, total.shape), total == 0)


def check_step(X, weight, centers, own):
    """Check sums, inertia and distances of the assignment ``own``."""
    space, batch = space_of(X), Batch(Points(X, weight))
    rows = X.astype(float).tolist()
    found = Assignment.of(batch, space, centers)
    assert found.labels.tolist() == own
    sums = CenterSums.of(batch, space, centers, None, True)
    assert_sums(sums, X.astype(float), weight, own, len(centers), space.offset)
    # Rounding of differences of numbers of this size, relative to the mean.
    size = max(np.nanmax(np.abs(X - space.offset)), np.abs(centers - space.offset).max()) ** 2
    close = 1e-13 if X.dtype == np.float64 else 1e-6
    inertia = naive.inertia(rows, ones(X, weight), centers.tolist())
    room = 10 * close * size * sum(ones(X, weight)) * X.shape[1]
    assert found.inertia == pytest.approx(inertia, rel=close, abs=room)
    assert sums.inertia == pytest.approx(inertia, rel=close, abs=room)
    assert sums.moved == len(X)


@examples(120)
@given(problem=problems(whole=True), single=st.booleans())
def test_exact_ties_go_to_the_first_center(problem, single):
    X, weight, centers = problem
    X, weight = positive(X, weight)
    own = naive.exact_labels(X.tolist(), centers.tolist())
    check_step(X.astype(np.float32) if single else X, weight, centers, own)


@examples(120)
@given(problem=problems(whole=True, missing=True), single=st.booleans())
def test_exact_ties_with_missing_values_go_to_the_first_center(problem, single):
    X, weight, centers = problem
    X, weight = positive(X, weight)
    kept = ~np.isnan(X).all(axis=0)
    kept[0] |= not kept.any()
    X, centers = np.ascontiguousarray(X[:, kept]), np.ascontiguousarray(centers[:, kept])
    rows = ~np.isnan(X).all(axis=1)
    X, weight = X[rows], None if weight is None else weight[rows]
    own = naive.exact_labels(X.tolist(), centers.tolist())
    check_step(X.astype(np.float32) if single else X, weight, centers, own)


@DTYPES
@pytest.mark.parametrize("missing", [False, True])
def test_row_midway_between_two_centers_belongs_to_the_first(dtype, missing):
    rng = np.random.default_rng(0)
    for _ in range(200):
        a, b, other = rng.integers(-1000, 1000, size=3) * 2.0
        X = np.array([[(a + b) / 2, 7.0], [other, 1.0], [-other / 2, 5.0]], dtype)
        X[0, 1] = np.nan if missing else X[0, 1]
        centers = np.array([[a, 1.0], [b, 1.0]])
        space = space_of(X)
        assert Assignment.of(Batch(Points(X)), space, centers).labels[0] == 0
        # Prediction uses another origin.
        assert Assignment.of(Batch(Points(X[:1])), None, centers).labels[0] == 0


@examples(100)
@given(problem=problems(), scale=st.sampled_from([1e-140, 1e-30, 1.0, 1e30, 1e140]))
def test_labels_match_exact_arithmetic(problem, scale):
    X, weight, centers = problem
    X, weight = positive(X, weight)
    X, centers = X * scale, centers * scale
    found = Assignment.of(Batch(Points(X, weight)), space_of(X), centers)
    for row, label in zip(X.tolist(), found.labels, strict=True):
        exact = [naive.exact_squared(row, center) for center in centers.tolist()]
        # Centers that differ by rounding alone are equally valid.
        assert exact[label] <= min(exact) * Fraction(1 + 1e-12)


@DTYPES
@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_every_number_of_columns_and_centers_is_handled(dtype, shift):
    """Kernels work in blocks and lanes: no remainder may be lost."""
    rng = np.random.default_rng(1)
    for d in (1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 33):
        for k in (1, 2, 3, 4, 5, 8, 9, 17):
            X = (rng.normal(size=(37, d)) + shift).astype(dtype)
            centers = rng.normal(size=(k, d)) + shift
            far = np.linalg.norm(X[:, None].astype(float) - centers, axis=2)
            batch, space = Batch(Points(X)), space_of(X)
            labels = Assignment.of(batch, space, centers).labels
            np.testing.assert_array_equal(labels, far.argmin(axis=1))
            distances = center_distances(batch, space, centers)
            np.testing.assert_allclose(distances, far, rtol=1e-9 if dtype == np.float64 else 2e-3)


@examples(60)
@given(problem=problems(missing=True))
def test_distances_with_missing_values_are_scaled_up(problem):
    X, _, centers = problem
    found = center_distances(Batch(Points(X)), None, centers)
    expected = [[naive.scaled_distance(x, c) for c in centers.tolist()] for x in X.tolist()]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found, nan_euclidean_distances(X, centers), rtol=1e-9, atol=1e-5)


@examples(60)
@given(problem=problems(whole=True), m=st.integers(1, 40))
def test_farthest_rows_come_first(problem, m):
    X, weight, centers = problem
    X, weight = positive(X, weight)
    space = PointSpace(np.zeros(X.shape[1]), False)
    far = farthest_points(Batch(Points(X, weight), 100), space, centers, m)
    own = naive.labels(X.tolist(), centers.tolist())
    squared = [naive.squared(x, centers[o]) for x, o in zip(X.tolist(), own, strict=True)]
    order = sorted(range(len(X)), key=lambda i: (-squared[i], i))[:m]
    assert far.rows.tolist() == [100 + i for i in order]
    assert far.labels.tolist() == [own[i] for i in order]
    np.testing.assert_allclose(far.values, [squared[i] for i in order], rtol=1e-12)
    np.testing.assert_array_equal(far.points, X[order])


def test_unobserved_coordinate_keeps_its_value():
    X = np.array([[0.0, np.nan], [2.0, np.nan], [100.0, 1.0]])
    centers = np.array([[1.0, 77.0], [100.0, 2.0], [500.0, 500.0]])
    sums = CenterSums.of(Batch(Points(X)), space_of(X), centers)
    solved = sums.solve(space_of(X), centers)
    np.testing.assert_allclose(solved, [[1.0, 77.0], [100.0, 1.0], [500.0, 500.0]])


# Many iterations, with and without row state


def assert_same_iteration(kept, X, weight, space, centers, before):
    """An iteration with row state equals one without."""
    one = CenterSums.of(kept, space, centers, None, True)
    labels = kept.scratch["lloyd"].labels.copy()
    fresh = Batch(Points(X, weight))
    np.testing.assert_array_equal(labels, Assignment.of(fresh, space, centers).labels)
    other = CenterSums.of(fresh, space, centers, None, True)
    np.testing.assert_array_equal(one.counts, np.bincount(labels, minlength=len(centers)))
    np.testing.assert_array_equal(other.counts, one.counts)
    np.testing.assert_array_equal(one.weights == 0, other.weights == 0)
    size = np.sum(ones(X, weight)) * max(np.abs(X - space.offset).max(), 1e-300)
    np.testing.assert_allclose(one.sums, other.sums, rtol=1e-9, atol=1e-13 * size)
    np.testing.assert_allclose(one.weights, other.weights, rtol=1e-9)
    assert one.inertia == pytest.approx(other.inertia, rel=1e-12)
    moved = len(X) if before is None else int((labels != before).sum())
    assert one.moved == moved
    return one, labels


def walk(X, weight, space, path):
    kept, before = LocalRows(Points(X, weight), 0, 1), None
    for centers in path:
        _, before = assert_same_iteration(kept, X, weight, space, centers, before)
    return kept


@examples(80)
@given(problem=problems(whole=True), single=st.booleans(), data=st.data())
def test_cached_bounds_and_sums_never_change_a_tie(problem, single, data):
    X, weight, centers = problem
    X, weight = positive(X, weight)
    # At least 24 coordinates, from which on bounds are kept.
    wide = np.tile(X, (1, -(-24 // X.shape[1])))
    centers = np.tile(centers, (1, -(-24 // X.shape[1])))
    steps = data.draw(
        st.lists(arrays(np.int8, centers.shape, elements=st.integers(-1, 1)), max_size=8)
    )
    path = np.cumsum([centers, *steps], axis=0)
    X = wide.astype(np.float32) if single else wide
    kept = walk(X, weight, space_of(X), list(path))
    assert kept.scratch["lloyd"].upper is not None


@examples(80)
@given(problem=problems(), data=st.data())
def test_cached_sums_follow_any_path_of_the_centers(problem, data):
    X, weight, centers = problem
    X, weight = positive(X, weight)
    size = st.sampled_from([0.0, 1e-9, 1e-3, 1.0, 50.0])
    path = [centers]
    for _ in range(data.draw(st.integers(1, 8))):
        step = data.draw(arrays(np.float64, centers.shape, elements=st.floats(-1, 1)))
        path.append(path[-1] + data.draw(size) * step)
    walk(X, weight, space_of(X), path)


@DTYPES
@pytest.mark.parametrize("scale", [2e-15, 1e-9, 1.0, 1e14])
def test_bounds_hold_for_every_scale_and_nested_groups(dtype, scale):
    rng = np.random.default_rng(2)
    for tight in (1e-1, 1e-3, 1e-6):
        X = rng.normal(size=(300, 6))
        X[:200] = X[0] + tight * rng.normal(size=(200, 6))
        X = (X * scale).astype(dtype)
        centers = X[rng.choice(200, size=8, replace=False)].astype(float)
        space, before = space_of(X), None
        kept = LocalRows(Points(X), 0, 1)
        for _ in range(10):
            sums, before = assert_same_iteration(kept, X, None, space, centers, before)
            centers = sums.solve(space, centers)
            centers += 1e-3 * tight * scale * rng.normal(size=centers.shape)


@DTYPES
@pytest.mark.parametrize("weighted", [False, True])
def test_long_run_on_many_segments_stays_exact(dtype, weighted):
    X = groups(3, 9000, 8, 12, spread=2.0).astype(dtype)
    weight = np.random.default_rng(4).exponential(size=len(X)) if weighted else None
    space, centers, before = space_of(X), X[:16].astype(float), None
    kept = LocalRows(Points(X, weight), 0, 1)
    for _ in range(25):
        sums, before = assert_same_iteration(kept, X, weight, space, centers, before)
        centers = sums.solve(space, centers)


def test_bounds_avoid_distances():
    X = groups(5, 3000, 8, 8, spread=0.5)
    space, centers = space_of(X), np.unique(groups(5, 3000, 8, 8, spread=0.0), axis=0) + 0.1
    kept = LocalRows(Points(X), 0, 1)
    for _ in range(3):
        centers = CenterSums.of(kept, space, centers).solve(space, centers)
    state = kept.scratch["lloyd"]
    points = _native.KMeansPoints(X, None, space.offset, False)
    _, moved, scanned = _native.center_sums(points, centers, state.native(with_sums=False))
    assert moved <= scanned < len(X) / 4


@pytest.mark.parametrize(
    "weights", [(0.1, 0.2), (0.7, 0.1, 0.1), (1e16, 1.0), (1e-20, 1e-22, 3e-21)]
)
def test_cluster_that_all_rows_left_has_zero_sums(weights):
    """Whatever the rounding of their sums."""
    few = len(weights)
    X = np.vstack([groups(6, 90, 3, 1), np.arange(3.0 * few).reshape(few, 3) + 100.3])
    weight = np.concatenate([np.full(90, 0.1), weights])
    at = np.array([[0.0, 0.0, 0.0], [101.0, 102.0, 103.0]])
    gone = np.array([[0.0, 0.0, 0.0], [1e6, 1e6, 1e6]])
    walk(X, weight, space_of(X), [at, gone, gone, at])


@pytest.mark.parametrize("heavy", [1e3, 1e10, 1e17, 1e40])
def test_heavy_row_that_leaves_removes_all_its_weight(heavy):
    X = np.vstack([groups(7, 90, 2, 1), [[60.0, 60.0], [50.0, 50.0], [51.0, 50.0]]])
    weight = np.concatenate([np.full(90, 0.1), [heavy, 0.3, 0.1]])
    middle, gone = X[:90].mean(axis=0), [1e4, 1e4]
    together, apart = [middle, [55.0, 55.0], gone], [middle, [50.0, 50.0], [62.0, 62.0]]
    kept = walk(X, weight, space_of(X), [np.array(together), np.array(apart)])
    sums = CenterSums.of(kept, space_of(X), np.array(apart))
    left = sums.solve(space_of(X), np.array(apart))[1]
    np.testing.assert_allclose(left, [50.25, 50.0], rtol=1e-9)


@DTYPES
def test_moved_rows_are_counted_without_row_state(dtype):
    X = groups(8, 400, 3, 4).astype(dtype)
    space, before = space_of(X), X[:5].astype(float)
    after = before + 0.5
    batch = Batch(Points(X))
    sums = CenterSums.of(batch, space, after, before)
    old, new = (Assignment.of(batch, space, centers).labels for centers in (before, after))
    assert sums.moved == (old != new).sum() > 0


def test_state_of_another_problem_is_discarded():
    """Another number of centers, or sums relative to another offset."""
    X = groups(9, 50, 2, 2)
    kept, space = LocalRows(Points(X), 0, 1), space_of(X)
    CenterSums.of(kept, space, X[:3].copy())
    assert CenterSums.of(kept, space, X[:4].copy()).counts.sum() == 50
    shifted = replace(space, offset=space.offset + 7.0)
    found = CenterSums.of(kept, shifted, X[:4].copy())
    fresh = CenterSums.of(LocalRows(Points(X), 0, 1), shifted, X[:4].copy())
    np.testing.assert_array_equal(found.sums, fresh.sums)


@DTYPES
@pytest.mark.parametrize("missing", [False, True])
def test_threads_change_no_bit(dtype, missing):
    X = groups(10, 20_000, 6, 4).astype(dtype)
    if missing:
        X[::13, 1] = np.nan
    weight = np.random.default_rng(5).exponential(size=len(X))
    space, centers = space_of(X), X[:8].astype(float)
    centers[np.isnan(centers)] = 0.0

    def run(threads):
        kept, path = LocalRows(Points(X, weight), 0, threads), [centers]
        for _ in range(4):
            sums = CenterSums.of(kept, space, path[-1], None, True)
            path.append(sums.solve(space, path[-1]))
        return [*path, sums.inertia, kept.scratch["lloyd"].labels]

    one = run(1)
    for threads in (2, 3):
        for left, right in zip(one, run(threads), strict=True):
            np.testing.assert_array_equal(left, right)
