"""The rows of an ARFF file, dense or sparse, as texts."""

from __future__ import annotations

from collections.abc import Sequence

from ceiba.data.arff_header import Attribute
from ceiba.data.arff_words import BadWordsError, Word, plain_values, values_of, words_of

_WEIGHT = (
    "the row ends with a weight in braces, which a table has no place for: make the weight an "
    "attribute of its own."
)


def parse_row(line: str, attributes: Sequence[Attribute]) -> list[str | None]:
    """The values of a row, None for a gap; an empty list for a line that is only a comment."""
    plain = plain_values(line)
    if plain is None:
        words = words_of(line)
        while words and words[0].kind == "blank":
            words = words[1:]
        if not words:
            return []
        if words[0].is_mark("{"):
            return _sparse_row(words[1:], attributes)
        return _dense_row(words, attributes)
    _check_width(len(plain), attributes)
    _check_filled(plain, attributes)
    return [None if text == "?" else text for text in plain]


def _dense_row(words: Sequence[Word], attributes: Sequence[Attribute]) -> list[str | None]:
    if any(word.is_mark("{") for word in words):
        raise BadWordsError(_WEIGHT)
    if any(word.is_mark("}") for word in words):
        raise BadWordsError("a brace closes that was not opened: quote it if it is text.")
    values = values_of(words)
    _check_width(len(values), attributes)
    _check_filled([value.text or value.kind == "quoted" for value in values], attributes)
    return [None if value.gap else value.text for value in values]


def _sparse_row(words: Sequence[Word], attributes: Sequence[Attribute]) -> list[str | None]:
    closing = next((place for place, word in enumerate(words) if word.is_mark("}")), None)
    if closing is None:
        raise BadWordsError("the sparse row lacks the closing brace.")
    if any(word.is_mark("{") for word in words[closing + 1 :]):
        raise BadWordsError(_WEIGHT)
    if any(word.kind != "blank" for word in words[closing + 1 :]):
        raise BadWordsError("something follows the sparse row.")
    given = _sparse_values(words[:closing], len(attributes))
    return [
        _given(given[place]) if place in given else _left_out(attribute)
        for place, attribute in enumerate(attributes)
    ]


def _given(value: Word) -> str | None:
    return None if value.gap else value.text


def _sparse_values(words: Sequence[Word], width: int) -> dict[int, Word]:
    pairs: list[list[Word]] = [[]]
    for word in words:
        if word.is_mark(","):
            pairs.append([])
        elif word.kind != "blank":
            pairs[-1].append(word)
    if pairs == [[]]:
        return {}
    values: dict[int, Word] = {}
    for pair in pairs:
        if len(pair) != 2 or not (pair[0].text.isascii() and pair[0].text.isdigit()):
            shown = " ".join(word.text for word in pair)
            raise BadWordsError(f"a sparse row holds pairs of number and value, not {shown!r}.")
        place = int(pair[0].text)
        if place >= width:
            raise BadWordsError(
                f"the sparse row has a value for attribute {place}, but they are numbered from 0 "
                f"to {width - 1}."
            )
        if place in values:
            raise BadWordsError(f"the sparse row has two values for attribute {place}.")
        values[place] = pair[1]
    return values


def _left_out(attribute: Attribute) -> str:
    """The value of an attribute that a sparse row leaves out: zero, or the first level."""
    if attribute.type in ("numeric", "real"):
        return "0"
    if attribute.type == "nominal" and attribute.levels:
        return attribute.levels[0]
    raise BadWordsError(
        f"the sparse row leaves out {attribute.name!r}, and a {attribute.type} attribute has no "
        "zero: write its value."
    )


def _check_width(count: int, attributes: Sequence[Attribute]) -> None:
    if count < len(attributes):
        name = attributes[count].name
        raise BadWordsError(
            f"the row has {count} values for {len(attributes)} attributes: {name!r} is missing."
        )
    if count > len(attributes):
        raise BadWordsError(f"the row has {count} values for {len(attributes)} attributes.")


def _check_filled(values: Sequence[object], attributes: Sequence[Attribute]) -> None:
    if not all(values):
        name = next(a.name for a, value in zip(attributes, values, strict=True) if not value)
        raise BadWordsError(f"the value of {name!r} is empty: write ? for a gap, '' for no text.")
