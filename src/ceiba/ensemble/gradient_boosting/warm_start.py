"""Warm starts: a fit that adds rounds to the trees of the previous one."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ceiba._typing import Array
from ceiba.base import Estimator, ParameterError, fitted, seed_of
from ceiba.base.value_types import format_value
from ceiba.ensemble.common.sampling import check_warm_start
from ceiba.ensemble.gradient_boosting.checkpoint import CheckpointFile
from ceiba.ensemble.gradient_boosting.loss_history import LossHistory
from ceiba.ensemble.gradient_boosting.losses.base import Loss
from ceiba.ensemble.gradient_boosting.model import BoostedTrees
from ceiba.ensemble.gradient_boosting.parameter_text import parameter_text
from ceiba.ensemble.gradient_boosting.parameters import BoostingParameters

# They determine what the sum of the trees means, with the parameters of the loss.
_KEPT_PARAMETERS = ("loss", "init", "monotonic_cst", "interaction_cst")


class WarmStartMixin(BoostingParameters, Estimator):
    """The part of gradient boosting that continues the previous fit."""

    boosted_trees_: BoostedTrees = fitted()
    losses_: dict[str, Array] = fitted()
    # What a warm start takes from the first fit: texts of the parameters that it must not change
    # and of the fraction of held-out rows, the seed, and the threshold of the losses (Huber).
    # Older model files lack them.
    _warm_start_parameters: dict[str, str]
    _seed: int
    _first_delta: float | None
    _loss_names: ClassVar[tuple[str, ...]]
    _state_names: ClassVar[tuple[str, ...]] = (
        "_warm_start_parameters", "_seed", "_first_delta", "_fitted_loss",
    )  # fmt: skip

    def _loss_parameters(self) -> tuple[str, ...]:
        """Return the names of the hyper-parameters that the loss has."""
        return ()

    def _trees_to_continue(self, X: Any, holds_out: bool) -> BoostedTrees | None:
        """Return the trees of the previous fit with ``warm_start``, or None.

        ``holds_out`` is whether this fit holds out validation rows of X.
        """
        trees = getattr(self, "boosted_trees_", None) if self.warm_start else None
        if trees is not None:
            self._check_columns(X)
            self._check_warm_start_parameters()
            if holds_out:
                self._check_held_out_rows()
            check_warm_start(self.n_estimators, trees.n_rounds, "rounds", "")
        return trees

    def _check_warm_start_parameters(self) -> None:
        """Raise if a warm start changes the loss, init or constraints of the previous fit."""
        before = getattr(self, "_warm_start_parameters", {})
        for name, text in self._kept_parameters().items():
            if before.get(name, text) != text:
                raise ParameterError(
                    f"warm_start=True requires the same {name} as the previous fit, "
                    f"{before[name]}, got {text}: the trees of both fits are added; set "
                    "warm_start=False to start anew."
                )

    def _check_held_out_rows(self) -> None:
        """Raise if validation rows would be held out that the earlier trees were fitted to."""
        fraction = parameter_text(self.validation_fraction)
        before = getattr(self, "_warm_start_parameters", {}).get("held_out", fraction)
        if before != fraction:
            raise ParameterError(
                "warm_start=True with early_stopping requires the validation_fraction that the "
                f"previous fit held out, {before}, got {fraction}: its trees were fitted to rows "
                "that this fit would hold out; pass X_val and y_val, or set warm_start=False."
            )

    def _kept_parameters(self) -> dict[str, str]:
        """Return texts of the parameters that a warm start must not change."""
        names = (*_KEPT_PARAMETERS, *self._loss_parameters())
        return {name: parameter_text(getattr(self, name)) for name in names}

    def _seed_of_fit(self, previous: BoostedTrees | None, file: CheckpointFile | None) -> int:
        """Return the seed of this fit: that of the first fit if its trees are continued.

        With another one, rows that the earlier trees were fitted to would be held out. Draws are
        keyed by the number of the round as well, so that those of new rounds are new.
        """
        if previous is not None and hasattr(self, "_seed"):
            return self._seed
        seed = seed_of(self.random_state)
        return seed if file is None else file.seed(self.random_state, seed)

    def _continue_loss(self, loss: Loss, previous: BoostedTrees | None) -> None:
        """Give a warm start the threshold of the first fit for its losses (Huber)."""
        first_delta = getattr(self, "_first_delta", None)
        if previous is not None and first_delta is not None:
            loss.first_delta = first_delta / loss.unit

    def _warm_start_state(self, loss: Loss, seed: int, holds_out: bool) -> dict[str, Any]:
        """Return the private attributes that predictions and a warm start take from this fit."""
        delta = loss.first_delta
        held_out = parameter_text(self.validation_fraction if holds_out else None)
        return {
            "_warm_start_parameters": {**self._kept_parameters(), "held_out": held_out},
            "_seed": seed,
            "_first_delta": None if delta is None else delta * loss.unit,
            "_fitted_loss": self.loss if isinstance(self.loss, str) else None,
        }

    def _all_losses(
        self, history: LossHistory, previous: BoostedTrees | None, n_rounds: int
    ) -> dict[str, Array]:
        """Return the losses of all rounds, those of the previous fit included."""
        if previous is None:
            return history.all_losses({}, 0, n_rounds)
        return history.all_losses(self.losses_, previous.n_rounds, n_rounds - previous.n_rounds)

    def _check_state(self) -> None:
        super()._check_state()
        texts = getattr(self, "_warm_start_parameters", {})
        if type(texts) is not dict or not all(type(text) is str for text in texts.values()):
            raise ValueError("_warm_start_parameters must be a dict of str.")
        loss = getattr(self, "_fitted_loss", None)
        if loss is not None and loss not in self._loss_names:
            raise ValueError(
                f"_fitted_loss must be None or one of {', '.join(self._loss_names)}, got "
                f"{format_value(loss)}."
            )
        seed, delta = getattr(self, "_seed", 0), getattr(self, "_first_delta", None)
        if type(seed) is not int or not 0 <= seed < 2**64:
            raise ValueError(f"_seed must be an int in [0, 2^64 - 1], got {format_value(seed)}.")
        if delta is not None and not (type(delta) is float and 0 <= delta < math.inf):
            raise ValueError(
                f"_first_delta must be None or a float >= 0, got {format_value(delta)}."
            )
