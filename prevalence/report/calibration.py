"""Tables of `prevalence calibrate`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from prevalence.report.console import make_table, plain
from prevalence.report.text import shown_number
from prevalence.signature import signature_parts
from prevalence.stats.resampling import FEWEST_PRODUCTS
from prevalence.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import RenderableType

    from prevalence.calibration import ScorerRow

__all__ = ["agreement_lines", "applied_figures", "calibration_table", "summary_table"]

_WITH_INTERVAL = ("balanced_accuracy", "auc")
_PLAIN = ("precision", "recall", "f1", "brier", "ece")
_RATES = ("accuracy", "false_positive_rate", "false_negative_rate", "krippendorff_alpha")
_HEADERS = {
    "balanced_accuracy": "bal. acc.",
    "auc": "AUC",
    "f1": "F1",
    "brier": "Brier",
    "ece": "ECE",
}


def calibration_table(rows: Sequence[ScorerRow], best: ScorerRow) -> RenderableType:
    """Scorers with threshold and figures on the pairs that no choice has seen.

    Args:
        rows: one a scorer.
        best: the row that the others are compared with; marked by a star.
    """
    figures = (_HEADERS.get(name, name) for name in (*_WITH_INTERVAL, *_PLAIN))
    lines = []
    for row in rows:
        cells = [
            f"{row.decider.threshold:.4f}",
            _figure(row.dev["balanced_accuracy"]),
            *(_with_interval(row.unseen, name) for name in _WITH_INTERVAL),
            *(_figure(row.unseen.get(name)) for name in _PLAIN),
        ]
        if len(rows) > 1:
            tested = row.test or row.dev.get("cross_validation") or {}
            versus = tested.get("versus_best", {})
            cells.append(_figure(versus.get("balanced_accuracy", {}).get("p_value")))
        star = " *" if row is best and len(rows) > 1 else ""
        lines.append((plain(row.scored.name + star), *cells))
    headers = ("scorer", "threshold", "dev", *figures, *(["p"] if len(rows) > 1 else []))
    return Group(make_table(headers, lines), Text(_note(rows), "dim"), *_present(rows))


def _present(rows: Sequence[ScorerRow]) -> list[RenderableType]:
    """The threshold that scorers have at present beside the chosen one, on the same pairs."""
    lines = []
    for row in rows:
        now = (row.dev if row.test is None else row.test).get("present")
        if now is not None:
            chosen = {**row.unseen, "threshold": row.decider.threshold}
            lines += [_threshold_cells(row, "present", now)]
            lines += [_threshold_cells(row, "chosen", chosen)]
    if not lines:
        return []
    headers = ("threshold", "", "bal. acc.", "sensitivity", "specificity")
    note = "present: the threshold that a scorer has without this calibration, on the same pairs"
    return [make_table(headers, lines), Text(note, "dim"), Text(_chosen(rows[0]), "dim")]


def _chosen(row: ScorerRow) -> str:
    """What the figures of a chosen threshold rest on."""
    if row.test is not None:
        return "chosen: the threshold from the first set"
    if row.dev.get("cross_validation") is None:
        return "chosen: on the pairs that chose it, so its figures are too good"
    return (
        "chosen: cross-validated, each product decided by the threshold chosen on other products, "
        "so its figures can be lower than those of present"
    )


def _threshold_cells(row: ScorerRow, which: str, figures: dict[str, Any]) -> tuple[Any, ...]:
    names = ("balanced_accuracy", "recall", "specificity")
    shown = (_figure(figures[name]) for name in names)
    return (plain(f"{row.scored.name}, {which}"), f"{figures['threshold']:.4f}", *shown)


def summary_table(rows: Sequence[ScorerRow]) -> RenderableType:
    """Balanced accuracy and AUC to four places, as the table of scorers in the paper has them.

    Source: Malon 2023, Table 2.
    """
    lines = [
        (plain(row.scored.name), *(_figure(row.unseen.get(n), 4) for n in _WITH_INTERVAL))
        for row in rows
    ]
    table = make_table(("Method", "Balanced Accuracy", "AUC"), lines)
    return Group(table, Text(_where(rows), "dim"))


def applied_figures(
    result: Mapping[str, Any], figures: Mapping[str, Any], signatures: Sequence[str]
) -> tuple[Mapping[str, Any], str]:
    """Figures of a calibration at the threshold that rows were scored with, if it has them.

    Args:
        result: the calibration.
        figures: its figures on unseen pairs, at its own threshold.
        signatures: of the rows; those of other scorers are passed over.

    Returns:
        The figures with their ``threshold``, and a note where the rows have another one.
    """
    own = float(result.get("threshold", math.nan))
    whole = {**figures, "threshold": own}
    used = {t for one in signatures if (t := _threshold_of(one, result)) is not None}
    if not used or all(math.isclose(t, own, rel_tol=1e-9) for t in used):
        return whole, ""
    present = (result.get("test") or result["dev"]).get("present") or {}
    at = present.get("threshold")
    if at is not None and all(math.isclose(t, at, rel_tol=1e-9) for t in used):
        kept = {name: figures[name] for name in ("n", "auc") if name in figures}
        intervals = {"auc": (figures.get("intervals") or {}).get("auc")}
        return {**kept, **present, "intervals": intervals}, ""
    scored = ", ".join(f"{t:.4g}" for t in sorted(used))
    return whole, f"rates hold at threshold {own:.4g}; the scores were made at {scored}"


def _threshold_of(signature: str, result: Mapping[str, Any]) -> float | None:
    """The threshold of rows that a calibration's scorer scored; None of others."""
    parts = signature_parts(signature)
    theirs = result.get("scorer_signature")
    if isinstance(theirs, dict):
        same = all(parts.get(key) == value for key, value in theirs.items())
    else:
        named = (parts.get(key, "").partition("@")[0] for key in ("nli", "consistency"))
        same = result["scorer"] in named
    try:
        return float(parts["thr"]) if same else None
    except (KeyError, ValueError):
        return None


