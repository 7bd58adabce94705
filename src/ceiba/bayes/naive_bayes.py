"""Naive Bayes: the features are independent, given the class."""

from __future__ import annotations

from ceiba.bayes.base import CodedData, NetworkClassifier
from ceiba.bayes.families import Families, Structure
from ceiba.bayes.network import Weights


class NaiveBayesClassifier(NetworkClassifier):
    """Naive Bayes classifier of nominal and numeric columns.

    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_count_ : ndarray of shape (n_classes,)
        Weight of the rows of each class.
    encoding_ : CategoryEncoding
        Categories of each column, with the thresholds of numeric ones.
    dropped_columns_ : list of str
        Columns with one category, which are left out.
    n_features_in_, feature_names_in_, schema_
        Number, names and schema of the columns.

    Examples
    --------
    >>> from ceiba import NaiveBayesClassifier, datasets
    >>> vote = datasets.load("vote")
    >>> model = NaiveBayesClassifier().fit(vote.table, vote.y)
    >>> round(model.score(vote.table, vote.y), 3)
    0.903
    >>> trained = NaiveBayesClassifier(training="tm").fit(vote.table, vote.y)
    >>> round(trained.score(vote.table, vote.y), 3)
    0.968
    """

    def _choose_structure(self, data: CodedData) -> Structure:
        return Structure.naive(data.encoding.n_features)

    def _count(self, data: CodedData, families: Families) -> Weights:
        return Weights(data.counts.table, data.counts.bias)
