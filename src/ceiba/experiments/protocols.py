"""Protocols of evaluation: which rows train a model, and which rows test it.

A protocol is a small frozen record. ``splits(y)`` returns the same splits for every learner, so
that learners can be compared row by row. Protocols have a short text for command lines and files,
such as ``"5x2-fold"``: `parse_protocol` reads it, and ``to_text()`` writes it.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import model_selection

from ceiba._repr import fields_repr
from ceiba._typing import Array
from ceiba.experiments.results.labels import encode_labels

# Leave-one-out of n rows has n index arrays of n numbers: 800 MB at this size.
MAX_LEAVE_ONE_OUT_ROWS = 10_000
MAX_SEED = 2**32 - 1  # of NumPy's RandomState, which scikit-learn's splitters use
FORMS = (
    "'10-fold'",
    "'5x2-fold' (5 repeats of 2 folds)",
    "'holdout 0.3'",
    "'5x holdout 0.3'",
    "'loo'",
    "'bootstrap 50'",
    "'groups 5'",
    "'groups 5 stratified'",
    "'time 5'",
)


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Rows that train and rows that test one model.

    Parameters
    ----------
    repeat, fold : int
        Position of the split in its protocol, from 0.
    train, test : array of int64
        Row numbers in ascending order. A bootstrap sample has rows more than once in ``train``.
    """

    repeat: int
    fold: int
    train: Array
    test: Array

    __repr__ = fields_repr


class Protocol(ABC):
    """Base of the protocols."""

    @abstractmethod
    def splits(self, y: Any, groups: Any = None) -> list[Split]:
        """Return the splits of the rows with targets ``y``.

        Parameters
        ----------
        y : array of shape (n,)
            Labels or numbers; protocols that are not stratified use their number only.
        groups : array of shape (n,) or None
            Label of the group of each row, for protocols of groups.

        Returns
        -------
        list of Split
        """

    @abstractmethod
    def to_text(self) -> str:
        """Return the text that `parse_protocol` reads as this protocol."""

    def __str__(self) -> str:
        return self.to_text()


@dataclass(frozen=True)
class KFold(Protocol):
    """k-fold cross-validation, repeated or not, stratified or not.

    Unlike scikit-learn's class of this name it is stratified and shuffled by default. Every row is
    tested once in each repeat. The numbers of rows of a class in stratified folds differ by at most
    one. The splits are those of scikit-learn's ``RepeatedStratifiedKFold`` or
    ``RepeatedKFold`` of the same ``random_state``; without repeats also those of
    ``StratifiedKFold(n_splits, shuffle=True, random_state=...)``.

    Parameters
    ----------
    n_splits : int
        Number of folds, at least 2.
    n_repeats : int
        At least 1.
    stratified : bool
        False for the numbers of a regression.
    random_state : int

    References
    ----------
    Kohavi (1995), "A study of cross-validation and bootstrap for accuracy estimation and model
    selection", IJCAI. Dietterich (1998), "Approximate statistical tests for comparing supervised
    classification learning algorithms", Neural Computation 10 (5 repeats of 2 folds).

    Examples
    --------
    >>> protocol = KFold(2, n_repeats=5)
    >>> protocol.to_text()
    '5x2-fold'
    >>> splits = protocol.splits(["a", "b"] * 4)
    >>> len(splits), splits[3].repeat, splits[3].fold
    (10, 1, 1)
    >>> splits[0].train.tolist(), splits[0].test.tolist()
    ([0, 2, 3, 7], [1, 4, 5, 6])
    """

    n_splits: int = 10
    n_repeats: int = 1
    stratified: bool = True
    random_state: int = 0

    def __post_init__(self) -> None:
        _check_int(self, "n_splits", 2)
        _check_int(self, "n_repeats", 1)
        _check_bool(self, "stratified")
        _check_int(self, "random_state", 0, MAX_SEED)

    def splits(self, y: Any, groups: Any = None) -> list[Split]:
        """Return ``n_repeats * n_splits`` splits."""
        _refuse_groups(self, groups)
        options = {
            "n_splits": self.n_splits,
            "n_repeats": self.n_repeats,
            "random_state": self.random_state,
        }
        if self.stratified:
            codes = _stratified_codes(y, self.n_splits, f"n_splits={self.n_splits}")
            pairs = model_selection.RepeatedStratifiedKFold(**options).split(codes, codes)
        else:
            n = _n_rows(y)
            _check_rows(n, self.n_splits, f"n_splits={self.n_splits}")
            pairs = model_selection.RepeatedKFold(**options).split(np.empty(n))
        return [
            Split(*divmod(i, self.n_splits), train, test) for i, (train, test) in enumerate(pairs)
        ]

    def to_text(self) -> str:
        """Return text such as ``"5x2-fold plain seed 7"``."""
        repeats = f"{self.n_repeats}x" if self.n_repeats > 1 else ""
        plain = "" if self.stratified else " plain"
        return f"{repeats}{self.n_splits}-fold{plain}{_seed_text(self.random_state)}"


