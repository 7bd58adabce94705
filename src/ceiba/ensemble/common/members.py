"""The members of an ensemble as a sequence, as in scikit-learn: ``len``, ``[i]`` and iteration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class MemberSequence:
    """An ensemble is a sequence of its fitted members, ``estimators_``."""

    def __len__(self) -> int:
        return len(self._members())

    def __getitem__(self, index: Any) -> Any:
        return self._members()[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._members())

    def __bool__(self) -> bool:
        # An ensemble that is not fitted has no length, but is as true as any other estimator.
        return True

    def _members(self) -> Any:
        ensemble: Any = self
        return ensemble.estimators_
