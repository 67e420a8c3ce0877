"""Write the tables of README.md and docs/ anew from the rows under benchmarks/results/.

    python -m benchmarks.figures            # write
    python -m benchmarks.figures --check    # only say which pages differ

On a page a table stands between two comments, and this command alone writes what is between them:

    <!-- figures: NAME -->
    <!-- end -->

NAME is one of `FIGURES`. Of several rows of a measurement the last one that has the figure counts.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import re
import sys
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.common import RESULTS, ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

__all__ = ["FIGURES", "main", "pages", "rendered"]

Row = dict[str, Any]

PLACE = re.compile(r"(<!-- figures: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def pages() -> list[Path]:
    """The pages that may hold tables."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def rendered(text: str) -> str:
    """The text of a page with every table as the rows now say.

    Raises:
        KeyError: a name that is none of `FIGURES`.
    """
    return PLACE.sub(lambda match: f"{match[1]}\n{FIGURES[match[2]]()}\n\n{match[3]}", text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.figures")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if a page differs")
    check = parser.parse_args(arguments).check
    differing = 0
    for page in pages():
        text = page.read_text(encoding="utf-8")
        new = rendered(text)
        if new != text:
            differing += 1
            print(f"{page.relative_to(ROOT)}: {'differs' if check else 'written'}")
            if not check:
                page.write_text(new, encoding="utf-8")
    return int(check and differing > 0)


# --- rows and numbers -----------------------------------------------------------------------------


def rows(name: str) -> list[Row]:
    """The rows of a measurement, the last one first."""
    lines = (RESULTS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in reversed(lines)]


def latest(name: str, wanted: Callable[[Row], bool]) -> Row:
    """The last row of a measurement that is wanted."""
    return next(row for row in rows(name) if wanted(row))