@dataclass(frozen=True)
class HoldOut(Protocol):
    """Hold out a share of the rows for the test, once or several times.

    The splits are those of scikit-learn's ``StratifiedShuffleSplit`` or ``ShuffleSplit``, the first
    one also that of ``train_test_split``, with the rows in ascending order.

    Parameters
    ----------
    test_size : float
        Share of the test rows, in (0, 1); their number is rounded up.
    n_repeats : int
    stratified : bool
        False for the numbers of a regression.
    random_state : int

    Examples
    --------
    >>> protocol = HoldOut(0.25)
    >>> protocol.splits(["a", "b"] * 4)[0].test.tolist()
    [0, 7]
    """

    test_size: float = 0.3
    n_repeats: int = 1
    stratified: bool = True
    random_state: int = 0

    def __post_init__(self) -> None:
        size = self.test_size
        if isinstance(size, bool) or not isinstance(size, float | np.floating) or not 0 < size < 1:
            raise ValueError(f"test_size must be a float in (0, 1), got {size!r}.")
        object.__setattr__(self, "test_size", float(size))
        _check_int(self, "n_repeats", 1)
        _check_bool(self, "stratified")
        _check_int(self, "random_state", 0, MAX_SEED)

    def splits(self, y: Any, groups: Any = None) -> list[Split]:
        """Return ``n_repeats`` splits."""
        _refuse_groups(self, groups)
        n = _n_rows(y)
        n_test = int(np.ceil(self.test_size * n))
        if n_test >= n:
            raise ValueError(
                f"test_size={self.test_size} leaves no training rows of {n}: "
                "use a smaller test_size, or 'loo'."
            )
        options = {
            "n_splits": self.n_repeats,
            "test_size": self.test_size,
            "random_state": self.random_state,
        }
        if self.stratified:
            codes = _stratified_codes(y, 2, "a stratified hold-out")
            n_classes = int(codes.max()) + 1
            if min(n_test, n - n_test) < n_classes:
                raise ValueError(
                    f"a stratified hold-out requires at least one test row and one training row "
                    f"of each of {n_classes} classes, got {n_test} test rows and {n - n_test} "
                    "training rows. Use another test_size, or stratified=False ('plain')."
                )
            pairs = model_selection.StratifiedShuffleSplit(**options).split(codes, codes)
        else:
            pairs = model_selection.ShuffleSplit(**options).split(np.empty(n))
        return [
            Split(repeat, 0, np.sort(train), np.sort(test))
            for repeat, (train, test) in enumerate(pairs)
        ]

    def to_text(self) -> str:
        """Return text such as ``"5x holdout 0.3 plain seed 7"``."""
        repeats = f"{self.n_repeats}x " if self.n_repeats > 1 else ""
        plain = "" if self.stratified else " plain"
        return f"{repeats}holdout {self.test_size!r}{plain}{_seed_text(self.random_state)}"


