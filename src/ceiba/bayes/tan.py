"""Tree-augmented naive Bayes, and other structures learned from counts of pairs of features."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import ParameterError, check_unused, fitted, seed_of
from ceiba.base.estimator import schema_attributes
from ceiba.bayes.base import NetworkClassifier
from ceiba.bayes.coding import CodedData
from ceiba.bayes.discriminative.train import TrainingData
from ceiba.bayes.em import fit_missing
from ceiba.bayes.families import Families, Structure
from ceiba.bayes.joint import (
    MISSING_STATE,
    NetworkParts,
    check_n_samples,
    checked_parts,
    decode,
    model_of_parts,
    network_parts,
    sample_codes,
)
from ceiba.bayes.model import NetworkModel
from ceiba.bayes.network import ClassTable, Smoothing
from ceiba.bayes.parameters import TANParameters
from ceiba.bayes.structure.aode import AveragedModel, fit_average
from ceiba.bayes.structure.dependence import arc_information
from ceiba.bayes.structure.given import check_forest, given_structure
from ceiba.bayes.structure.learn import learn_structure
from ceiba.bayes.training import LearnedModel, given_log_priors
from ceiba.data.table import Table
from ceiba.data.warn import warn_user


class TANClassifier(TANParameters, NetworkClassifier):
    """Tree-augmented naive Bayes classifier, and its relatives.

    Each column depends on the class and on a few other columns. By default the arcs between the
    columns are the maximum spanning tree of their mutual information, given the class. Columns
    with one category are left out. Pairs are counted in blocks of columns with at most 2^24 counts
    (128 MB), with one pass over the rows for each block.

    Missing values are summed over exactly. In training, the tables of trees and forests are fitted
    by EM, from the rows in which they are complete; pairs count where both values are known. A
    structure with two or more parents requires ``missing='category'`` where values are missing in
    training, and sums over those of prediction by variable elimination. 'aode' counts each table
    in the rows in which it is complete, and predicts with the parents that are known. A category
    that is not in the training rows counts as missing.

    ``training='tm'`` requires that one parent of each column is a child of its other parents, as
    in trees and forests, and is not possible with 'aode'.

    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_count_ : ndarray of shape (n_classes,)
        Weight of the rows of each class.
    arcs_ : list of (parent, child)
        Names of the columns; not with 'aode'.
    arc_information_ : ndarray of shape (n_arcs,)
        Mutual information of the two columns of each arc given the class, in nats; not with
        'aode'.
    em_n_iter_ : int
        Iterations of EM, where values are missing.
    encoding_ : CategoryEncoding
        Categories of each column, with the thresholds of numeric ones.
    dropped_columns_ : list of str
        Columns with one category, which are left out.
    n_iter_ : int
        Iterations of ``training='tm'``; 1 otherwise.
    separable_ : bool
        Of ``training='tm'``: whether the classes separate, so that the likelihood has no maximum.
        It is found only without a penalty, once every training row is predicted correctly with a
        mean log-likelihood of -0.001 or more; False otherwise, as with a small ``max_iter``.
    conditional_log_likelihood_, unbounded_cells_, trace_
        Of ``training='tm'``.
    n_features_in_, feature_names_in_, schema_
        Number, names and schema of the columns.

    Examples
    --------
    >>> from ceiba import TANClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> model = TANClassifier().fit(iris.table, iris.y)
    >>> for parent, child in model.arcs_:
    ...     print(parent, "->", child)
    sepal length (cm) -> sepal width (cm)
    sepal length (cm) -> petal length (cm)
    petal length (cm) -> petal width (cm)
    >>> round(model.score(iris.table, iris.y), 3)
    0.953
    >>> given = TANClassifier(structure=[("petal length (cm)", "petal width (cm)")])
    >>> round(given.fit(iris.table, iris.y).score(iris.table, iris.y), 3)
    0.947

    References
    ----------
    Friedman, Geiger & Goldszmidt (1997), "Bayesian network classifiers", Machine Learning 29.
    Sahami (1996), "Learning limited dependence Bayesian classifiers", KDD.
    Webb, Boughton & Wang (2005), "Not so naive Bayes: aggregating one-dependence estimators",
    Machine Learning 58.
    """

    model_: Any = fitted()
    arc_information_: Array = fitted()
    em_n_iter_: int = fitted()

    @property
    def arcs_(self) -> list[tuple[str, str]]:
        """Arcs between columns, as (parent, child)."""
        check_is_fitted(self)
        if isinstance(self.model_, AveragedModel):
            raise AttributeError("structure='aode' averages networks with different arcs.")
        names = self.encoding_.names
        return [(names[parent], names[child]) for parent, child in self.model_.structure.arcs]

    @property
    def _structure_kind(self) -> str:
        return self.structure if isinstance(self.structure, str) else "given"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        kind = self._structure_kind
        when = f"structure={kind!r}" if kind != "given" else "a given structure"
        users = {
            "root": ("tree", "forest"), "significance": ("forest",), "max_parents": ("kdb",),
            "min_frequency": ("aode",),
        }  # fmt: skip
        check_unused(self, [name for name, kinds in users.items() if kind not in kinds], when)
        if kind == "aode":
            check_unused(self, ["em_max_iter", "em_tol"], when)
            if self.training == "tm":
                raise ParameterError(
                    "training='tm' requires one network, got structure='aode', an average of "
                    "networks: use training='ml', or another structure."
                )
        if self.missing == "category":
            check_unused(self, ["em_max_iter", "em_tol"], "missing='category'")

    def _learn(self, data: CodedData) -> LearnedModel:
        if self._structure_kind == "aode":
            smoothing = Smoothing(self.alpha, self.m_prior)
            given = None if self.priors is None else given_log_priors(self.priors, data.classes)
            model = fit_average(data, smoothing, given, self.min_frequency)
            return LearnedModel({"model_": model, "n_iter_": 1})
        return super()._learn(data)

    def _choose_structure(self, data: CodedData) -> Structure:
        if isinstance(self.structure, str):
            structure = learn_structure(
                data,
                self.structure,
                root=self.root,
                significance=self.significance,
                max_parents=self.max_parents,
            )
        else:
            structure = given_structure(self.structure, data.encoding)
        if data.has_missing:
            check_forest(structure, data.encoding.names)
        return structure

    def _fit_network(
        self, data: CodedData, families: Families, counts: ClassTable, smoothing: Smoothing
    ) -> tuple[ClassTable, dict[str, Any]]:
        information = {"arc_information_": arc_information(families, counts.table)}
        if not data.has_missing or not families.structure.arcs:
            network, attributes = super()._fit_network(data, families, counts, smoothing)
            return network, attributes | information
        found = fit_missing(
            lambda *model: data.engine.reduce(data.rows, *model),
            families,
            counts,
            smoothing,
            self.em_max_iter,
            self.em_tol,
        )
        if not found.converged:
            warn_user(
                f"EM did not converge in {found.n_iter} iterations: increase em_max_iter, or "
                "em_tol.",
                ConvergenceWarning,
            )
        return found.network, {"em_n_iter_": found.n_iter, **information}

    def _training_data(
        self, data: CodedData, families: Families, network: ClassTable, smoothing: Smoothing
    ) -> TrainingData:
        inputs = super()._training_data(data, families, network, smoothing)
        return replace(inputs, em_max_iter=self.em_max_iter, em_tol=self.em_tol)

    def score_samples(self, X: Any) -> Array:
        """Compute the logarithm of p(row), summed over the classes, for each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows,)

        Examples
        --------
        >>> from ceiba import TANClassifier, datasets
        >>> vote = datasets.load("vote")
        >>> model = TANClassifier().fit(vote.table, vote.y)
        >>> model.score_samples(vote.table).shape
        (435,)
        """
        return np.asarray(logsumexp(self.predict_joint_log_proba(X), axis=1))

    def sample(self, n_samples: int = 1, random_state: Any = 0) -> tuple[Table, Array]:
        """Draw rows and their classes from the joint distribution.

        Columns are those of the model. Numeric columns become ordinal columns with the labels of
        their intervals, since the first and the last interval have no bounds; values in the
        category of ``missing='category'`` are missing.

        Parameters
        ----------
        n_samples : int
        random_state : int, RandomState or Generator
            A row depends on the seed and on its number only.

        Returns
        -------
        X : Table
        y : ndarray of shape (n_samples,)

        Examples
        --------
        >>> from ceiba import TANClassifier, datasets
        >>> iris = datasets.load("iris")
        >>> X, y = TANClassifier().fit(iris.table, iris.y).sample(100)
        >>> X.shape, y.shape
        ((100, 4), (100,))
        """
        model = self._single_network("sample")
        n_rows = check_n_samples(n_samples)
        labels, codes = sample_codes(model, n_rows, seed_of(random_state))
        return decode(self.encoding_, codes), self.classes_[labels]

    def to_network(self, class_name: str = "class") -> NetworkParts:
        """Return the network as the parts of a `DiscreteNetwork`, the class first.

        After ``training='tm'`` it is the network with the same class probabilities whose features
        have the margins of the training rows. The category of ``missing='category'`` is the last
        state of a column, ``"missing"``.

        Parameters
        ----------
        class_name : str
            Name of the class variable.

        Returns
        -------
        NetworkParts
            A named tuple (variables, states, parents, tables).

        Examples
        --------
        >>> from ceiba import TANClassifier, datasets
        >>> iris = datasets.load("iris")
        >>> parts = TANClassifier().fit(iris.table, iris.y).to_network("species")
        >>> parts.variables[0], parts.tables[0].round(3)
        ('species', array([0.333, 0.333, 0.333]))
        """
        model = self._single_network("to_network")
        if class_name in self.encoding_.names:
            raise ValueError(f"class_name must differ from the columns, got {class_name!r}.")
        return network_parts(model, self.encoding_, self.classes_, class_name)

    @classmethod
    def from_network(
        cls,
        network: Any,
        class_variable: str | None = None,
        missing_state: str | None = MISSING_STATE,
    ) -> Self:
        """Return a fitted classifier with the probabilities of a network.

        Parameters
        ----------
        network : DiscreteNetwork or NetworkParts
            The class has no parents, and is a parent of every other variable.
        class_variable : str, optional
            Name of the class; by default the first variable.
        missing_state : str or None
            Missing values of a variable whose last state has this label are in that state, as with
            ``missing='category'``; others are summed over. By default the label of `to_network`;
            None for no such state.

        Returns
        -------
        TANClassifier
            Its ``structure`` are the arcs of the network. Columns are nominal, with the states of
            the variables as categories.

        Examples
        --------
        >>> from ceiba import TANClassifier, datasets
        >>> vote = datasets.load("vote")
        >>> model = TANClassifier().fit(vote.table, vote.y)
        >>> again = TANClassifier.from_network(model.to_network())
        >>> bool((again.predict(vote.table) == model.predict(vote.table)).all())
        True
        """
        parts = checked_parts(network)
        names = parts.variables
        if class_variable is not None and class_variable not in names:
            raise ValueError(
                f"class_variable must be a variable of network ({', '.join(names)}), got "
                f"{class_variable!r}."
            )
        index = 0 if class_variable is None else names.index(class_variable)
        model, encoding, classes, prior = model_of_parts(parts, index, missing_state)
        feature_names = encoding.names
        arcs: Any = [(feature_names[a], feature_names[b]) for a, b in model.structure.arcs]
        has_missing = (model.sizes > encoding.n_categories + 1).any()
        learner = cls(structure=arcs, missing="category" if has_missing else "marginal")
        attributes = {
            **schema_attributes(encoding.schema),
            "classes_": np.array(classes),
            # As if one row had been counted: a class of probability 0 stays impossible.
            "class_count_": np.array(prior, np.float64),
            "encoding_": encoding,
            "dropped_columns_": [],
            "model_": model,
            "n_iter_": 1,
        }
        learner._set_fitted(attributes)
        return learner

    def _single_network(self, method: str) -> NetworkModel:
        check_is_fitted(self)
        if isinstance(self.model_, AveragedModel):
            raise ParameterError(
                f"{method} requires one network, got structure='aode', an average of networks."
            )
        model: NetworkModel = self.model_
        return model