def table(headers: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [headers, ["---"] * len(headers), *body]
    return "\n".join(re.sub(" +", " ", f"| {' | '.join(cells)} |") for cells in lines)


def share(value: float, digits: int = 3) -> str:
    """A number, without the zero before the point.

    >>> share(0.85, 3), share(1.0, 2), share(-0.5, 1)
    ('.850', '1.00', '-.5')
    """
    return re.sub(r"^(-?)0\.", r"\1.", f"{value:.{digits}f}")


def significant(value: float, digits: int = 2) -> str:
    """A number to so many significant digits, with the zeros that belong to them.

    >>> significant(0.0698), significant(140.86, 3), significant(5.84)
    ('.070', '141', '5.8')
    """
    decimals = digits - 1 - math.floor(math.log10(abs(value))) if value else 0
    return share(round(value, decimals), max(decimals, 0))


def seconds(values: Sequence[float] | None) -> str:
    """The median of repeated runs; an empty cell without any."""
    return significant(median(values), 3 if median(values) >= 10 else 2) if values else ""


# --- scorers on ReviewNLI -------------------------------------------------------------------------

REVIEWNLI = {
    "rouge1-precision": "`rouge1-precision`",
    "rouge1-f1": "`rouge1-f1`",
    "rouge2-precision": "`rouge2-precision`",
    "rougeL-precision": "`rougeL-precision`",
    "MiniLM cosine, document": "`cosine`, MiniLM, document",
    "MiniLM cosine, sentence-max": "`cosine`, MiniLM, sentence-max",
    "embedded, held out": "`embedded`, held out",
    "base, held out": "`base`, held out",
    "careful reader 1": "a careful reader",
    "careful reader 2": "another careful reader",
    "before-human +": "earlier weights of `embedded`, before their last stage",
    "SummaC-ZS sentence on before-human +": "`summac-zs:sentence` on these",
    "SummaC-ZS sentence,mean on before-human +": "`summac-zs:sentence,mean`",
    "SummaC-ZS 2sents on before-human +": "`summac-zs:2sents`",
    "SummaC-ZS mixed on before-human +": "`summac-zs:mixed`",
    "SummaC-ZS document-sentence on before-human +": "`summac-zs:document-sentence`",
    "SummaC-Conv trained here, on before-human +": "`summac-conv`, head trained on the other folds",
}


def reviewnli() -> str:
    """AUC and balanced accuracy by scorer."""
    body = [reviewnli_cells(scorer, label) for scorer, label in REVIEWNLI.items()]
    return table(("scorer", "AUC", "balanced accuracy", "pairs/s"), body)


def reviewnli_short() -> str:
    """The rows that the page of models shows."""
    chosen = {
        "rouge1-precision": "`rouge1-precision`",
        "MiniLM cosine, sentence-max": "MiniLM, best cosine of a review sentence",
        "embedded, held out": "`embedded`",
        "base, held out": "`base`",
        "careful reader 1": "a careful reader",
        "careful reader 2": "another careful reader",
    }
    body = [reviewnli_cells(scorer, label)[:3] for scorer, label in chosen.items()]
    return table(("scorer", "AUC, mean over folds", "balanced accuracy"), body)


def reviewnli_cells(scorer: str, label: str) -> Sequence[str]:
    """One scorer's figures."""
    found = next(s for r in rows("consistency") for s in r["scorers"] if s["scorer"] == scorer)
    folds = found["dev"]["cross_validation"]
    spread = [
        f"{share(folds[key]['mean'])} ± {share(folds[key]['sd'])}"
        for key in ("auc", "balanced_accuracy")
    ]
    return [label, *spread, reviewnli_pace(scorer)]


def reviewnli_pace(scorer: str) -> str:
    """Pairs a second, a dash if not timed; a model held out is as fast as the one that ships."""
    timed = scorer.replace(", held out", " +")
    found = (s for r in rows("consistency") for s in r["scorers"] if s["scorer"] == timed)
    pace = next((s["pairs_per_second"] for s in found), None)
    return "–" if pace is None else f"{pace:,.0f}"


# --- extractive summaries -------------------------------------------------------------------------


def extractive(data: str, method: str, reviews: int) -> Row:
    """A method's figures on a pool, by a lexical scorer."""
    for row in rows("extractive"):
        if "nli:" not in row["model"]:
            for one in row["rows"]:
                if (one["data"], one["method"], one["reviews"]) == (data, method, reviews):
                    return dict(one)
    raise LookupError(f"no row of {method} on {data} with {reviews} reviews")


POOLS = (50, 100, 200, 400, 800)


def same(row: Row) -> str:
    """In how many of the four runs the summary was that of exact search."""
    return f"{round(4 * row['same_choice'])} of 4"


def slopes() -> Row:
    """Exponents of the growth of calls."""
    return dict(latest("extractive", lambda row: bool(row["slopes"]))["slopes"]["Yelp pools"])


def racing() -> str:
    """Calls of exact search, racing and halving by the size of the pool."""
    headers = (
        "reviews", "exact: calls", "racing: calls", "of exact", "of all pairs", "same summary",
        "halving: calls", "its prevalence, of exact", "same summary",
    )  # fmt: skip
    body = []
    for size in POOLS:
        exact, race, half = (
            extractive("Yelp pools", way, size) for way in ("exact", "racing", "halving")
        )
        body.append([
            f"{size}", f"{exact['calls']:,.0f}", f"{race['calls']:,.0f}",
            significant(race["calls_of_exact"]), significant(race["of_full_matrix"]), same(race),
            f"{half['calls']:,.0f}", share(half["of_exact"]), same(half),
        ])  # fmt: skip
    growth = slopes()
    body.append([
        "growth: calls ~ reviews to the power", f"{growth['exact']:.2f}",
        f"**{growth['racing']:.2f}**", "", "", "", f"{growth['halving']:.2f}", "", "",
    ])  # fmt: skip
    return table(headers, body)


def racing_short() -> str:
    """The same across, as the README shows it."""
    growth = slopes()
    lines = {"exact": "exact search, calls", "racing": "racing (95%), calls"}
    body = []
    for way, label in lines.items():
        calls = [f"{extractive('Yelp pools', way, size)['calls']:,.0f}" for size in POOLS]
        body.append([label, *calls, f"reviews^{growth[way]:.2f}"])
    kept = [same(extractive("Yelp pools", "racing", size)) for size in POOLS]
    headers = ["Yelp reviews in a pool", *map(str, POOLS), "growth of calls"]
    return table(headers, [*body, ["same summary", *kept, ""]])


def extractive_rivals() -> str:
    """Prevalence that each way of choosing sentences reaches, by the lexical scorer."""
    lines = {
        "28 Amazon products, length of the first human summary": ("Amazon dev, 28 products", 8),
        "100 Yelp businesses, length of the reference": ("Yelp, 100 products", 8),
        "Yelp pools of 50": ("Yelp pools", 50),
        "Yelp pools of 800": ("Yelp pools", 800),
    }
    body = [
        [label]
        + [
            share(extractive(data, way, reviews)["prevalence"])
            for way in ("random", "lead", "lexrank", "exact")
        ]
        for label, (data, reviews) in lines.items()
    ]
    return table(("", "random", "lead", "LexRank", "greedy"), body)


# --- speed ----------------------------------------------------------------------------------------


def cpu_scoring() -> str:
    """Naive scoring and the engine on the 28 Amazon products."""
    row = latest("cpu_scoring", lambda row: row["products"] == 28 and "padded_seconds" in row)
    pairs, naive = row["pairs"], row["naive_seconds"]
    ways = (
        ("naive, one pair a call", f"{pairs:,}", naive),
        ("naive, padded batches of 64", f"{pairs:,}", row["padded_seconds"]),
        (
            "engine",
            f"{row['computed']:,} ({row['avoided_by_waves']:,} avoided by waves)",
            row["engine_seconds"]["p50"],
        ),
        ("engine, all pairs cached", "0", row["cached_seconds"]),
    )
    body = [
        [label, computed, grouped(pairs / took), f"{grouped(naive / took, 2)}×"]
        for label, computed, took in ways
    ]
    return table(("", "pairs computed", "answered pairs/s", "ratio"), body)


def grouped(value: float, digits: int = 1) -> str:
    """A number with digits after the point below 1,000, and with commas from there on."""
    return f"{value:.{digits}f}" if value < 1000 else f"{value:,.0f}"


def profile_cost() -> str:
    """Pairs that the profile asks beside plain scoring."""
    headers = (
        "reviews", "summaries of the product", "statements", "plain pairs",
        "pairs of the profile", "both / plain", "mean width of the interval", "mean error",
    )  # fmt: skip
    body = []
    for row in rows("profile_cost")[0]["rows"]:
        asked, there = row["statements"], row["of_statements"]
        sampled = [share(row[key]) if key in row else "exact" for key in ("width", "error")]
        body.append([
            f"{row['reviews']:,}", f"{row['summaries']}",
            f"{asked}" if asked == there else f"{asked} of {there:,}",
            f"{row['plain']:,}", f"{row['profile']:,}", f"{row['ratio']:.2f}", *sampled,
        ])  # fmt: skip
    return table(headers, body)


def reward_latency() -> str:
    """Seconds of a reward for 64 completions."""
    found: dict[tuple[int, str], Row] = {}
    for row in reversed(rows("reward_latency")):
        found |= {(one["reviews"], one["mode"]): one for one in row["rows"]}
    body = [
        [f"{reviews}", mode.replace("one at a time", "one completion at a time")]
        + [seconds(row.get(key)) for key in ("cold", "new", "repeated")]
        for (reviews, mode), row in sorted(found.items(), key=lambda item: item[0][0])
    ]
    return table(("reviews", "mode", "cold", "new completions", "repeated"), body)


def packing_kernels() -> str:
    """Ways to make batches of tokens."""
    row = latest("packing_kernels", lambda row: row["ran_on"] == "cpu")
    lines = {
        "tokenizer on every pair": "the tokenizer on every pair",
        "tokenizer on every text once": "the tokenizer on every text once",
        "padded: plain loop": "padded: plain loop",
        "padded: compiled loop": "padded: compiled loop",
        "packed: plain torch": "packed: plain torch",
        "packed: compiled loop": "packed: compiled loop",
    }
    took = {way: median(row["seconds"][way]) for way in lines}
    slowest = took["tokenizer on every pair"]
    body = []
    for way, label in lines.items():
        ratio = slowest / took[way]
        pace = f"{ratio:.1f}×" if ratio < 10 else f"{ratio:.0f}×"
        body.append([label, f"{row['pairs'] / took[way]:,.0f}", pace])
    return table(("way", "pairs/s", "ratio"), body)


def throughput(size: str) -> list[Row]:
    """All runs of the throughput benchmark of a size."""
    found: list[Row] = []
    for path in sorted((RESULTS / "throughput").glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            found += [row for row in csv.DictReader(file) if row["size"] == size]
    return found


def throughput_gpu() -> str:
    """The whole of two models on GPUs; of each model the last run."""
    found: dict[str, dict[str, Row]] = {}
    for row in throughput("full"):
        if row["device"].startswith("NVIDIA") and row["pairs_per_second"]:
            runs = found.setdefault(row["model"], {})
            if any(other["date"] != row["date"] for other in runs.values()):
                runs.clear()
            runs[row["contender"]] = row

    def cell(model: str, way: str) -> str:
        row = found[model].get(way)
        return f"{float(row['pairs_per_second']):,.0f}" if row else "–"

    def share(way: str) -> str:
        row = found["roberta-large"].get(way)
        return f"{float(row['share']):.0%}" if row else "–"

    def device(model: str) -> str:
        (name,) = {row["device"] for row in found[model].values()}
        return str(name.split()[1])

    ways = (
        "one pair a call", "padded batches", "CrossEncoder", "ours padded", "ours packed",
        "ours compiled", "ours rechecked",
    )  # fmt: skip
    body = [[way, cell("roberta-large", way), share(way), cell("embedded", way)] for way in ways]
    titles = (
        "row", f"roberta-large, {device('roberta-large')}", "share of the matrix-product rate",
        f"embedded, {device('embedded')}",
    )  # fmt: skip
    return table(titles, body)


def fused_attention() -> str:
    """Both kinds of attention of the embedded model on a GPU."""
    row = latest("premise_first_attention", lambda row: row["ran_on"] == "cuda")
    took = {way: median(found["seconds"]) for way, found in row["ways"].items()}
    body = [
        [way, f"{row['pairs'] / seconds:,.0f}", f"{took['padded'] / seconds:.1f}×",
         f"{row['ways'][way]['memory'] / 1e9:.2f} GB"]
        for way, seconds in took.items()
    ]  # fmt: skip
    return table(("attention", "pairs/s", "ratio", "memory"), body)


def throughput_deberta() -> str:
    """The whole of deberta-v3-base on a CPU."""
    lines = {
        "padded batches": "padded batches",
        "CrossEncoder": "CrossEncoder",
        "ours padded": "ours padded",
        "ours packed": "ours packed (the default for DeBERTa)",
    }
    found = {
        row["contender"]: row
        for row in throughput("full")
        if row["model"] == "deberta-v3-base" and row["device"].startswith("CPU")
    }
    body = [
        [label, f"{float(found[way]['pairs_per_second']):.1f}", f"{float(found[way]['share']):.0%}"]
        for way, label in lines.items()
    ]
    return table(("row", "pairs/s", "share of the matrix-product rate"), body)


def throughput_small() -> str:
    """Small likenesses of large and base models on a CPU."""
    models = {
        "RoBERTa": ("roberta-large", "roberta-base"),
        "DeBERTa-v3": ("deberta-v3-large", "deberta-v3-base"),
        "ModernBERT": ("ModernBERT-large",),
        "embedded (whole)": ("embedded",),
    }
    found = {(row["model"], row["contender"]): row for row in throughput("small")}

    def cell(contender: str, names: Iterable[str], shown: Callable[[Row], str]) -> str:
        there = [found[name, contender] for name in names if (name, contender) in found]
        return ", ".join(shown(row) for row in there if row["pairs_per_second"]) or "–"

    ways = ("one pair a call", "padded batches", "CrossEncoder", "ours padded", "ours packed")
    body = [
        [
            way,
            *(
                cell(way, names, lambda row: f"{float(row['pairs_per_second']):.1f}")
                for names in models.values()
            ),
        ]
        for way in ways
    ]
    rate = [
        cell("ours packed", names, lambda row: f"{float(row['share']):.0%}" if row["share"] else "")
        or "–"
        for names in models.values()
    ]
    body.append(["packed, share of the matrix-product rate", *rate])
    return table(("row", *models), body)


def baseline_ratios(chosen: Sequence[tuple[str, str, str]], sizes: Sequence[str]) -> str:
    """How many times as long others take, with p20 and p80, by metric."""
    body, pairs = [], {}
    for metric, key, label in chosen:
        cells = [f"`{metric}`", label]
        for size in sizes:
            row = latest(
                "baseline_throughput",
                lambda row: (row["metric"], row["size"]) == (metric, size),  # noqa: B023
            )
            pairs[size] = row["pairs"]
            low, middle, high = row["ratios_p20_p50_p80"][key]
            cells.append(f"{middle:.2f} ({low:.2f}–{high:.2f})")
        body.append(cells)
    titles = [f"{size} size, {pairs[size]} pairs" for size in sizes]
    return table(("metric", "other side", *titles), body)


def generative_ratios() -> str:
    """BERTScore and BARTScore beside others."""
    chosen = (
        ("bertscore-f1", "bert-score", "bert-score 0.3.13, one call"),
        ("bertscore-f1", "loop", "bert-score, a call a pair"),
        ("bartscore-faithfulness", "authors' batches", "batches of four"),
        ("bartscore-faithfulness", "loop", "a call a pair"),
    )
    return baseline_ratios(chosen, ("tiny", "base"))


def learned_ratios() -> str:
    """BLEURT, Prism and UniEval beside plain loops."""
    chosen = (
        ("bleurt", "batches of 16", "batches of 16"),
        ("bleurt", "loop", "a call a pair"),
        ("prism", "loop", "a call a pair and direction"),
        ("unieval-consistency", "batches of 8", "batches of eight"),
        ("unieval-consistency", "loop", "a call a question"),
    )
    return baseline_ratios(chosen, ("tiny",))


def question_ratios() -> str:
    """SummaQA, QuestEval and QAFactEval beside plain loops."""
    metrics = ("summaqa-probability", "questeval", "qafacteval")
    return baseline_ratios([(name, "loop", "a call a question") for name in metrics], ("tiny",))


# --- training -------------------------------------------------------------------------------------


def ablation() -> str:
    """What short trainings without one kind of data lose."""
    columns = {
        "auc": "AUC", "balanced_accuracy": "balanced accuracy",
        "contrast_sets_ranked": "contrast sets ranked", "negation_supported": "negations supported",
        "antonym_supported": "antonyms supported", "number_supported": "other numbers supported",
    }  # fmt: skip
    return ablation_table(24_000, columns)


def ablation_later() -> str:
    """The same with the kinds that were added later."""
    columns = {
        "auc": "AUC", "unseen_reviews_auc": "unseen reviews", "key_points_auc": "key points",
        "repetitions_auc": "repetitions", "contrast_sets_ranked": "contrast sets ranked",
    }  # fmt: skip
    return ablation_table(16_000, columns)


def ablation_table(pairs: int, columns: Mapping[str, str]) -> str:
    """The runs that took so many pairs."""
    found = {row["run"]: row for row in reversed(rows("ablation")) if row["pairs"] == pairs}
    body = [[run, *(share(row[name]) for name in columns)] for run, row in found.items()]
    return table(("run", *columns.values()), body)


# --- agreement with people ------------------------------------------------------------------------

AGREEING = ("combined", "coverage", "soft_coverage", "attested", "contested", "prevalence")
JUDGE = "chatgpt_"
LENGTHS = ("characters", "sentences", "claims")


def agreement_rows(model: str) -> list[Row]:
    """The tables of all 100 cases by a model, one a dimension."""
    row = latest(
        "agreement", lambda row: row["cases"] == 100 and f"nli:{model}@" in row["signature"]
    )
    return list(row["tables"])


def agreement(model: str) -> str:
    """Tau-b with people and what is left of rho given length, by dimension and figure."""
    dimensions = {
        "asp_rel": "aspect relevance", "self_coh": "self-coherence",
        "sent_con": "sentiment consistency", "readblty": "readability",
    }  # fmt: skip
    body = []
    for found in agreement_rows(model):
        lines = {line["name"]: line for line in found["lines"]}
        released = [name for name in lines if name not in (*AGREEING, *LENGTHS)]
        judges = [name for name in released if name.startswith(JUDGE)]
        best = [
            max((n for n in released if n not in judges), key=lambda name: lines[name][cell])
            for cell in ("kendall system", "kendall summary")
        ]
        names = dict.fromkeys((*AGREEING, "characters", *best, *judges))
        for number, name in enumerate(names):
            line = lines[name]
            left = line["partial rho given length"]
            shown = "ChatGPT, asked about it" if name in judges else f"`{name}`"
            body.append([
                "" if number else f"**{dimensions[found['dimension']]}**", shown,
                *(signed(line[cell]) for cell in ("kendall system", "kendall summary")),
                *map(signed, left),
            ])  # fmt: skip
    headers = ("dimension", "figure", "tau-b, system", "tau-b, summary",
               "rho given length, system", "summary")  # fmt: skip
    return table(headers, body)


def markdown_rows(model: str) -> list[Row]:
    """How a model decides about sentences, by how they are written."""
    return list(latest("markdown", lambda row: row["model"] == model)["rows"])


def markdown() -> str:
    """How many pairs count as supported, by how their sentence is written and by model."""
    models = ("embedded", "base")
    body = [
        [rows[0]["dress"], *(f"{row['supported']:.1%}" for row in rows)]
        for rows in zip(*map(markdown_rows, models), strict=True)
    ]
    return table(["sentence", *(f"`{model}`" for model in models)], body)


def gaming_rows(model: str) -> list[Row]:
    """What texts that game the reward earn with a model."""
    return list(latest("gaming", lambda row: row["model"] == model)["rows"])


def gaming() -> str:
    """What texts that game the reward earn, by model and setting, and how often that is more."""
    models, settings = ("embedded", "base"), ("plain", "shaped", "strong")
    body = []
    for rows in zip(*map(gaming_rows, models), strict=True):
        cells = [
            f"{share(row[name], 2)} ({row[f'{name}_wins']})" for row in rows for name in settings
        ]
        body.append([rows[0]["text"], *cells])
    heads = [f"`{model}`, {name}" for model in models for name in settings]
    return table(["text", *heads], body)


def signed(value: float | None) -> str:
    """A correlation; a dash where there is none."""
    return "–" if value is None else share(value, 2).replace("-", "−")


FIGURES: dict[str, Callable[[], str]] = {
    "ablation": ablation,
    "ablation-later": ablation_later,
    "agreement": partial(agreement, "embedded"),
    "cpu-scoring": cpu_scoring,
    "extractive-rivals": extractive_rivals,
    "fused-attention": fused_attention,
    "gaming": gaming,
    "generative-ratios": generative_ratios,
    "learned-ratios": learned_ratios,
    "markdown": markdown,
    "packing-kernels": packing_kernels,
    "profile-cost": profile_cost,
    "question-ratios": question_ratios,
    "racing": racing,
    "racing-short": racing_short,
    "reviewnli": reviewnli,
    "reviewnli-short": reviewnli_short,
    "reward-latency": reward_latency,
    "throughput-deberta": throughput_deberta,
    "throughput-gpu": throughput_gpu,
    "throughput-small": throughput_small,
}
"""Every table, by the name that pages call it."""

if __name__ == "__main__":
    sys.exit(main())
