"""Units of a fit as a record of a model file, and the parameter that requests them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any, Self

import numpy as np

from ceiba._typing import Array
from ceiba.base.record import ArrayOf, Record, check_values
from ceiba.base.value_types import format_value
from ceiba.stats.scaling import PointScaling


@dataclass(frozen=True, eq=False)
class StoredScaling(PointScaling, Record):
    """Units of a fit, as a model file stores and checks them."""

    exponents: Annotated[Array, ArrayOf("int64", "d")]
    divisors: Annotated[Array, ArrayOf("float64", "d")]
    origins: Annotated[Array, ArrayOf("int64", "d")]
    origin_values: Annotated[Array, ArrayOf("float64", "d")]
    scaled: bool

    @classmethod
    def of(cls, scaling: PointScaling) -> Self:
        """Return the record of a scaling."""
        return cls(**{field.name: getattr(scaling, field.name) for field in fields(scaling)})

    def check(self) -> None:
        """Raise ValueError unless exponents are those of floats and divisors are positive."""
        check_values("exponents", self.exponents, np.abs(self.exponents) <= 2100, "in +-2100")
        positive = np.isfinite(self.divisors) & (self.divisors > 0)
        check_values("divisors", self.divisors, positive, "finite and > 0")
        finite = np.isfinite(self.origin_values)
        check_values("origin_values", self.origin_values, finite, "finite")


def check_scaling(scaling: Any, d: int) -> None:
    """Raise ValueError unless a model file has the scaling of ``d`` columns."""
    if not isinstance(scaling, StoredScaling) or len(scaling.divisors) != d:
        raise ValueError(
            f"_scaling must be a StoredScaling of {d} columns, got {format_value(scaling)}."
        )
