"""Bags of trees: random forests under MATLAB's names."""

from __future__ import annotations

import copy
import warnings
from typing import Any, Self

import numpy as np

from ceiba._typing import Array
from ceiba.compat.matlab.bag import Bag
from ceiba.compat.matlab.bagged_trees import MODES, TreePredictions
from ceiba.compat.matlab.bagger_inputs import (
    METHODS,
    OPTIONS,
    UNSUPPORTED,
    BaggerRows,
    make_forest,
    needs_oob,
)
from ceiba.compat.matlab.inputs import read_data, rows_to_predict
from ceiba.compat.matlab.name_value import NameValue, check_nargout
from ceiba.data.table import Table
from ceiba.ensemble.common.sampling import OutOfBagWarning
from ceiba.ensemble.common.votes import class_margin

_TREE_OPTIONS = ("Trees", "TreeWeights")


class TreeBagger(Bag):
    """Grow a bag of trees, with MATLAB's options and defaults.

    Its attributes are listed in `ceiba.compat.matlab.bag.Bag`.

    Parameters
    ----------
    NumTrees : int
    X : array, frame or Table
        A matrix of numbers, NaN for a missing value, or a frame. Text, booleans and categories are
        categorical.
    Y : array, or str
        Classes or numbers, or the name of the column of ``X`` that holds them. Rows without one
        are left out.
    *pairs, **named
        Options, as ``"MinLeafSize", 5`` or ``MinLeafSize=5``, in any case. The names of older
        releases (``OOBPred``, ``OOBVarImp``, ``MinLeaf``, ``NVarToSample``, ``FBoot``) are
        accepted, too.

    Other Parameters
    ----------------
    Method : {"classification", "regression"}
    OOBPrediction : {"off", "on"}
        Whether there are out-of-bag predictions: `oobError`, `oobPredict`, ``OOBIndices``.
    OOBPredictorImportance : {"off", "on"}
        The same, and ``OOBPermutedPredictorDeltaError``.
    NumPredictorsToSample : int or "all"
        Number of columns that are drawn for each split; by default the square root of their number
        in classification and a third of it in regression, rounded up.
    MinLeafSize : int
        By default 1 in classification and 5 in regression. A row counts as often as it was drawn.
    InBagFraction : float
        Number of rows that are drawn for each tree, as a fraction of all.
    SampleWithReplacement : {"on", "off"}
        "off" needs an InBagFraction below 1.
    CategoricalPredictors, PredictorNames, ClassNames
        As in `fitctree`.
    Weights : array
        Rows are drawn in proportion to them; without replacement they are weights in growing.
    Prior : {"empirical", "uniform"}, array or mapping of ClassNames and ClassProbs
        Probabilities of the classes in drawing.
    SplitCriterion : {"gdi", "deviance"}, in regression {"mse"}
    MergeLeaves, PredictorSelection, Prune, Surrogate
        Accepted with the values "off" and "allsplits"; other values raise an error.
    random_state : int
        Ceiba's own: seed of all draws, by default 0; it replaces ``rng(seed)``.

    Notes
    -----
    *Labels* have the type of ``Y``, where MATLAB has text: ``str2double`` is not needed. *Bags are
    values*, as in MATLAB: ``bag = bag.growTrees(50)``. *Missing values.* A split is scored on the
    rows that have a value; the others join the heavier branch, in training and in prediction. *Rows
    in every bag* count in out-of-bag errors with ``DefaultYfit``, as in MATLAB, which raises the
    errors of the first trees; ``bag.setDefaultYfit("")`` leaves them out, as ``model.oob_curve_``
    does. *Draws* are not MATLAB's: the same seed does not give the same trees.

    Examples
    --------
    >>> from ceiba import datasets
    >>> from ceiba.compat.matlab import TreeBagger
    >>> meas, species = datasets.load("iris", as_frame=True)
    >>> bag = TreeBagger(50, meas.to_numpy(), species, "OOBPrediction", "on")
    >>> err = bag.oobError()
    >>> len(err), bool(err[-1] < 0.07)
    (50, True)
    >>> label, score = bag.predict([[5.0, 3.0, 4.5, 1.4]], nargout=2)
    >>> label.tolist(), score.shape
    (['versicolor'], (1, 3))

    References
    ----------
    Breiman (2001), "Random forests", Machine Learning 45.
    """

    def __init__(self, NumTrees: int, X: Any, Y: Any, *pairs: Any, **named: Any) -> None:
        options = NameValue.read("TreeBagger", OPTIONS, pairs, named, UNSUPPORTED)
        n_trees = NameValue({"NumTrees": NumTrees}).count("NumTrees", 1)
        classification = options.word("Method", METHODS, METHODS[0])[0] == "c"
        self._rows = BaggerRows.of(X, Y, options, classification)
        self.MinLeafSize = options.count("MinLeafSize", 1 if classification else 5)
        self.InBagFraction = options.number("InBagFraction", 1.0)
        self._has_oob = needs_oob(options)
        self._has_importance = options.switch("OOBPredictorImportance", False)
        self.model = _fit(make_forest(options, self._rows, n_trees), self._rows)
        self.DefaultYfit = self._most_popular()

    def predict(self, X: Any, *pairs: Any, nargout: int = 1, **named: Any) -> Any:
        """Predict rows: the class of the largest mean score, or the mean number.

        Parameters
        ----------
        X : array, frame or Table
            Rows with the columns of training; those of a frame are found by name.
        *pairs, **named
            ``Trees``: numbers, from 1, of the trees to use, or "all". ``TreeWeights``: their
            weights.
        nargout : int
            Number of outputs.

        Returns
        -------
        Yfit : ndarray
        scores : ndarray of shape (n_rows, k)
            Mean over the trees of the class fractions of each row's leaf; classification only.
        stdevs : ndarray
            Standard deviation over the trees of the scores, or of the numbers; in regression it is
            the second output.
        """
        options = NameValue.read("predict", _TREE_OPTIONS, pairs, named, {})
        predictions = TreePredictions.of(self.model, self._rows_to_predict(X), options)
        return self._outputs(predictions, nargout)

    def oobPredict(self, *pairs: Any, nargout: int = 1, **named: Any) -> Any:
        """Predict the training rows by the trees for which they are out of bag.

        Options and outputs are those of `predict`; a row in every bag has ``DefaultYfit``, the
        prior as its scores, and NaN as their deviation.
        """
        options = NameValue.read("oobPredict", _TREE_OPTIONS, pairs, named, {})
        predictions = TreePredictions.of(self.model, self._rows.table, options, self.OOBIndices)
        return self._outputs(predictions, nargout)

    def error(self, X: Any, Y: Any, *pairs: Any, **named: Any) -> Any:
        """Compute the error rate, or the mean squared error.

        Parameters
        ----------
        X : array, frame or Table
        Y : array, or str
            The true responses, or the name of the column of ``X`` that holds them.
        *pairs, **named
            ``Mode``: "cumulative" for the first 1, 2, ... trees, "individual" for each tree,
            "ensemble" for all trees. ``Weights`` of the rows, ``Trees``, ``TreeWeights``.

        Returns
        -------
        ndarray of shape (n_trees,), or float for Mode="ensemble"
        """
        options = NameValue.read("error", ("Mode", "Weights", *_TREE_OPTIONS), pairs, named, {})
        table, true = self._read_rows(X, Y)
        weights = options.weights("Weights", len(true))
        predictions = TreePredictions.of(self.model, table, options)
        return self._errors(predictions, true, weights, options)

    def oobError(self, *pairs: Any, **named: Any) -> Any:
        """Compute the out-of-bag error of the training rows.

        Parameters
        ----------
        *pairs, **named
            ``Mode``, ``Trees`` and ``TreeWeights``, as in `error`.

        Returns
        -------
        ndarray of shape (n_trees,), or float for Mode="ensemble"
            Rows without a tree count with ``DefaultYfit``, or not at all if that is "" or NaN.
        """
        options = NameValue.read("oobError", ("Mode", *_TREE_OPTIONS), pairs, named, {})
        predictions = TreePredictions.of(self.model, self._rows.table, options, self.OOBIndices)
        return self._errors(predictions, self._rows.values, self.W, options)

    def margin(self, X: Any, Y: Any, *pairs: Any, **named: Any) -> Array:
        """Compute the score of the true class minus the largest other score.

        Parameters
        ----------
        X, Y
            As in `error`.
        *pairs, **named
            ``Mode``, ``Trees`` and ``TreeWeights``, as in `error`.

        Returns
        -------
        ndarray of shape (n_rows, n_trees), or (n_rows,) for Mode="ensemble"
        """
        options = NameValue.read("margin", ("Mode", *_TREE_OPTIONS), pairs, named, {})
        if not self._rows.is_classification:
            raise ValueError("margin requires Method='classification', got 'regression'.")
        mode = options.word("Mode", MODES, MODES[0])
        table, true = self._read_rows(X, Y)
        stages = TreePredictions.of(self.model, table, options).stages(mode)
        margins = [class_margin(self._filled(mean), true) for mean in stages]
        return margins[0] if mode == "ensemble" else np.stack(margins, axis=1)

    def quantilePredict(self, X: Any, *pairs: Any, **named: Any) -> Array:
        """Predict quantiles, from training rows weighted by the leaves that they share.

        Parameters
        ----------
        X : array, frame or Table
        *pairs, **named
            ``Quantile``: one or more numbers from 0 to 1; by default 0.5.

        Returns
        -------
        ndarray of shape (n_rows,), or (n_rows, n_quantiles) for several

        References
        ----------
        Meinshausen (2006), "Quantile regression forests", Journal of Machine Learning Research 7.
        """
        options = NameValue.read("quantilePredict", ("Quantile",), pairs, named, {})
        if self._rows.is_classification:
            raise ValueError("quantilePredict requires Method='regression', got 'classification'.")
        quantiles = np.asarray(options.of("Quantile", 0.5), np.float64)
        in_range = ((quantiles >= 0) & (quantiles <= 1)).all()
        if quantiles.ndim > 1 or not quantiles.size or not in_range:
            raise ValueError(f"Quantile must be numbers in [0, 1], got {options.of('Quantile')!r}.")
        return np.asarray(self.model.predict_quantiles(self._rows_to_predict(X), quantiles))

    def growTrees(self, NumTrees: int) -> Self:
        """Return the bag with more trees, grown from the same rows.

        Parameters
        ----------
        NumTrees : int
            Number of trees to add.
        """
        added = NameValue({"NumTrees": NumTrees}).count("NumTrees", 1)
        model = copy.copy(self.model)
        model.set_params(n_estimators=self.NumTrees + added, warm_start=True)
        return self._with(model=_fit(model, self._rows))

    def setDefaultYfit(self, Yfit: Any) -> Self:
        """Return the bag with another prediction for rows without a tree.

        Parameters
        ----------
        Yfit : {"MostPopular", ""}, in regression a float
            The class of most weight in training (in regression the default is the mean), or "" or
            NaN for none: such rows are then left out of errors, and their predictions are None or
            NaN.
        """
        if not self._rows.is_classification:
            return self._with(DefaultYfit=_read_float(Yfit))
        if Yfit not in ("", "MostPopular"):
            raise ValueError(f"Yfit must be 'MostPopular' or '', got {Yfit!r}.")
        return self._with(DefaultYfit=self._most_popular() if Yfit else "")

    def _with(self, **changes: Any) -> Self:
        bag = copy.copy(self)
        for name in ("OOBIndices", "OOBPermutedPredictorDeltaError"):
            bag.__dict__.pop(name, None)
        bag.__dict__.update(changes)
        return bag

    def _most_popular(self) -> Any:
        """Return the class of largest prior, or the mean."""
        rows = self._rows
        if rows.is_classification:
            return rows.classes[int(rows.prior.argmax())]
        return float(np.average(rows.values, weights=rows.weights))

    def _filled(self, mean: Array) -> Array:
        """Return means with the scores or number of ``DefaultYfit`` in rows without a tree."""
        if isinstance(self.DefaultYfit, str) and self.DefaultYfit == "":
            return mean
        default = self._rows.prior if self._rows.is_classification else self.DefaultYfit
        return np.where(np.isnan(mean), default, mean)

    def _rows_to_predict(self, X: Any) -> Table:
        return rows_to_predict(X, self._rows.table.schema)

    def _read_rows(self, X: Any, Y: Any) -> tuple[Table, Array]:
        """Return rows with their encoded true responses."""
        table, Y, _ = read_data(X, Y)
        return self._rows_to_predict(table), self._rows.encode_response(Y, len(table))

    def _outputs(self, predictions: TreePredictions, nargout: int) -> Any:
        classification = self._rows.is_classification
        n_outputs = 3 if classification else 2
        check_nargout(nargout, n_outputs)
        mean = predictions.mean()
        filled = self._filled(mean)
        outputs = [self._labels(filled), filled] if classification else [filled[:, 0]]
        if nargout == n_outputs:
            deviation = predictions.standard_deviation(mean)
            outputs.append(deviation if classification else deviation[:, 0])
        return outputs[0] if nargout == 1 else tuple(outputs[:nargout])

    def _labels(self, mean: Array) -> Array:
        labels = np.asarray(self.ClassNames[mean.argmax(axis=1)])
        unknown = np.isnan(mean[:, 0])
        if unknown.any():
            labels = labels.astype(object)
            labels[unknown] = None
        return labels

    def _errors(
        self, predictions: TreePredictions, true: Array, weights: Array, options: NameValue
    ) -> Any:
        mode = options.word("Mode", MODES, MODES[0])
        errors = []
        for stage in predictions.stages(mode):
            mean = self._filled(stage)
            known = ~np.isnan(mean[:, 0])
            weight, loss = weights[known], self._loss(mean[known], true[known])
            errors.append(float(np.average(loss, weights=weight)) if weight.sum() > 0 else np.nan)
        return errors[0] if mode == "ensemble" else np.array(errors)

    def _loss(self, predicted: Array, true: Array) -> Array:
        if self._rows.is_classification:
            return np.asarray(predicted.argmax(axis=1) != true)
        return np.asarray((predicted[:, 0] - true) ** 2)


def _fit(model: Any, rows: BaggerRows) -> Any:
    with warnings.catch_warnings():
        # Rows in every bag have a prediction here: DefaultYfit.
        warnings.simplefilter("ignore", OutOfBagWarning)
        return model.fit(rows.table, rows.values, sample_weight=rows.weights)


def _read_float(given: Any) -> float:
    try:
        return float(given)
    except (TypeError, ValueError):
        raise ValueError(f"Yfit must be a number, or NaN for none, got {given!r}.") from None
