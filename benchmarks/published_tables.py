"""Recompute published tables cell by cell from released data, through the package's functions.

    python -m benchmarks.published_tables
    python -m benchmarks.published_tables --data FOLDER --json published_tables.json

FOLDER (default: $PREVALENCE_DATA) holds ``goldens/*.json``, the printed figures with what others
recomputed, and the released data that they come from. A cell is compared where its ``reproduced``
is set: true must match the printed figure, false is a known difference; both must equal the
recomputed figure stored beside them. Tables without data, and cells whose judge is not in the data,
are named and skipped. The last line is the total; the exit status is 1 if a cell fails.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.common import DATA
from benchmarks.published_recipes import RECIPES, Cell, NoDataError, Value
from prevalence.errors import PrevalenceError
from prevalence.meta.means import round_half_up
from prevalence.meta.sources import read_table
from prevalence.stats.coefficients import stars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prevalence.meta.table import RatingTable

__all__ = ["Comparison", "compare", "main"]

# The released figures are rounded to six decimals at the least precise.
TOLERANCE = 1.5e-6


class Miss(NamedTuple):
    """A cell that differs: from the printed figure as is known, or as it should not."""

    cell: Cell
    value: Value
    known: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """What became of a table.

    Attributes:
        name: of the golden file.
        matched: cells that equal the printed figure.
        compared: cells that were recomputed.
        misses: cells that differ.
        skipped: why the table or some of its cells were not recomputed.
    """

    name: str
    matched: int = 0
    compared: int = 0
    misses: tuple[Miss, ...] = ()
    skipped: str = ""

    @property
    def failed(self) -> bool:
        """Whether a cell differs that should not."""
        return any(not miss.known for miss in self.misses)


def compare(golden: Path, table: RatingTable) -> Comparison:
    """Recompute a table's cells and compare them.

    Args:
        golden: the file of printed figures, named as in :data:`RECIPES`.
        table: the released data.

    Returns:
        Counts and differing cells.
    """
    recipe, matched, compared = RECIPES[golden.stem], 0, 0
    misses: list[Miss] = []
    absent: dict[str, int] = {}
    for cell in _cells(golden):
        try:
            value = recipe(table, cell)
        except NoDataError as lack:
            absent[str(lack)] = absent.get(str(lack), 0) + 1
            continue
        compared += 1
        known = cell.golden.get("reproduced") is False
        if _matches(cell, value) and _as_recomputed(cell, value):
            matched += 1
        else:
            misses.append(Miss(cell, value, known and _as_recomputed(cell, value)))
    skipped = ", ".join(f"{count} cells: {lack}" for lack, count in absent.items())
    return Comparison(golden.stem, matched, compared, tuple(misses), skipped)


def main(arguments: list[str] | None = None) -> int:
    """Compare every golden file of a folder; the exit status."""
    options = _options(arguments)
    folder = Path(options.data) / "goldens"
    goldens = sorted(folder.glob("*.json"), key=_reading_order)
    if not goldens:
        print(f"no goldens in {folder}; set PREVALENCE_DATA or give --data", file=sys.stderr)
        return 2
    found = [*_comparisons(goldens, Path(options.data))]
    for comparison in found:
        _print(comparison)
    if options.json:
        Path(options.json).write_text(json.dumps([*map(_row, found)], indent=1) + "\n", "utf-8")
    matched = sum(comparison.matched for comparison in found)
    compared = sum(comparison.compared for comparison in found)
    known = sum(miss.known for comparison in found for miss in comparison.misses)
    failed = compared - matched - known
    print(f"total {matched}/{compared} matched, {known} known differences, {failed} failed")
    return int(any(comparison.failed for comparison in found))


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.published_tables", description=__doc__)
    parser.add_argument("--data", default=DATA)
    parser.add_argument("--json", metavar="FILE", help="write the counts and differing cells")
    return parser.parse_args(arguments)


def _comparisons(goldens: list[Path], data: Path) -> Iterator[Comparison]:
    tables: dict[str, RatingTable | str] = {}
    for golden in goldens:
        study = golden.stem.partition("_table")[0]
        if golden.stem not in RECIPES:
            yield Comparison(golden.stem, skipped="there is no recipe for it")
            continue
        if not [*_cells(golden)]:
            yield Comparison(golden.stem, skipped="no cell has ever been recomputed")
            continue
        table = tables.setdefault(study, _released(data, study))
        if isinstance(table, str):
            yield Comparison(golden.stem, skipped=table)
        else:
            yield compare(golden, table)


def _released(data: Path, study: str) -> RatingTable | str:
    """The released data of a study, or why there is none."""
    wanted = study.replace("_", "")
    names = {
        path: path.name.casefold().replace("_", "").replace("-", "") for path in data.iterdir()
    }
    found = sorted(path for path, name in names.items() if name.partition(".")[0] == wanted)
    if not found:
        return f"no data of {study} in the folder"
    # The printed figures count a reply without a score as the authors' parser does.
    return read_table(found, keep_unread=True)


def _cells(golden: Path) -> Iterator[Cell]:
    """The cells that someone has recomputed."""
    for row, columns in json.loads(golden.read_text("utf-8"))["rows"].items():
        cells = {name: cell for name, cell in columns.items() if isinstance(cell, dict)}
        field = next((cell["field"] for cell in cells.values() if "field" in cell), None)
        for column, cell in cells.items():
            if cell.get("reproduced") is not None or "round1_value" in cell:
                yield Cell(row, column, cell.get("field", field), cell)


def _matches(cell: Cell, value: Value) -> bool:
    """Whether the figure rounds to the printed one, with as many stars."""
    golden = cell.golden
    if golden.get("reproduced") is None:
        return True
    printed = golden["printed"]
    decimals = len(printed.partition(".")[2])
    starred = not golden.get("stars_reproduced") or len(stars(value.p)) == golden["printed_stars"]
    return starred and float(round_half_up(value.value, decimals)) == float(printed)


def _as_recomputed(cell: Cell, value: Value) -> bool:
    """Whether the figure is what others got from the same data."""
    golden = cell.golden
    if golden.get("reproduced") is None:
        return bool(abs(value.value - golden["round1_value"]) < 100 * TOLERANCE)
    return bool(abs(value.value - golden["computed"]) < TOLERANCE)


def _reading_order(path: Path) -> tuple[str, int, str]:
    study, _, rest = path.stem.partition("_table")
    digits = "".join(letter for letter in rest if letter.isdigit())
    return study, int(digits or 0), rest


def _print(comparison: Comparison) -> None:
    if comparison.compared:
        print(f"{comparison.name}: {comparison.matched}/{comparison.compared}")
    else:
        print(f"{comparison.name}: skipped, {comparison.skipped}")
    for miss in comparison.misses:
        state = "known difference" if miss.known else "FAILED"
        printed = miss.cell.golden["printed"]
        print(
            f"  {state}: {miss.cell.row}, {miss.cell.column}: "
            f"printed {printed}, recomputed {miss.value.value:.6f}"
        )
    if comparison.compared and comparison.skipped:
        print(f"  not in the data: {comparison.skipped}")


def _row(comparison: Comparison) -> dict[str, Any]:
    return {
        "table": comparison.name,
        "matched": comparison.matched,
        "compared": comparison.compared,
        "skipped": comparison.skipped or None,
        "misses": [
            {
                "row": miss.cell.row,
                "column": miss.cell.column,
                "printed": miss.cell.golden["printed"],
                "recomputed": miss.value.value,
                "known": miss.known,
            }
            for miss in comparison.misses
        ],
    }


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (PrevalenceError, OSError) as error:
        sys.exit(f"published_tables: {error}")
