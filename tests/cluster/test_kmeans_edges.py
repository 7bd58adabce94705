from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from ceiba import KMeans
from ceiba.cluster.statistics import Assignment
from ceiba.data import Table
from tests.oracles.kmeans_tables import groups

X = groups(3, 60, 3, 3)


def test_scalar_weight_applies_to_all_rows():
    plain, doubled = KMeans(3).fit(X), KMeans(3).fit(X, sample_weight=2.0)
    assert doubled.inertia_ == pytest.approx(2 * plain.inertia_)


def test_score_ignores_rows_of_weight_zero():
    model = KMeans(3).fit(X)
    odd = np.vstack([X, np.full((1, 3), np.inf)])
    assert model.score(odd, sample_weight=np.r_[np.ones(60), 0.0]) == pytest.approx(model.score(X))


def test_partial_fit_requires_parameters_of_the_model():
    model = KMeans(3, trace=True).fit(X)
    with pytest.raises(ValueError, match="n_clusters"):
        model.set_params(n_clusters=4).partial_fit(X)
    with pytest.raises(ValueError, match="tol"):
        model.set_params(n_clusters=3, tol=-1.0).partial_fit(X)
    model.set_params(tol=0.0).partial_fit(X[:20])
    assert not hasattr(model, "trace_")
    assert len(model.labels_) == 20


def test_distant_centers_are_measured_or_raise():
    single = X.astype(np.float32)
    far = np.array([[0.0] * 3, [1e25] * 3])
    model = KMeans(2, init=far, trace=True)
    with pytest.warns(UserWarning, match="relocated"):
        model.fit(single)
    assert all(np.isfinite(frame["inertia"]) for frame in model.trace_)
    with pytest.raises(ValueError, match="rescale"):
        KMeans(2, init=far * 1e175).fit(X)


def test_float32_batches_far_from_the_centers_are_measured():
    model = KMeans(2).fit(np.array([[0.0], [1e18], [1e20], [1.01e20]], np.float32))
    model.partial_fit(np.full((4, 1), 5e19, np.float32)).partial_fit(np.float32([[-5e20]]))
    assert np.isfinite(model.inertia_)


def test_labels_of_many_parts_are_concatenated_once():
    parts = [Assignment((np.full(2, i, np.int32),), 1.0) for i in range(5)]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.merge(part)
    assert whole.labels.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert whole.inertia == 5.0


def test_record_batch_is_read_like_a_table():
    pa = pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": [1.0, 2, 3, 4], "z": [0.0, 0, 9, 9]})
    model = KMeans(2).fit(frame)
    batch = pa.RecordBatch.from_pandas(frame)
    assert Table.of(batch).schema.names == ["a", "z"]
    np.testing.assert_array_equal(model.predict(batch), model.labels_)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pa.RecordBatch.from_pandas(frame[["z", "a"]]))


def test_callback_gets_the_model_of_each_iteration():
    pytest.importorskip("sklearn.callback")

    class Watcher:
        def setup(self, estimator, context):
            self.scores = []

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
            if context.task_name == "iteration" and fitted_estimator is not None:
                self.scores.append(fitted_estimator.score(X))

    watcher = Watcher()
    model = KMeans(3, init=X[:3], tol=0.0).set_callbacks(watcher).fit(X)
    assert len(watcher.scores) == model.n_iter_
    assert watcher.scores == sorted(watcher.scores)
    assert watcher.scores[-1] == pytest.approx(-model.inertia_)
