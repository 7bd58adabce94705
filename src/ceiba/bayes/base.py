"""The base class of network classifiers: fit a structure by counts, and train it discriminatively.

A fit goes through these steps, of which subclasses replace some:

1. read the rows as category codes (`_read`),
2. choose the structure (`_choose_structure`),
3. count its families (`_count`),
4. compute the network of the smoothed counts (`_fit_network`), the generative fit,
5. with ``training='tm'``, maximize the conditional likelihood from there.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ceiba._typing import Array
from ceiba.base import ParameterError, Trace, check_unused, fitted, reports_progress
from ceiba.base.estimator import schema_attributes
from ceiba.bayes.coding import CodedData, read_codes
from ceiba.bayes.discretize import DiscretizationConfig
from ceiba.bayes.discretize.given import read_thresholds
from ceiba.bayes.discriminative.train import TrainingData, train
from ceiba.bayes.families import Families, Structure
from ceiba.bayes.model import NetworkModel
from ceiba.bayes.network import ClassTable, Smoothing, feature_margins, probabilities
from ceiba.bayes.parameters import NetworkParameters
from ceiba.bayes.prediction import NetworkPredictor
from ceiba.bayes.statistics import TableCounts
from ceiba.bayes.structure.given import check_graph_condition
from ceiba.bayes.training import (
    TRAINING_ATTRIBUTES,
    LearnedModel,
    class_log_priors,
    training_attributes,
    training_config,
    warn_training,
)
from ceiba.data.schema import Schema
from ceiba.data.source import Source
from ceiba.engine import Engine

# Without effect in generative training, which counts in one pass; it is within any max_iter, and
# scikit-learn sets random_state of every learner.
_DISCRIMINATIVE = ("solver", "penalty", "tau", "tol", "early_stopping", "trace")
# Attributes that some fits do not set.
OPTIONAL_ATTRIBUTES = (*TRAINING_ATTRIBUTES, "arc_information_", "em_n_iter_")


class NetworkClassifier(NetworkParameters, NetworkPredictor):
    """Fit a Bayesian network classifier; subclasses choose the structure."""

    dropped_columns_: list[str] = fitted()
    conditional_log_likelihood_: float = fitted()
    n_iter_: int = fitted()
    separable_: bool = fitted()
    unbounded_cells_: list[tuple[str, ...]] = fitted()
    trace_: Trace = fitted()

    @reports_progress
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array, frame, Table, list, scan or Dask collection
            Rows in memory, of files larger than memory (``ceiba.scan``), or on a cluster. Nominal
            and numeric columns together; numeric ones are discretized. Values may be missing.
        y : array of shape (n_rows,)
            The class of each row; None where ``X`` is a scan that names its target.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row; rows of weight zero count as absent. The smoothing and the
            penalties count a weight w as w rows.

        Returns
        -------
        self : estimator
        """
        self._check_parameters()
        engine, source = self._open_source(X, sample_weight, reset=True, y=y)
        self._fit_source(engine, source)
        return self

    def _check_parameters(self) -> None:
        """Raise `ParameterError` for parameters without effect."""
        if self.training == "ml":
            check_unused(self, _DISCRIMINATIVE, "training='ml'")
        elif self.priors is not None:
            raise ParameterError(
                "priors have no effect with training='tm', which learns p(class | features): leave "
                "them out, or use class_weight."
            )
        if self.penalty not in ("auto", "generative"):
            check_unused(self, ["tau"], f"penalty={self.penalty!r}")
        if self.discretization == "mdl":
            check_unused(self, ["n_bins"], "discretization='mdl'")
        if self.m_prior is not None:
            check_unused(self, ["alpha"], f"m_prior={self.m_prior!r}")

    def _fit_source(self, engine: Engine, source: Source) -> None:
        """Fit the model to the rows of a source."""
        data = self._read(engine, source)
        self._set_learned(data, self._learn(data))

    def _set_learned(self, data: CodedData, learned: LearnedModel) -> None:
        """Replace the fitted attributes, and warn about the training."""
        attributes = {
            **schema_attributes(data.schema),
            "classes_": data.summary.classes,
            "class_count_": data.counts.bias,
            "encoding_": data.encoding,
            "dropped_columns_": data.encoding.constant_columns,
            "n_iter_": 1,
        }
        optional = (*OPTIONAL_ATTRIBUTES, *self._state_names)
        self._set_fitted(attributes | learned.attributes, without=optional)
        if learned.training is not None:
            warn_training(learned.training, len(self.unbounded_cells_), self.early_stopping)

    def _read(self, engine: Engine, source: Source) -> CodedData:
        """Learn classes and encoding, and count the features."""
        config = self._discretization(source.schema)
        data = read_codes(engine, source, config, self.class_weight)
        return data.with_missing_category() if self.missing == "category" else data

    def _discretization(self, schema: Schema) -> DiscretizationConfig:
        """Return the settings of the discretization."""
        given = read_thresholds(self.thresholds, schema)
        return DiscretizationConfig(self.discretization, self.n_bins, given)

    def _learn(self, data: CodedData) -> LearnedModel:
        """Choose the structure, and fit its network generatively or discriminatively."""
        structure = self._choose_structure(data)
        if self.training == "tm":
            check_graph_condition(structure, data.encoding.names)
        families = Families(structure, data.sizes)
        counts = self._count(data, families)
        smoothing = Smoothing(self.alpha, self.m_prior)
        network, attributes = self._fit_network(data, families, counts, smoothing)
        attributes |= self._structure_attributes(data, structure)
        network = ClassTable(network.table, self._log_priors(data, network.bias))
        if structure.is_decomposable:
            margins = feature_margins(families, network, data.total)
        else:
            margins = np.where(families.is_known, counts.table.sum(axis=1), 0.0)
        if self.training == "ml":
            model = NetworkModel.of(families, network, margins, is_network=True)
            return LearnedModel(attributes | {"model_": model, "n_iter_": 1})
        inputs = self._training_data(data, families, network, smoothing)
        config = training_config(self, data.has_missing, bool(structure.arcs))
        result = train(inputs, config, self, self.trace)
        model = NetworkModel.of(families, result.weights, margins, is_network=data.has_missing)
        attributes |= training_attributes(result, families, counts, data)
        return LearnedModel(attributes | {"model_": model}, result)

    def _choose_structure(self, data: CodedData) -> Structure:
        raise NotImplementedError

    def _structure_attributes(self, data: CodedData, structure: Structure) -> dict[str, Any]:
        """Return the fitted attributes that describe how the structure was chosen."""
        return {}

    def _count(self, data: CodedData, families: Families) -> ClassTable:
        """Return the counts of the families; rows with missing values count where known."""
        counts = data.engine.reduce(data.rows, TableCounts.of, families)
        return ClassTable(counts.table, counts.bias)

    def _fit_network(
        self, data: CodedData, families: Families, counts: ClassTable, smoothing: Smoothing
    ) -> tuple[ClassTable, dict[str, Any]]:
        """Return the log probabilities of the generative fit, and further fitted attributes."""
        return probabilities(families, counts, smoothing), {}

    def _training_data(
        self, data: CodedData, families: Families, network: ClassTable, smoothing: Smoothing
    ) -> TrainingData:
        """Return the inputs of discriminative training."""
        return TrainingData(
            data.engine, data.rows, families, network, data.total, smoothing, data.has_missing
        )

    def _log_priors(self, data: CodedData, smoothed: Array) -> Array:
        """Return the logarithms of the class probabilities."""
        return class_log_priors(self.priors, data.classes, data.counts.bias, smoothed)
