"""Sparse matrices and arrays are made dense within a limit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from ceiba import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GaussianMixture,
    GaussianMixtureClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    KMeans,
    KNeighborsClassifier,
    KNeighborsRegressor,
    LatentClassMixture,
    NaiveBayesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StructuralTMClassifier,
    TANClassifier,
)
from ceiba.data import Table

LEARNERS = [
    AdaBoostClassifier(n_estimators=2),
    AdaBoostRegressor(n_estimators=2),
    AdaBoostClassifier(LogisticRegression(), n_estimators=2),
    BaggingClassifier(n_estimators=2),
    BaggingClassifier(LogisticRegression(), n_estimators=2, max_features=0.5),
    BaggingRegressor(n_estimators=2),
    DecisionTreeClassifier(),
    DecisionTreeRegressor(),
    GaussianMixture(2),
    GaussianMixtureClassifier(),
    GradientBoostingClassifier(3, min_samples_leaf=2),
    GradientBoostingRegressor(3, min_samples_leaf=2),
    KMeans(2),
    KNeighborsClassifier(metric="gower", weights="distance"),
    KNeighborsRegressor("loo"),
    LatentClassMixture(2),
    RandomForestClassifier(3),
    RandomForestRegressor(3),
    NaiveBayesClassifier(),
    NaiveBayesClassifier(distributions="gaussian"),
    NaiveBayesClassifier(training="tm"),
    StructuralTMClassifier(),
    TANClassifier(),
]
RANDOM = np.random.default_rng(0)
X = np.where(RANDOM.random((40, 4)) < 0.5, 0.0, RANDOM.normal(size=(40, 4)))
Y = (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: repr(learner)[:50])
@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.coo_array])
def test_every_learner_accepts_sparse_rows(learner, make):
    expected = learner.fit(X, Y).predict(X)
    np.testing.assert_array_equal(learner.fit(make(X), Y).predict(make(X)), expected)
    assert get_tags(learner).input_tags.sparse


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_every_form_gives_the_table_of_the_dense_array(form):
    for make in (sparse.csr_matrix(X).asformat(form), sparse.csr_array(X).asformat(form)):
        np.testing.assert_array_equal(Table.of(make).block, X)
    counts = sparse.csr_matrix(np.array([[0, 3], [2, 0]], np.int32)).asformat(form)
    assert Table.of(counts).column(1).tolist() == [3, 0]


def test_the_limit_is_that_of_scikit_learn():
    wide = sparse.csr_matrix((2**12, 2**10))  # 32 MiB
    with config_context(working_memory=31.5):
        message = r"take 32 MiB as a dense array, more than the 32 MiB .*working_memory=32\)"
        with pytest.raises(ValueError, match=message):
            KMeans(2).fit(wide)
    with config_context(working_memory=32):
        assert Table.of(wide).shape == wide.shape
    huge = sparse.csr_matrix((2**30, 2**30))
    with pytest.raises(ValueError, match="max_features of a vectorizer"):
        DecisionTreeClassifier().fit(huge, np.zeros(2))


def test_a_vectorizer_in_a_pipeline():
    texts = ["red apple", "green apple", "blue car", "fast car"] * 5
    model = make_pipeline(TfidfVectorizer(), RandomForestClassifier(5))
    assert model.fit(texts, [0, 0, 1, 1] * 5).score(texts, [0, 0, 1, 1] * 5) == 1


def test_sparse_targets_are_refused():
    with pytest.raises(TypeError, match=r"sparse target is not supported.*y\.toarray"):
        DecisionTreeClassifier().fit(X, sparse.csr_matrix(Y[:, None]))
