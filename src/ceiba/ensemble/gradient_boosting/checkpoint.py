"""Checkpoints: the state of a fit in a file, from which a killed fit continues.

A checkpoint has what a fit changes from round to round: the trees, the raw scores of all rows, the
losses and the trace. Everything else (bins, weights, draws) follows from the parameters and the
data, of which it has texts and digests: a fit with other ones does not continue it. The file is a
zip of JSON and npy entries, as a model file is.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from numbers import Integral, Real
from time import monotonic
from typing import Annotated, Any

import numpy as np

import ceiba
from ceiba._typing import Array
from ceiba.base import ArrayOf, AtLeast, Iterations, ParameterError, Record, Trace
from ceiba.base.archive import MAX_TEXT_BYTES, Archive, DefectError, write
from ceiba.base.value_types import format_value
from ceiba.base.values import Decoder, Encoder
from ceiba.data.io.files import check_file_path, open_replacement, remove_unfinished
from ceiba.data.schema import Schema
from ceiba.data.warn import warn_user
from ceiba.ensemble.gradient_boosting.loss_history import LossHistory
from ceiba.ensemble.gradient_boosting.model import BoostedTrees
from ceiba.ensemble.gradient_boosting.parameter_text import parameter_text
from ceiba.ensemble.gradient_boosting.rounds import BoostingState, ValidationRows

VERSION = 1
_FORMAT = "ceiba checkpoint"
_TEXT = "checkpoint.json"
_DEFAULT_SECONDS = 60.0
# Parameters that may differ: they do not change the rounds that the file has.
_FREE_PARAMETERS = ("n_estimators", "n_jobs", "warm_start")


class CheckpointError(ValueError):
    """A checkpoint is damaged, or belongs to a fit of other data or parameters."""


class CheckpointSizeError(Exception):
    """The text of a checkpoint would be larger than what can be read again."""


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written; the fit goes on."""


@dataclass(frozen=True, eq=False)
class CheckpointState(Record):
    """The state of a fit after some rounds.

    Parameters
    ----------
    learner : str
        Class of the estimator.
    parameters : dict
        Texts of the parameters by name.
    digests : dict
        Digests of the data by name.
    seed : int
        Of all draws, below 2^64.
    trees : BoostedTrees
        The trees of all rounds, also of those after the best one.
    scores : ndarray of shape (n_outputs, n_rows)
        Raw scores of the training rows.
    validation_scores : ndarray of shape (n_validation_rows, n_outputs) or None
    losses : dict
        Losses after each round, by name.
    best, best_loss, n_since_best : int, float, int
        As in `LossHistory`.
    first_loss : float or None
        The ``initial_loss`` of `LossHistory`.
    count : int
        Number of rounds of this fit.
    first_delta : float or None
        As in `Loss`.
    trace : Trace or None
    """

    learner: str
    parameters: Any
    digests: Any
    seed: Any
    trees: BoostedTrees
    scores: Annotated[Array, ArrayOf("float64", "n_outputs", "n_rows")]
    validation_scores: Annotated[Array | None, ArrayOf("float64", "n_held_out", "n_outputs")]
    losses: Any
    best: Annotated[int, AtLeast(0)]
    best_loss: float
    n_since_best: Annotated[int, AtLeast(0)]
    first_loss: float | None
    count: Annotated[int, AtLeast(1)]
    first_delta: float | None
    trace: Any

    def check(self) -> None:
        """Raise ValueError if the fields contradict each other."""
        texts = (self.parameters, self.digests)
        if not all(type(text) is dict for text in texts) or type(self.losses) is not dict:
            raise ValueError("parameters, digests and losses must be dictionaries.")
        if type(self.seed) is not int or not 0 <= self.seed < 2**64:
            raise ValueError(f"seed must be an int below 2^64, got {format_value(self.seed)}.")
        if len(self.trees.first_scores) != len(self.scores):
            raise ValueError(f"trees must have {len(self.scores)} outputs, as scores.")
        if not isinstance(self.trace, Trace | None):
            raise ValueError(f"trace must be a Trace or None, got {format_value(self.trace)}.")
        for values in self.losses.values():
            ArrayOf("float64", "n").check("losses", values, {"n": self.count})


@dataclass(eq=False)
class FitState:
    """What a fit changes from round to round."""

    boosting: BoostingState
    validation: ValidationRows | None
    history: LossHistory
    iterations: Iterations

    def resume(self, stored: CheckpointState) -> None:
        """Continue after the rounds of a checkpoint."""
        self.boosting.resume(stored.trees, stored.scores)
        self.boosting.loss.first_delta = stored.first_delta
        if self.validation is not None:
            assert stored.validation_scores is not None
            self.validation.scores[:] = stored.validation_scores
        history = self.history
        history.losses = {name: values.tolist() for name, values in stored.losses.items()}
        history.best, history.best_loss = stored.best, stored.best_loss
        history.n_since_best, history.initial_loss = stored.n_since_best, stored.first_loss
        self.iterations.resume(stored.count, stored.trace)