@dataclass(frozen=True)
class LeaveOneOut(Protocol):
    """Test every row with the model of all others.

    Scores of a single row, such as AUC and R², are undefined: pool the predictions of all folds.

    Examples
    --------
    >>> [split.test.tolist() for split in LeaveOneOut().splits([1.5, 2.5, 3.5])]
    [[0], [1], [2]]
    """

    def splits(self, y: Any, groups: Any = None) -> list[Split]:
        """Return one split for each row."""
        _refuse_groups(self, groups)
        n = _n_rows(y)
        _check_rows(n, 2, "leave-one-out")
        if n > MAX_LEAVE_ONE_OUT_ROWS:
            raise ValueError(
                f"leave-one-out fits a model for each row: at most {MAX_LEAVE_ONE_OUT_ROWS} rows, "
                f"got {n}. Use '10-fold'."
            )
        pairs = model_selection.LeaveOneOut().split(np.empty(n))
        return [Split(0, fold, train, test) for fold, (train, test) in enumerate(pairs)]

    def to_text(self) -> str:
        """Return ``"loo"``."""
        return "loo"


@dataclass(frozen=True)
class Bootstrap(Protocol):
    """Train on n rows drawn with replacement, and test the out-of-bag rows, those not drawn.

    A sample without out-of-bag rows, which only few rows can give, is drawn again. The draws are
    keyed by (``random_state``, repeat): the first samples of 200 are those of 50. Out-of-bag rows
    see models of about 63.2 % of the different rows, so their error is too high;
    `bootstrap_632_plus` corrects it.

    Parameters
    ----------
    n_repeats : int
        Number of samples.
    random_state : int

    References
    ----------
    Efron & Tibshirani (1997), "Improvements on cross-validation: the .632+ bootstrap method",
    Journal of the American Statistical Association 92.

    Examples
    --------
    >>> split = Bootstrap(50).splits(range(8))[0]
    >>> split.train.tolist(), split.test.tolist()
    ([0, 0, 0, 2, 2, 4, 5, 6], [1, 3, 7])
    """

    n_repeats: int = 50
    random_state: int = 0

    def __post_init__(self) -> None:
        _check_int(self, "n_repeats", 1)
        _check_int(self, "random_state", 0, MAX_SEED)

    def splits(self, y: Any, groups: Any = None) -> list[Split]:
        """Return ``n_repeats`` splits."""
        _refuse_groups(self, groups)
        n = _n_rows(y)
        _check_rows(n, 2, "bootstrap")
        return [self._split(repeat, n) for repeat in range(self.n_repeats)]

    def _split(self, repeat: int, n: int) -> Split:
        random = np.random.default_rng([self.random_state, repeat])
        while True:
            train = np.sort(random.integers(n, size=n))
            test = np.flatnonzero(np.bincount(train, minlength=n) == 0)
            if len(test):
                return Split(repeat, 0, train, test)

    def to_text(self) -> str:
        """Return text such as ``"bootstrap 50"``."""
        return f"bootstrap {self.n_repeats}{_seed_text(self.random_state)}"


