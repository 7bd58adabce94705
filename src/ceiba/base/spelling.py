"""Other spellings of the choices of a hyper-parameter, such as "C4.5" for "c45".

Case and the characters ``. - _`` and space do not matter, and a choice may have synonyms. The
estimator keeps what the user passed: `get_params`, ``repr`` and ``clone`` return that, while the
attribute returns the declared choice, which is all that the code of a learner compares with.
"""

from __future__ import annotations

from typing import Any

_IGNORED = str.maketrans("", "", ".-_ ")
# Folded synonym -> choice. scikit-learn's friedman_mse always was the squared error.
_SYNONYMS = {"friedmanmse": "squared_error", "adaboostm1": "m1", "cls": "hunt"}


def fold(text: str) -> str:
    """Return a text without case, dots, dashes, underscores and spaces.

    Examples
    --------
    >>> fold("SAMME.R") == fold("samme_r")
    True
    """
    return text.lower().translate(_IGNORED)


class ChoiceAttribute:
    """Attribute of a hyper-parameter with choices: accepts every spelling, returns the choice.

    A text that is no spelling of a choice is returned as it is, and validation rejects it.
    """

    def __init__(self, name: str, choices: tuple[str, ...]) -> None:
        self.name = name
        self.declared = frozenset(choices)
        self.choices = {fold(choice): choice for choice in choices}
        if len(self.choices) < len(choices):
            raise TypeError(f"{name}: its choices differ by case or punctuation only.")
        for synonym, choice in _SYNONYMS.items():
            if choice in choices:
                self.choices[synonym] = choice

    def __get__(self, estimator: Any, owner: type | None = None) -> Any:
        # Read some forty times in a fit. Usually the value is spelled as declared: folding every
        # value takes 4 % of a fit of iris.
        try:
            value = estimator.__dict__[self.name]
        except (AttributeError, KeyError):
            kind = owner or type(estimator)
            raise AttributeError(f"{kind.__name__!r} has no {self.name!r}") from None
        if not isinstance(value, str) or value in self.declared:
            return value
        return self.choices.get(fold(value), value)

    def __set__(self, estimator: Any, value: Any) -> None:
        estimator.__dict__[self.name] = value