class CheckpointFile:
    """The checkpoint of one fit.

    Parameters
    ----------
    path : path-like
        The file; what a killed process left of an unfinished one beside it is removed.
    seconds : float
        Minimum time between two writes.
    """

    def __init__(self, path: str | os.PathLike[str], seconds: float) -> None:
        check_file_path(path, "checkpoint")
        self.path = os.fspath(path)
        self.seconds = seconds
        remove_unfinished(path)
        self.stored = _read(self.path) if os.path.exists(path) else None

    def seed(self, random_state: Any, seed: int) -> int:
        """Return the seed of the checkpoint, unless ``random_state`` determines it."""
        if self.stored is None or isinstance(random_state, Integral):
            return seed
        return int(self.stored.seed)

    def connect(self, learner: Any, state: FitState, digests: dict[str, str]) -> None:
        """Continue the stored fit, if there is one, and write this one from now on."""
        self._learner, self._state, self._digests = learner, state, digests
        if self.stored is not None:
            self._check(self.stored)
            state.resume(self.stored)
        self._written, self._written_at = state.iterations.count, monotonic()

    def after_round(self) -> None:
        """Write the state if enough time has passed."""
        if monotonic() - self._written_at >= self.seconds:
            self.write()

    def write(self) -> None:
        """Write the state, unless it is stored already; warn if that fails."""
        if self._state.iterations.count == self._written:
            return
        try:
            with open_replacement(self.path) as file:
                write(file, _encode(self._stored_state()))
            self._written = self._state.iterations.count
        except (OSError, CheckpointSizeError) as error:
            warn_user(
                f"The checkpoint could not be written, the fit goes on without it: {error}.",
                CheckpointWarning,
            )
        self._written_at = monotonic()

    def _stored_state(self) -> CheckpointState:
        state = self._state
        validation = state.validation
        return CheckpointState(
            learner=type(self._learner).__name__,
            parameters=_parameter_texts(self._learner),
            digests=self._digests,
            seed=state.boosting.seed,
            trees=state.boosting.model(),
            scores=state.boosting.scores,
            validation_scores=None if validation is None else validation.scores,
            losses={name: np.array(values) for name, values in state.history.losses.items()},
            best=state.history.best,
            best_loss=state.history.best_loss,
            n_since_best=state.history.n_since_best,
            first_loss=state.history.initial_loss,
            count=state.iterations.count,
            first_delta=state.boosting.loss.first_delta,
            trace=state.iterations.trace,
        )

    def _check(self, stored: CheckpointState) -> None:
        """Raise CheckpointError if this is another fit than that of the checkpoint."""
        name = type(self._learner).__name__
        if stored.learner != name:
            raise self._error(f"was written by {stored.learner}, got {name}: use that learner")
        texts = _parameter_texts(self._learner)
        for parameter in sorted(texts.keys() | stored.parameters.keys()):
            old, new = stored.parameters.get(parameter), texts.get(parameter)
            if old != new:
                reason = f"was written with {parameter}={old}, got {new}: use the same parameters"
                raise self._error(reason)
        for data, text in _DATA_NAMES.items():
            if stored.digests.get(data) != self._digests.get(data):
                raise self._error(f"was written with {text}: use the same")
        validation = self._state.validation
        self._check_shape("raw scores", stored.scores, self._state.boosting.scores)
        self._check_shape(
            "validation scores", stored.validation_scores,
            None if validation is None else validation.scores,
        )  # fmt: skip
        n_rounds, n_estimators = stored.trees.n_rounds, int(self._learner.n_estimators)
        if n_rounds > n_estimators:
            raise self._error(
                f"has {n_rounds} rounds, got n_estimators={n_estimators}: increase n_estimators"
            )

    def _check_shape(self, name: str, stored: Array | None, expected: Array | None) -> None:
        """Raise CheckpointError for scores of another shape; None is that of none."""
        shapes = [None if scores is None else scores.shape for scores in (stored, expected)]
        if shapes[0] != shapes[1]:
            raise self._error(
                f"has {name} of shape {shapes[0]}, expected {shapes[1]}: restore the file"
            )

    def _error(self, reason: str) -> CheckpointError:
        return CheckpointError(
            f"checkpoint={self.path!r} {reason}, remove the file to start anew, or choose another."
        )


# Weights come first: the bins of X depend on them.
_DATA_NAMES = {
    "weight": "other weights of the rows",
    "X": "another X",
    "y": "another y",
    "init": "different init predictions (give init an int as random_state)",
    "earlier": "other trees of the previous fit, which warm_start continues",
    "validation": "other validation rows",
}


