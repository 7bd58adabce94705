"""User-defined loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.base import ParameterError
from ceiba.base.value_types import format_value
from ceiba.ensemble.gradient_boosting.losses.base import LinkName, Loss


class CustomLoss(Loss):
    """User-defined loss: an object with ``gradient(y, raw)`` and ``hessian(y, raw)``.

    The other methods are optional; `ceiba.ensemble.gradient_boosting.regressor.LossFunction` is
    their contract. Predictions need the link alone, and no rows.
    """

    def __init__(self, y: Array, weight: Array | None, threads: int = 1, *, loss: Any) -> None:
        super().__init__(y, weight, threads)
        self.loss = loss
        self.has_row_losses = hasattr(loss, "loss")

    @classmethod
    def without_rows(cls, loss: Any) -> CustomLoss:
        """Return a loss for predictions."""
        return cls(np.empty(0), None, loss=loss)

    @property
    def link_name(self) -> LinkName:  # type: ignore[override]
        """Name of the link: "custom" with ``inverse_link``."""
        return "custom" if hasattr(self.loss, "inverse_link") else "identity"

    def link(self, prediction: Array) -> Array:  # type: ignore[override]
        """Return the raw scores of predictions of the init predictor."""
        if self.link_name == "custom":
            prediction = user_values(self.loss, "link", read_only(prediction))
        return prediction[:, None]

    def inverse_link(self, raw: Array) -> Array:  # type: ignore[override]
        """Return the predictions of raw scores."""
        score = np.asarray(raw[:, 0])
        if self.link_name == "custom":
            return user_values(self.loss, "inverse_link", read_only(score))
        return score

    def first_scores(self) -> Array:
        """Return the first score of the user's loss, or 0."""
        init = getattr(self.loss, "init", None)
        weight = None if self.weight is None else read_only(self.weight)
        first = 0.0 if init is None else np.asarray(init(read_only(self.y), weight))
        if np.ndim(first) or not np.issubdtype(np.asarray(first).dtype, np.number):
            raise ValueError(f"init of the loss must return a number, got {format_value(first)}.")
        if not np.isfinite(first):
            raise ValueError(f"init of the loss must return a finite number, got {first}.")
        return np.array([float(first)])

    def _derivatives(self, raw: Array, gradient: Array, hessian: Array | None) -> None:
        gradient[:] = user_values(self.loss, "gradient", read_only(self.y), read_only(raw))
        if hessian is not None:
            hessian[:] = user_values(self.loss, "hessian", read_only(self.y), read_only(raw))
            if (hessian < 0).any():
                row = int((hessian < 0).argmax())
                raise ValueError(
                    "hessian of the loss must return numbers >= 0, got "
                    f"{hessian[row]:g} at index {row}: return a positive number where the loss is "
                    "not convex."
                )

    def row_losses(self, y: Array, raw: Array) -> Array:
        """Return the loss of each row."""
        return user_values(self.loss, "loss", read_only(y), read_only(raw[0]))


def check_loss_object(loss: Any, init: Any) -> None:
    """Raise ParameterError for a class, or a loss without a link for the init predictor."""
    if isinstance(loss, type):
        raise ParameterError(
            f"loss must be an object with gradient(y, raw) and hessian(y, raw), got the class "
            f"{loss.__name__}: pass an instance, such as {loss.__name__}()."
        )
    lacking = [name for name in ("link", "inverse_link") if not hasattr(loss, name)]
    if len(lacking) == 1 and init is not None and init != "zero":
        argument = "prediction" if lacking == ["link"] else "raw"
        raise ParameterError(
            f"init={type(init).__name__} requires that the loss has both inverse_link(raw) and its "
            "inverse, link(prediction), which turns predictions of init into raw scores, or "
            f"neither, got an object of class {type(loss).__name__} without {lacking[0]}: add the "
            f"method {lacking[0]}({argument}), or set init=None or init='zero'."
        )


_ARGUMENTS = {"inverse_link": "raw", "link": "prediction"}


def read_only(values: Array) -> Array:
    """Return a view that a function of the user cannot change."""
    view = values.view()
    view.flags.writeable = False
    return view


def user_values(loss: Any, name: str, *arrays: Array) -> Array:
    """Return what a method of the user's loss returns for whole arrays; it must be as long."""
    method = getattr(loss, name)
    if not callable(method):
        arguments = _ARGUMENTS.get(name, "y, raw")
        raise TypeError(
            f"{name} of the loss must be a method {name}({arguments}), got {format_value(method)}."
        )
    result, expected = method(*arrays), arrays[0].shape
    try:
        values = np.asarray(result, np.float64)
    except (TypeError, ValueError):  # text, or rows of different lengths
        values = None
    if values is None or values.shape != expected:
        raise ValueError(
            f"{name} of the loss must return an array of numbers of shape {expected}, one for each "
            f"row, got {format_value(result)}."
        )
    if not np.isfinite(values).all():
        row = int(np.isfinite(values).argmin())
        raise ValueError(
            f"{name} of the loss must return finite numbers, got {values[row]:g} at index {row}."
        )
    return values