@dataclass(frozen=True)
class GroupFolds(Protocol):
    """Folds of whole groups, such as the rows of one patient: no group trains and tests a model.

    Every row is tested once. The folds are those of scikit-learn's ``GroupKFold``, with numbers of
    rows as equal as the groups allow, or of ``StratifiedGroupKFold``, which also keeps the shares
    of the classes as far as the groups allow. Nothing is random.

    Parameters
    ----------
    n_splits : int
        At least 2, and at most the number of groups.
    stratified : bool

    Examples
    --------
    >>> splits = GroupFolds(2).splits([0, 1, 0, 1, 1], groups=["ann", "ann", "bob", "bob", "eve"])
    >>> [split.test.tolist() for split in splits]
    [[2, 3, 4], [0, 1]]
    """

    n_splits: int = 5
    stratified: bool = False

    def __post_init__(self) -> None:
        _check_int(self, "n_splits", 2)
        _check_bool(self, "stratified")

    def splits(self, y: Any, groups: Any = None) -> list[Split]:
        """Return ``n_splits`` splits; ``groups`` is required."""
        if groups is None:
            raise ValueError(f"groups are required by {self.to_text()!r}: one label for each row.")
        n = _n_rows(y)
        labels, group_codes = encode_labels("groups", groups)
        if len(group_codes) != n:
            raise ValueError(
                "Found input variables with inconsistent numbers of samples: "
                f"{n} in y and {len(group_codes)} in groups."
            )
        if len(labels) < self.n_splits:
            raise ValueError(
                f"n_splits={self.n_splits} requires at least {self.n_splits} groups, "
                f"got {len(labels)}. Use at most {len(labels)} folds."
            )
        if self.stratified:
            codes = _stratified_codes(y, self.n_splits, f"n_splits={self.n_splits}")
            splitter = model_selection.StratifiedGroupKFold(self.n_splits)
        else:
            codes, splitter = np.zeros(n), model_selection.GroupKFold(self.n_splits)
        pairs = list(splitter.split(codes, codes, group_codes))
        if not all(len(train) and len(test) for train, test in pairs):
            raise ValueError(
                f"the groups cannot be divided into {self.n_splits} stratified folds: one is "
                "empty. Use fewer folds, or stratified=False."
            )
        return [Split(0, fold, train, test) for fold, (train, test) in enumerate(pairs)]

    def to_text(self) -> str:
        """Return ``"groups 5"`` or ``"groups 5 stratified"``."""
        return f"groups {self.n_splits}{' stratified' if self.stratified else ''}"


@dataclass(frozen=True)
class TimeOrder(Protocol):
    """Train on the past and test on the rows that follow, with an expanding window.

    The rows must be in order of time. They are divided into ``n_splits + 1`` blocks; split i trains
    on the first i + 1 blocks and tests on the next. The splits are those of scikit-learn's
    ``TimeSeriesSplit``; the rows of the first block are not tested.

    Parameters
    ----------
    n_splits : int
        At least 2.

    Examples
    --------
    >>> for split in TimeOrder(2).splits(range(6)):
    ...     print(split.train.tolist(), split.test.tolist())
    [0, 1] [2, 3]
    [0, 1, 2, 3] [4, 5]
    """

    n_splits: int = 5

    def __post_init__(self) -> None:
        _check_int(self, "n_splits", 2)

    def splits(self, y: Any, groups: Any = None) -> list[Split]:
        """Return ``n_splits`` splits."""
        _refuse_groups(self, groups)
        n = _n_rows(y)
        _check_rows(n, self.n_splits + 1, f"n_splits={self.n_splits} in order of time")
        pairs = model_selection.TimeSeriesSplit(self.n_splits).split(np.empty(n))
        return [Split(0, fold, train, test) for fold, (train, test) in enumerate(pairs)]

    def to_text(self) -> str:
        """Return text such as ``"time 5"``."""
        return f"time {self.n_splits}"