def agreement_lines(name: str, workers: dict[str, Any]) -> RenderableType:
    """Annotators against the majority, on one line."""
    shown = {figure: _figure(workers[figure], 4) for figure in _RATES}
    text = (
        f"{name}: annotators agree with the majority in {shown['accuracy']} of "
        f"{workers['labels']:,} labels (false positives {shown['false_positive_rate']}, false "
        f"negatives {shown['false_negative_rate']}); Krippendorff's alpha "
        f"{shown['krippendorff_alpha']}"
    )
    return plain(text)


def _where(rows: Sequence[ScorerRow]) -> str:
    if rows[0].test is not None:
        return f"on the second set, {_size(rows[0].test)}; thresholds from the first"
    crossed = rows[0].dev.get("cross_validation")
    if crossed is None:
        return f"on the {rows[0].dev['n']:,} pairs that chose the threshold (a single product)"
    return f"cross-validated over products, {len(crossed['folds'])} folds, {_size(rows[0].dev)}"


def _size(figures: dict[str, Any]) -> str:
    return f"{figures['n']:,} pairs of {counted(figures['products'], 'product')}"


def _note(rows: Sequence[ScorerRow]) -> str:
    dev = "dev: balanced accuracy on the set that chose; the other figures are "
    tests = "; * is the best on dev, and p that of equal balanced accuracy with it"
    none = f"; below {FEWEST_PRODUCTS} products there are no intervals"
    few = not rows[0].unseen["intervals"]
    return dev + _where(rows) + (tests if len(rows) > 1 else "") + (none if few else "")


def _figure(value: float | None, places: int = 3) -> str:
    text = shown_number(value, f".{places}f")
    return text[1:] if text.startswith("0.") else text


def _with_interval(figures: dict[str, Any], name: str) -> str:
    interval = figures["intervals"].get(name)
    shown = _figure(figures.get(name))
    return shown if interval is None else f"{shown} [{'–'.join(map(_figure, interval))}]"