def open_checkpoint(path: Any, seconds: Any) -> CheckpointFile | None:
    """Return the checkpoint of a fit, None without a path."""
    if path is None:
        if seconds is not None:
            raise ParameterError(f"checkpoint_seconds requires checkpoint, got {seconds!r} alone.")
        return None
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(f"checkpoint must be a path or None, got {format_value(path)}.")
    if seconds is None:
        return CheckpointFile(path, _DEFAULT_SECONDS)
    is_number = isinstance(seconds, Real) and not isinstance(seconds, bool)
    if not is_number or not float(seconds) >= 0:
        raise ParameterError(
            f"checkpoint_seconds must be a number of at least 0, got {format_value(seconds)}."
        )
    return CheckpointFile(path, float(seconds))


def data_digests(
    state: BoostingState, validation: ValidationRows | None, classes: Array | None, has_init: bool
) -> dict[str, str]:
    """Return digests of the data of a fit, before its first round."""
    encoding, loss = state.encoding, state.loss
    edges = encoding.edges
    assert edges is not None
    schema = _schema_text(state.table.schema)
    labels = None if classes is None else repr(classes.tolist())
    digests = {
        "X": _digest(
            schema, state.codes, encoding.n_codes, edges.bits, edges.offsets, edges.halves
        ),
        "y": _digest(labels, loss.y),
        "weight": _digest(loss.weight),
    }
    if has_init:
        digests["init"] = _digest(state.scores)
    if state.previous is not None:
        values = state.previous.to_json() | {"schema": _schema_text(state.previous.schema)}
        digests["earlier"] = _digest(*values.values())
    if validation is not None:
        codes = encoding.encode(validation.table, state.threads)
        digests["validation"] = _digest(codes, validation.y, validation.weight, validation.scores)
    return digests


def _schema_text(schema: Schema) -> str:
    return json.dumps(schema.to_json(), default=str)


def _digest(*values: Any) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for value in values:
        if isinstance(value, np.ndarray):
            digest.update(f"{value.dtype}{value.shape}".encode())
            digest.update(np.ascontiguousarray(value).data)
        elif value is None or isinstance(value, str | int):
            digest.update(repr(value).encode())
        else:
            raise TypeError(f"a digest is of arrays, str, int and None, got {format_value(value)}.")
    return digest.hexdigest()


def _parameter_texts(learner: Any) -> dict[str, str]:
    """Return a text of each parameter that the rounds depend on."""
    values = {name: getattr(learner, name) for name in learner.get_params(deep=False)}
    texts = {name: parameter_text(v) for name, v in values.items() if name not in _FREE_PARAMETERS}
    if not isinstance(values["random_state"], Integral):  # the seed is stored
        texts["random_state"] = type(values["random_state"]).__name__
    texts["verbose"] = str(bool(values["verbose"]))  # determines whether there are training losses
    return texts


def _encode(state: CheckpointState) -> dict[str, bytes | Array]:
    encoder = Encoder(lambda value, where: None)
    record = {
        "format": _FORMAT,
        "version": VERSION,
        "ceiba": ceiba.__version__,
        "state": encoder.encode(state, "state"),
    }
    text = json.dumps(record, allow_nan=False)
    if len(text) > MAX_TEXT_BYTES:
        raise CheckpointSizeError(
            f"{_TEXT} would have {len(text)} bytes, the maximum is {MAX_TEXT_BYTES}"
        )
    return {_TEXT: text.encode("ascii"), **encoder.arrays}


def _read(path: str) -> CheckpointState:
    with open(path, "rb") as file:
        try:
            return _decode(Archive(file))
        except DefectError as defect:
            raise CheckpointError(
                f"checkpoint={path!r} cannot be continued: {defect}. Remove the file to start "
                "anew, or choose another."
            ) from defect


def _decode(archive: Archive) -> CheckpointState:
    record = archive.json(_TEXT)
    if record.get("format") != _FORMAT or record.get("version") != VERSION:
        reason = f"it must be a {_FORMAT} of version {VERSION}"
        raise DefectError(_TEXT, reason, record.get("format"), record.get("version"))
    if record.get("ceiba") != ceiba.__version__:
        # Another version may grow other trees: the result would be that of neither.
        reason = f"it must be of Ceiba {ceiba.__version__}, with which the fit goes on"
        raise DefectError(_TEXT, reason, record.get("ceiba"))
    decoder = Decoder(archive.array, _no_model)
    state = decoder.decode(record.get("state"), "state")
    if not isinstance(state, CheckpointState):
        raise DefectError(_TEXT, "there is no state of a fit", state)
    return state


def _no_model(value: Any, where: str) -> Any:
    raise DefectError(where, "a checkpoint has no estimators")