@dataclass(frozen=True, repr=False)
class GivenFolds(Protocol):
    """Folds that are given, such as those of a publication.

    Parameters
    ----------
    folds : array of int and shape (n,), or list of (train, test)
        The number of the fold that tests each row, -1 for rows that only train; or pairs of arrays
        of row numbers. Kept as tuples. Pairs must be disjoint, and need not have all rows.

    Examples
    --------
    >>> for split in GivenFolds([0, 1, 1, -1]).splits(["a", "b", "a", "b"]):
    ...     print(split.train.tolist(), split.test.tolist())
    [1, 2, 3] [0]
    [0, 3] [1, 2]
    >>> GivenFolds([([0, 1], [2]), ([1, 2], [0])]).splits([1.0, 2.0, 3.0])[1].test.tolist()
    [0]
    """

    folds: Any

    __repr__ = fields_repr

    def __post_init__(self) -> None:
        folds = list(self.folds)
        if not folds:
            raise ValueError("folds must have at least one row or pair, got none.")
        if not any(isinstance(entry, Iterable) for entry in folds):
            numbers = _row_numbers("folds", folds, -1)
            if len(set(numbers) - {-1}) < (1 if -1 in numbers else 2):
                raise ValueError(
                    "folds must have at least two different numbers, or -1 for rows that only "
                    f"train, got {numbers[0]} only."
                )
            object.__setattr__(self, "folds", numbers)
            return
        pairs = []
        for i, entry in enumerate(folds):
            if not isinstance(entry, Iterable) or len(pair := list(entry)) != 2:
                raise ValueError(f"folds must be numbers or pairs (train, test), got {entry!r}.")
            train, test = (
                _row_numbers(f"folds[{i}][{part}]", rows, 0) for part, rows in enumerate(pair)
            )
            if not train or not test:
                raise ValueError(f"folds[{i}] must have training rows and test rows, got none.")
            both = set(train) & set(test)
            if both:
                raise ValueError(f"folds[{i}] must be disjoint, got row {min(both)} in both parts.")
            pairs.append((train, test))
        object.__setattr__(self, "folds", tuple(pairs))

    def splits(self, y: Any, groups: Any = None) -> list[Split]:
        """Return one split for each given fold; fold numbers in ascending order."""
        _refuse_groups(self, groups)
        n = _n_rows(y)
        if not isinstance(self.folds[0], tuple):
            if len(self.folds) != n:
                raise ValueError(
                    "Found input variables with inconsistent numbers of samples: "
                    f"{n} in y and {len(self.folds)} in folds."
                )
            pairs = model_selection.PredefinedSplit(np.array(self.folds)).split()
            return [Split(0, fold, train, test) for fold, (train, test) in enumerate(pairs)]
        largest = max(max(*train, *test) for train, test in self.folds)
        if largest >= n:
            raise ValueError(f"folds must be row numbers below {n}, got {largest}.")
        return [
            Split(0, fold, np.array(sorted(train)), np.array(sorted(test)))
            for fold, (train, test) in enumerate(self.folds)
        ]

    def to_text(self) -> str:
        """Return ``"given folds"``, which names the protocol and cannot be read again."""
        return "given folds"


def parse_protocol(text: str, *, task: str = "classification", random_state: int = 0) -> Protocol:
    """Read a protocol from a short text, as command lines and experiment files have it.

    ==========================  ==============================================================
    text                        protocol
    ==========================  ==============================================================
    ``10-fold``                 `KFold` of 10 folds
    ``5x2-fold``                `KFold` of 2 folds, 5 repeats
    ``holdout 0.3``             `HoldOut` of 30 % of the rows
    ``5x holdout 0.3``          the same, 5 repeats
    ``loo``                     `LeaveOneOut`
    ``bootstrap 50``            `Bootstrap` of 50 samples
    ``groups 5``                `GroupFolds`; also ``groups 5 stratified``
    ``time 5``                  `TimeOrder`
    ==========================  ==============================================================

    Folds and hold-outs are stratified unless the word ``plain`` follows or the task is a
    regression. ``seed 7`` at the end sets the ``random_state`` of a protocol that draws.

    Parameters
    ----------
    text : str
    task : {"classification", "regression"}
    random_state : int
        For protocols that draw, unless the text has a seed.

    Returns
    -------
    Protocol

    Examples
    --------
    >>> parse_protocol("5x2-fold")
    KFold(n_splits=2, n_repeats=5, stratified=True, random_state=0)
    >>> parse_protocol("holdout 0.3 seed 7", task="regression").to_text()
    'holdout 0.3 plain seed 7'
    """
    if task not in ("classification", "regression"):
        raise ValueError(f"task must be 'classification' or 'regression', got {task!r}.")
    if not isinstance(text, str):
        raise _form_error(text)
    words = " ".join(text.lower().split())
    if words in ("given", "given folds"):
        raise ValueError(f"{text!r} has no fold numbers: pass GivenFolds(folds) in Python.")
    found = _PATTERN.fullmatch(words)
    if found is None:
        raise _form_error(text)
    part = found.groupdict()
    folds, test_size, samples = part["folds"], part["test_size"], part["samples"]
    is_random = folds or test_size or samples
    if part["seed"] and not is_random:
        raise ValueError(f"'seed' has no effect on {text!r}: the protocol does not draw.")
    seed = int(part["seed"]) if part["seed"] else random_state
    stratified = task == "classification" and not part["plain"]
    if folds:
        return KFold(int(folds), int(part["repeats"] or 1), stratified, seed)
    if test_size:
        try:
            size = float(test_size)
        except ValueError:
            raise _form_error(text) from None
        return HoldOut(size, int(part["holdout_repeats"] or 1), stratified, seed)
    if samples:
        return Bootstrap(int(samples), seed)
    if part["groups"]:
        if part["by_class"] and task == "regression":
            raise ValueError("'stratified' requires the labels of a classification.")
        return GroupFolds(int(part["groups"]), bool(part["by_class"]))
    if part["blocks"]:
        return TimeOrder(int(part["blocks"]))
    return LeaveOneOut()


