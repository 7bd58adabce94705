"""What is found out about the columns of CSV files, block by block."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ceiba.data.categories import MAX_LEVELS, Vocabulary
from ceiba.data.io.cells import BadCellError, Cells
from ceiba.data.io.csv_records import Records
from ceiba.data.io.errors import ReadError
from ceiba.data.io.facts import Facts
from ceiba.data.io.layout import Selection
from ceiba.data.io.wishes import Wish
from ceiba.data.schema import Column, Kind


@dataclass(slots=True)
class CsvSurvey:
    """What the columns of some files are, by the blocks that were seen.

    A column counts as numbers until a text is met. The levels of one in which that happens after
    the first block are gathered by a second look at this column alone.
    """

    selection: Selection
    facts: dict[str, Facts] = field(default_factory=dict)
    words: dict[str, Vocabulary] = field(default_factory=dict)
    late: set[str] = field(default_factory=set)
    rows: int = 0

    def add(self, records: Records) -> int:
        """Take in a block; the number of its rows."""
        names = self.selection.names
        cells = records.columns(names, arrow=True)
        count = len(cells[names[0]])
        if count:
            for name in names:
                try:
                    self._add_column(name, cells[name])
                except BadCellError as bad:
                    raise records.error(name, bad) from None
                self.check_levels(name, records.path)
        self.rows += count
        return count

    def _add_column(self, name: str, cells: Cells) -> None:
        wish = self.selection.wishes.get(name)
        if isinstance(wish, tuple):
            cells.values(_listed(name, wish))
            return
        known = self.facts.get(name, Facts())
        if wish in ("nominal", "ordinal") or known.text:
            facts = known.merge(Facts(text=True))
        else:
            facts = known.merge(cells.facts())
            if facts.text and wish == "numeric":
                cells.plain().numbers()
            if facts.text and known.has_numbers:
                self.late.add(name)
        self.facts[name] = facts
        if facts.text and name not in self.late:
            self.add_words(name, cells)

    def add_words(self, name: str, cells: Cells) -> None:
        """Take in the different texts of a column."""
        known = self.words.get(name, Vocabulary())
        self.words[name] = known.merge(Vocabulary.of(cells.words()))

    def check_levels(self, name: str, path: Path) -> None:
        """Refuse a column of text that has too many levels."""
        if name in self.words and self.words[name].overfull:
            raise ReadError.at(
                path,
                f"it has more than {MAX_LEVELS:,} different texts, as an identifier has. Leave it "
                "out: name the other columns in `columns`. Or say what it is in `kinds`.",
                column=name,
            )

    def columns(self) -> dict[str, Column]:
        """What the columns are."""
        wishes = self.selection.wishes
        found = {}
        for name in self.selection.names:
            wish = wishes.get(name)
            words = self.words.get(name, Vocabulary()).words
            facts = self.facts.get(name, Facts())
            found[name] = (
                _listed(name, wish) if isinstance(wish, tuple) else facts.column(name, wish, words)
            )
        return found


def _listed(name: str, levels: Wish) -> Column:
    return Column(name, Kind.ORDINAL, tuple(levels), "codes")
