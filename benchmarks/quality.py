"""Decisions of a model on hard pairs that no training has seen, by phenomenon, in one command.

    python -m benchmarks.quality
    python -m benchmarks.quality --model embedded --state

The sets: the robustness pairs; contrast sets, in which one premise has one entailed statement and
two that differ from it in one thing; reviews with what they say and its opposite in plain words,
review sentences with key points, and summary sentences with others that repeat them or not, judged
by a careful reader; the example's reviews with statements of one to three words, judged likewise,
and with words that say nothing ("Summary:"); written reviews with the claims of summaries as
language models write them; and, where the released data is, such claims on OpinSummEval's reviews,
sentences of these reviews with their negations, antonyms and other numbers, made by rule, and
sentences of its summaries, judged for each of eight reviews. Rows are written to
`benchmarks/results/quality.json`; `--state` also writes the error rates by phenomenon beside the
weights and into the model's card, from where `prevalence models` shows them. How scorers compare on
ReviewNLI: `benchmarks/consistency.py`.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import DATA, RESULTS, ROOT, environment, show_table
from benchmarks.model_summaries import Judged, on_released, on_written
from prevalence import calibration
from prevalence.labelled import JudgedPairs, read_documents
from prevalence.models.error_rates import ERRORS_FILE, read_errors_file
from prevalence.models.location import resolve
from prevalence.readers.products import read_products
from prevalence.records import Product
from prevalence.text.sentences import get_splitter
from prevalence.training.minimal_pairs import KINDS

Floats = np.ndarray[Any, np.dtype[np.float64]]
Pairs = Sequence[tuple[str, str]]
Row = dict[str, Any]

WRITTEN = ("opposites", "key_points", "repetitions", "short_statements")
MODEL_WRITTEN = ("model_summaries", "model_summaries_yelp")


class Embedded:
    """The NLI scorer under its own threshold."""

    def __init__(self, model: str) -> None:
        from prevalence.nli.scorer import NLIScorer

        self.scorer = NLIScorer(model, device="cpu")

    def probabilities(self, pairs: Pairs) -> tuple[Floats, Floats]:
        """P(entailment) and P(contradiction)."""
        from prevalence.nli.pairs import TextTable

        table = TextTable()
        numbers = np.array([(table.add(a), table.add(b)) for a, b in pairs], dtype=np.int64)
        scores = self.scorer.score(table, numbers)
        return (
            np.asarray(scores.entailment, dtype=np.float64),
            np.asarray(scores.contradiction, dtype=np.float64),
        )


def read_pairs(path: Path) -> list[Row]:
    """The pairs of a set, with their labels."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def rows_of(records: Sequence[Row], model: Embedded) -> list[Row]:
    """Decisions on a set, by relation and phenomenon."""
    pairs = [(record["premise"], record["hypothesis"]) for record in records]
    entailment, contradiction = model.probabilities(pairs)
    threshold = model.scorer.traits.threshold
    keys = [("all", "all")]
    keys += sorted({(r["relation"], "all") for r in records})
    keys += sorted({("all", r["phenomenon"]) for r in records})
    keys += sorted({(r["relation"], r["phenomenon"]) for r in records})
    rows = []
    for relation, phenomenon in dict.fromkeys(keys):
        chosen = np.array([
            relation in ("all", r["relation"]) and phenomenon in ("all", r["phenomenon"])
            for r in records
        ])  # fmt: skip
        truth = np.array([r["label"] for r in records])[chosen]
        part = part_figures(entailment[chosen], contradiction[chosen], truth, threshold)
        rows.append({"relation": relation, "phenomenon": phenomenon, **part})
        if "set" in records[0]:
            sets = np.array([r["set"] for r in records])[chosen]
            rows[-1]["sets_ranked"] = ranked(sets, entailment[chosen], truth == "entailment")
    return rows


def ranked(sets: Any, entailment: Floats, entailed: Any) -> float:
    """Share of contrast sets whose entailed statement scores above all others of the set."""
    names = sorted(set(sets))
    best = [
        entailment[(sets == name) & entailed].min() > entailment[(sets == name) & ~entailed].max()
        for name in names
    ]
    return float(np.mean(best))


