"""Tree-augmented naive Bayes: each feature depends on the class and on one other feature."""

from __future__ import annotations

import numpy as np

from ceiba.bayes.base import CodedData, NetworkClassifier
from ceiba.bayes.families import Structure
from ceiba.bayes.statistics import PairCounts
from ceiba.bayes.structure.chow_liu import (
    conditional_mutual_information,
    maximum_spanning_tree,
)


class TANClassifier(NetworkClassifier):
    """Tree-augmented naive Bayes classifier.

    The arcs between the features are the maximum spanning tree of their mutual information, given
    the class (Chow & Liu).

    {parameters}

    Examples
    --------
    >>> from ceiba import TANClassifier, datasets
    >>> vote = datasets.load("vote")
    >>> model = TANClassifier().fit(vote.table, vote.y)
    >>> round(model.score(vote.table, vote.y), 3)
    0.956

    References
    ----------
    Friedman, Geiger & Goldszmidt (1997), "Bayesian network classifiers", Machine Learning 29.
    """

    def _choose_structure(self, data: CodedData) -> Structure:
        if data.encoding.n_features < 2:
            return Structure.naive(data.encoding.n_features)
        sizes = np.array(data.sizes, np.int32)
        counts = data.engine.reduce(data.rows, PairCounts.of, sizes)
        weights = conditional_mutual_information(counts, sizes, data.n_classes)
        return maximum_spanning_tree(weights, list(range(len(sizes))))