# Digits are bounded, since int() refuses thousands of them with an error of its own.
_PATTERN = re.compile(
    r"(?:"
    r"(?:(?:(?P<repeats>\d{1,9}) ?x ?)?(?P<folds>\d{1,9})[- ]folds?"
    r"|(?:(?P<holdout_repeats>\d{1,9}) ?x ?)?hold-?out (?P<test_size>[0-9.e-]+))(?P<plain> plain)?"
    r"|loo|leave[- ]one[- ]out"
    r"|bootstrap (?P<samples>\d{1,9})"
    r"|groups (?P<groups>\d{1,9})(?P<by_class> stratified)?"
    r"|time (?P<blocks>\d{1,9})"
    r")(?: seed (?P<seed>\d{1,10}))?",
    re.ASCII,
)


def _form_error(text: Any) -> ValueError:
    return ValueError(
        f"protocol must be one of {', '.join(FORMS)}, got {text!r}. Folds and hold-outs may be "
        "followed by 'plain' (not stratified), and protocols that draw by such as 'seed 7'."
    )


def no_information_rate(y_true: Any, y_pred: Any) -> float:
    """Compute the error rate that predictions would have if they were independent of the labels.

    It is the share of wrong pairs among all pairs of a label and a prediction,
    sum over the classes of p (1 − q), with the shares p of the labels and q of the predictions.

    Parameters
    ----------
    y_true, y_pred : array of shape (n,)
        Labels and predictions of the training rows, of the model of all rows.

    References
    ----------
    Efron & Tibshirani (1997), section 4.

    Examples
    --------
    >>> no_information_rate(["a", "a", "b", "b"], ["a", "a", "a", "b"])
    0.5
    """
    true_labels, true_codes = encode_labels("y_true", y_true)
    labels, codes = encode_labels("y_pred", y_pred)
    true_share = dict(zip(true_labels, np.bincount(true_codes) / len(true_codes), strict=True))
    share = np.bincount(codes) / len(codes)
    agreement = sum(true_share.get(label, 0.0) * share[i] for i, label in enumerate(labels))
    return float(1 - agreement)