def turned_pairs(reviews: Sequence[str], *, most: int) -> dict[str, list[tuple[str, str]]]:
    """Sentences of reviews and the same with one thing turned, by kind.

    Args:
        reviews: texts.
        most: sentences of each kind, drawn with a fixed seed.
    """
    split, rng = get_splitter(), np.random.default_rng(1)
    sentences = [sentence.text for review in reviews for sentence in split(review)]
    found = {}
    for kind, turn in KINDS.items():
        order = rng.permutation(len(sentences)).tolist()
        twins = [(sentences[place], turn(sentences[place], rng)) for place in order]
        found[kind] = [(text, twin) for text, twin in twins if twin is not None][:most]
    return found


def turned_rows(reviews: Sequence[str], model: Embedded, *, most: int) -> list[Row]:
    """How often a sentence is counted as support for itself, and for itself with one thing turned.

    Args:
        reviews: texts that no training has seen.
        model: whose decisions.
        most: sentences of each kind.
    """
    rows = []
    for kind, found in turned_pairs(reviews, most=most).items():
        kept, _ = model.probabilities([(text, text) for text, _ in found])
        support, against = model.probabilities(found)
        threshold = model.scorer.traits.threshold
        likeliest = against > np.maximum(support, 1 - support - against)
        opposed = likeliest & (support <= threshold)
        rows.append({
            "kind": kind,
            "pairs": len(found),
            "itself_supported": float((kept > threshold).mean()),
            "turned_supported": float((support > threshold).mean()),
            "turned_contradicted": None if np.isnan(against).any() else float(opposed.mean()),
        })  # fmt: skip
    return rows


def written_pairs(title: str) -> tuple[Pairs, Any, Any]:
    """Pairs of a set that was written and judged for this project.

    Args:
        title: one of `WRITTEN`.

    Returns:
        Pairs, and for each whether the premise supports the hypothesis, and whether it says the
        opposite.
    """
    read = read_documents(ROOT / "benchmarks" / "data" / f"{title}.jsonl")
    documents = [one for one in read if one.relation == "review"]
    judged = JudgedPairs.of(documents)
    opposed = [target.contradiction > 0.5 for one in documents for target in one.targets]
    return judged.pairs, np.asarray(judged.labels), np.array(opposed)


def judged_pairs(released: Sequence[Row]) -> tuple[list[tuple[str, str]], Any]:
    """Pairs of a review and a summary sentence, and whether a careful reader found support.

    Args:
        released: the cases of OpinSummEval. The file of judgements names a sentence by its system
            and its place in that system's summary.
    """
    cases, split = {record["case"]: record for record in released}, get_splitter()
    pairs: list[tuple[str, str]] = []
    chances: list[int] = []
    for judged in read_pairs(ROOT / "benchmarks" / "data" / "summary_judgments.jsonl"):
        record = cases[judged["case"]]
        sentences = [
            split(_summary(record, system))[place].text for system, place in judged["sentences"]
        ]
        pairs += [(review, sentence) for review in record["reviews"] for sentence in sentences]
        chances += [chance for row in judged["labels"] for chance in row]
    return pairs, np.array(chances) > 50


def claimed_pairs(judged: Sequence[Judged]) -> tuple[Pairs, Any, Any]:
    """Reviews and the claims of their summaries.

    Returns:
        As :func:`written_pairs` does.
    """
    pairs = [(review, claim) for one in judged for claim in one.claims for review in one.reviews]
    supported = [mark for one in judged for row in one.supported for mark in row]
    opposed = [mark for one in judged for row in one.opposed for mark in row]
    return pairs, np.array(supported), np.array(opposed)


def _summary(record: Row, system: str) -> str:
    text = record["reference"] if system == "reference" else record["summaries"][system]["text"]
    return str(text)


def judged_row(model: Embedded, pairs: Pairs, truth: Any, opposed: Any = None) -> Row:
    """Figures on pairs that a careful reader judged, over all of them.

    Args:
        model: whose decisions.
        pairs: premises and hypotheses.
        truth: whether the premise supports the hypothesis.
        opposed: whether it says the opposite; where given, also how often that counts as support.
    """
    entailment, _ = model.probabilities(pairs)
    threshold = model.scorer.traits.threshold
    decided = entailment > threshold
    row = {
        "pairs": len(pairs),
        "auc": calibration.auc(entailment, truth),
        "balanced_accuracy": calibration.balanced_accuracy(entailment, truth, threshold),
        "best_balanced_accuracy": calibration.best_threshold(entailment, truth).balanced_accuracy,
        "sensitivity": float(decided[truth].mean()),
        "specificity": float((~decided[~truth]).mean()),
    }
    if opposed is not None:
        row |= {
            "opposed": int(opposed.sum()),
            "opposed_supported": float(decided[opposed].mean()),
        }
    return row


def part_figures(entailment: Floats, contradiction: Floats, truth: Any, threshold: float) -> Row:
    entailed = truth == "entailment"
    opposed = truth == "contradiction"
    decided = entailment > threshold
    neutral = 1.0 - entailment - contradiction
    against = ~decided & (contradiction > entailment) & (contradiction > neutral)
    both = entailed.any() and not entailed.all()
    three_way = not np.isnan(contradiction).any()
    return {
        "pairs": len(truth),
        "accuracy": float((decided == entailed).mean()),
        "recall": float(decided[entailed].mean()) if entailed.any() else None,
        "specificity": float((~decided[~entailed]).mean()) if (~entailed).any() else None,
        "auc": calibration.auc(entailment, entailed) if both else None,
        "contradiction_recall": float(against[opposed].mean())
        if three_way and opposed.any()
        else None,
        "contradiction_false": float(against[~opposed].mean())
        if three_way and (~opposed).any()
        else None,
    }


def fragment_pairs() -> Pairs:
    """Reviews of the example with words that say nothing, which no review supports."""
    words = ROOT / "benchmarks" / "data" / "fragments.txt"
    fragments = words.read_text(encoding="utf-8").splitlines()
    return [
        (review.text, fragment)
        for product in read_products(ROOT / "examples" / "summaries.jsonl")
        if isinstance(product, Product)
        for review in product.reviews
        for fragment in fragments
    ]


def fragment_row(model: Embedded) -> Row:
    """How often words that say nothing count as supported."""
    entailment, _ = model.probabilities(fragment_pairs())
    supported = entailment > model.scorer.traits.threshold
    return {"pairs": len(entailment), "supported": float(supported.mean())}


def phenomena(result: Row) -> list[Row]:
    """Error rates by phenomenon, over all sets."""
    found = []
    for title in ("robustness", "contrast"):
        for row in result[title]:
            if row["relation"] == "all":
                kept = {"sensitivity": row["recall"], "specificity": row["specificity"]}
                found.append(_rates(title, row["phenomenon"], row["pairs"], kept))
    for row in result.get("turned", ()):
        kept = {
            "sensitivity": row["itself_supported"],
            "specificity": 1.0 - row["turned_supported"],
        }
        found.append(_rates("turned", row["kind"], row["pairs"], kept))
    for title in (*WRITTEN, *MODEL_WRITTEN, "summaries"):
        if title in result:
            row = result[title]
            rates = {name: row[name] for name in ("sensitivity", "specificity")}
            found.append(_rates(title.replace("_", " "), "all", row["pairs"], rates))
            if title == "opposites":
                kept = {"sensitivity": None, "specificity": 1.0 - row["opposed_supported"]}
                found.append(_rates(title, "opposite", row["opposed"], kept))
    row = result["fragments"]
    kept = {"sensitivity": None, "specificity": 1.0 - row["supported"]}
    return [*found, _rates("fragments", "all", row["pairs"], kept)]


def _rates(title: str, phenomenon: str, pairs: int, rates: Row) -> Row:
    rounded = {name: None if rate is None else round(rate, 6) for name, rate in rates.items()}
    return {"set": title, "phenomenon": phenomenon, "pairs": pairs, **rounded}


_HEADING = "## Errors by phenomenon"