def bootstrap_632_plus(
    training_error: float, oob_error: float, no_information_rate: float
) -> float:
    """Combine training error and out-of-bag error into the .632+ estimate.

    The out-of-bag error is too high, since each sample has about 63.2 % of the different rows, and
    the training error is too low. The .632 estimate is 0.368 training error + 0.632 out-of-bag
    error; .632+ moves it towards the out-of-bag error by the relative overfitting rate
    R = (out-of-bag error − training error) / (no-information rate − training error), in [0, 1].

    Parameters
    ----------
    training_error : float
        Error rate of the model of all rows on these rows.
    oob_error : float
        Mean over the rows of the error rate of each row in the samples for which it is out-of-bag
        (the leave-one-out bootstrap of the paper).
    no_information_rate : float
        See `no_information_rate`.

    Returns
    -------
    float

    References
    ----------
    Efron & Tibshirani (1997), "Improvements on cross-validation: the .632+ bootstrap method",
    Journal of the American Statistical Association 92, equation 32.

    Examples
    --------
    The nearest neighbor of labels without any signal: the .632 estimate, 0.316, is too low.

    >>> bootstrap_632_plus(0.0, 0.5, 0.5)
    0.5
    >>> round(bootstrap_632_plus(0.1, 0.2, 0.5), 4)
    0.1696
    """
    for name, value in (
        ("training_error", training_error),
        ("oob_error", oob_error),
        ("no_information_rate", no_information_rate),
    ):
        if not 0 <= value <= 1:
            raise ValueError(f"{name} must be a float in [0, 1], got {value!r}.")
    limited = min(oob_error, no_information_rate)
    excess = limited - training_error
    overfitting = excess / (no_information_rate - training_error) if excess > 0 else 0.0
    correction = excess * 0.368 * 0.632 * overfitting / (1 - 0.368 * overfitting)
    return 0.368 * training_error + 0.632 * oob_error + correction


def _n_rows(y: Any) -> int:
    shape = np.shape(y)
    if len(shape) != 1 or not shape[0]:
        raise ValueError(f"y must be 1D with at least one row, got shape {shape}.")
    return int(shape[0])


def _check_rows(n: int, minimum: int, reason: str) -> None:
    if n < minimum:
        raise ValueError(f"{reason} requires at least {minimum} rows, got {n}.")


def _stratified_codes(y: Any, minimum: int, reason: str) -> Array:
    """Return the class of each row, and raise unless every class has ``minimum`` rows."""
    labels, codes = encode_labels("y", y)
    counts = np.bincount(codes)
    rarest = int(counts.argmin())
    if counts[rarest] < minimum:
        fewer = (
            f"at most {counts[rarest]} folds, "
            if counts[rarest] >= 2 and reason.startswith("n_splits")
            else ""
        )
        raise ValueError(
            f"{reason} requires at least {minimum} rows of every class, got {counts[rarest]} of "
            f"class {labels[rarest]!r}. Use {fewer}stratified=False ('plain', also for the numbers "
            "of a regression), or merge or remove the class."
        )
    return codes


def _refuse_groups(protocol: Protocol, groups: Any) -> None:
    if groups is not None:
        raise ValueError(
            f"groups have no effect on {protocol.to_text()!r}, which would divide them: "
            "use 'groups 5', or leave groups out."
        )


def _check_int(protocol: Protocol, name: str, minimum: int, maximum: int | None = None) -> None:
    value = getattr(protocol, name)
    is_int = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_int or value < minimum or (maximum is not None and value > maximum):
        values = f">= {minimum}" if maximum is None else f"in [{minimum}, {maximum}]"
        raise ValueError(f"{name} must be an int {values}, got {value!r}.")
    object.__setattr__(protocol, name, int(value))


def _check_bool(protocol: Protocol, name: str) -> None:
    value = getattr(protocol, name)
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be a bool, got {value!r}.")
    object.__setattr__(protocol, name, bool(value))


def _row_numbers(name: str, values: Any, minimum: int) -> tuple[int, ...]:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and (array.dtype.kind not in "iu" or array.min() < minimum)):
        raise ValueError(f"{name} must be 1D ints >= {minimum}, got {values!r}.")
    return tuple(array.tolist())


def _seed_text(random_state: int) -> str:
    return f" seed {random_state}" if random_state else ""