def state(folder: Path, rows: Sequence[Row]) -> None:
    """Write error rates beside the weights of a checkpoint, and into its card."""
    stated = {**read_errors_file(folder), "phenomena": list(rows)}
    (folder / ERRORS_FILE).write_text(json.dumps(stated) + "\n", encoding="utf-8")
    lines = [
        _HEADING,
        "",
        "Pairs that training never sees (`python -m benchmarks.quality`): the robustness pairs, "
        "contrast sets, sentences of Yelp reviews asked about themselves (sensitivity) and about "
        "the same with one thing turned (specificity), and pairs that a careful reader judged: "
        "reviews with what they say and its opposite in plain words, review sentences with key "
        "points, summary sentences with others that repeat them or not, the reviews of the "
        "example with statements of one to three words, written reviews and Yelp reviews with "
        "claims of summaries as language models write them, and Yelp reviews with sentences of "
        'other summaries. Fragments are words that say nothing, such as "Summary:", on the '
        "reviews of the example.",
        "",
        "| set | phenomenon | pairs | sensitivity | specificity |",
        "|---|---|---|---|---|",
        *(
            f"| {row['set']} | {row['phenomenon']} | {row['pairs']} | {_cell(row['sensitivity'])} "
            f"| {_cell(row['specificity'])} |"
            for row in rows
        ),
    ]
    card = folder / "README.md"
    text = card.read_text(encoding="utf-8") if card.is_file() else ""
    before, _, after = text.partition(_HEADING)
    rest = after[after.index("\n## ") + 1 :] if "\n## " in after else ""
    parts = [before.rstrip("\n"), "\n".join(lines), rest.rstrip("\n")]
    card.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")


def show(title: str, rows: Sequence[Row]) -> None:
    """Print rows as a table."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    lines = ([_cell(row.get(column)) for column in columns] for row in rows)
    headers = [column.replace("_", " ") for column in columns]
    show_table(headers, lines, title=title, left=("phenomenon", "kind"))


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.0f}" if value >= 10 else f"{value:.3f}"
    return str(value)


def main() -> None:
    parser = argparse.ArgumentParser(description="Decisions on hard pairs.")
    parser.add_argument("--model", default="embedded", help="registered name or folder")
    parser.add_argument("--output", type=Path, default=RESULTS / "quality.json")
    parser.add_argument("--state", action="store_true", help="write the rates beside the weights")
    parser.add_argument("--most", type=int, default=500, help="turned sentences of a kind")
    options = parser.parse_args()
    released = DATA / "opinsummeval.jsonl"
    if options.state and not released.is_file():
        parser.error(f"--state states all rates, and {released} is not there")
    model = Embedded(options.model)
    name = f"{options.model} @ {model.scorer.traits.threshold:.3f}"
    result: Row = {"environment": environment("cpu"), "threshold": model.scorer.traits.threshold}
    for title in ("robustness", "contrast"):
        rows = rows_of(read_pairs(ROOT / "benchmarks" / "data" / f"{title}.jsonl"), model)
        show(f"{title.capitalize()} set, {name}", rows)
        result[title] = rows
    for title in WRITTEN:
        result[title] = judged_row(model, *written_pairs(title))
        show(f"{title.replace('_', ' ').capitalize()}, {name}", [result[title]])
    result["model_summaries"] = judged_row(model, *claimed_pairs(on_written()))
    show(f"Claims of summaries as language models write them, {name}", [result["model_summaries"]])
    result["fragments"] = fragment_row(model)
    show(f"Words that say nothing, {name}", [result["fragments"]])
    if released.is_file():
        cases = read_pairs(released)
        reviews = [text for record in cases for text in record["reviews"]]
        result["turned"] = turned_rows(reviews, model, most=options.most)
        show(f"Sentences of reviews with one thing turned, {name}", result["turned"])
        result["model_summaries_yelp"] = judged_row(model, *claimed_pairs(on_released(cases)))
        show(f"Such claims on real reviews, {name}", [result["model_summaries_yelp"]])
        result["summaries"] = judged_row(model, *judged_pairs(cases))
        show(f"Summary sentences judged by a reader, {name}", [result["summaries"]])
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if options.state:
        state(resolve(options.model), phenomena(result))


if __name__ == "__main__":
    main()
