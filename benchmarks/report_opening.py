"""How long a large report takes to open: first paint, and rows that answer a filter.

    python -m benchmarks.report_opening
    python -m benchmarks.report_opening --pages 100

The rows are invented: sentences with evidence and both probabilities, and reviews with ratings.
Headless Chromium opens the file several times, each in a window of its own. Both times count from
the start of navigation: to the first contentful paint, and until a click on a filter has been
answered by a painted page, the click coming as soon as the page takes one.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.common import append_row, environment, show_table, timed
from prevalence.cli.pages import read_contents, write_report
from prevalence.records import Product, Review, Summary, input_digest

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = """the battery lamp strap cable lid handle filter screen pocket works breaks fits leaks
shines well badly quickly for months after a week and but with my in every room it is was very
quite bright loud soft cheap heavy light on at home when travelling as they said"""
"""What invented texts are made of."""
_WORDS = np.array(WORDS.split())

TIMES = ("paint", "ready", "answered", "computed")
THRESHOLD = 0.5
SENTENCES = 6

PROBE = """
const found = { paint: null, ready: null, answered: null };
window.opening = new Promise((resolve) => {
  const answered = () => requestAnimationFrame(() => {
    const after = new MessageChannel();
    after.port1.onmessage = () => {
      found.answered = performance.now();
      found.paint = performance.getEntriesByName("first-contentful-paint")[0].startTime;
      resolve(found);
    };
    after.port2.postMessage(null);
  });
  const look = () => {
    const tools = document.querySelector(".tools");
    if (!tools || tools.hidden) { setTimeout(look, 10); return; }
    found.ready = performance.now();
    const before = document.getElementById("found").textContent;
    document.querySelector("button[data-kind=unsupported]").click();
    if (document.getElementById("found").textContent === before) throw Error("no answer");
    answered();
  };
  look();
});
"""
"""Runs before the page's own script; a message sent in a frame arrives after it was painted."""


def invented(
    products: int, systems: int, reviews: int, *, seed: int = 1
) -> Iterator[tuple[Product, list[dict[str, Any]]]]:
    """Products, and the rows of their summaries.

    Args:
        products: how many.
        systems: summaries a product.
        reviews: a product.
        seed: of the texts and decisions.
    """
    rng = np.random.default_rng(seed)
    for number in range(products):
        texts = [[_sentence(rng) for _ in range(6)] for _ in range(reviews)]
        record = Product(
            f"p{number}",
            tuple(Review(" ".join(t), f"r{k}", {"rating": 1 + k % 5}) for k, t in enumerate(texts)),
            tuple(Summary(f"system-{k}", _sentence(rng)) for k in range(systems)),
            name=f"invented product {number}",
        )
        yield record, [_row(record, summary, texts, rng) for summary in record.summaries]


def _sentence(rng: np.random.Generator) -> str:
    return " ".join(rng.choice(_WORDS, size=rng.integers(8, 15))).capitalize() + "."


def _row(
    record: Product, summary: Summary, texts: list[list[str]], rng: np.random.Generator
) -> dict[str, Any]:
    sentences = [_judged(texts, rng) for _ in range(SENTENCES)]
    support = sum(sentence["support"] for sentence in sentences)
    return {
        "schema": 1,
        "id": record.id,
        "system": summary.system,
        "prevalence": support / (len(texts) * SENTENCES),
        "n_reviews": len(texts),
        "n_sentences": SENTENCES,
        "sentences": sentences,
        "signature": f"prev|nli:invented@1|thr:{THRESHOLD}|v:0",
        "input_digest": input_digest(record, summary),
        "error": None,
    }


def _judged(texts: list[list[str]], rng: np.random.Generator) -> dict[str, Any]:
    text = _sentence(rng)
    entailment = [round(rng.beta(0.5, 0.9), 4) for _ in texts]
    contradiction = [round((1 - p) * rng.beta(0.4, 1.2), 4) for p in entailment]
    supporting = [k for k, p in enumerate(entailment) if p > THRESHOLD]
    against = [k for k, p in enumerate(contradiction) if p > THRESHOLD]
    return {
        "text": text,
        "start": 0,
        "end": len(text),
        "support": len(supporting),
        "supporting_reviews": supporting,
        "contradicting_reviews": against,
        "trivial": False,
        "redundant_with": None,
        "entailment": entailment,
        "contradiction": contradiction,
        "evidence": [_passage(k, texts[k], rng) for k in sorted({*supporting, *against})],
    }


def _passage(review: int, sentences: list[str], rng: np.random.Generator) -> dict[str, Any]:
    chosen = int(rng.integers(len(sentences)))
    start = sum(len(sentence) + 1 for sentence in sentences[:chosen])
    return {
        "review": review,
        "start": start,
        "end": start + len(sentences[chosen]),
        "text": sentences[chosen],
        "entailment": round(rng.random(), 4),
        "contradiction": round(rng.random(), 4),
    }


def opened(page: Path, repeats: int) -> list[dict[str, float]]:
    """What each opening took in seconds.

    Args:
        page: the file.
        repeats: openings that count; one more comes before them.

    Returns:
        By opening: ``paint``, ``ready`` (for a click) and ``answered`` since the start of
        navigation, and ``computed``, the time that the main thread itself ran, which a busy machine
        changes little.
    """
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or sys.exit("no Chromium; see .ci/browser")
    found = []
    with sync_playwright() as started:
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = started.chromium.launch(executable_path=chromium, args=flags)
        for _ in range(repeats + 1):
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            context.set_default_timeout(180_000)
            tab = context.new_page()
            thread = context.new_cdp_session(tab)
            thread.send("Performance.enable", {"timeDomain": "threadTicks"})
            tab.add_init_script(PROBE)
            tab.goto(page.as_uri(), wait_until="commit", timeout=180_000)
            times = tab.evaluate("() => window.opening")
            metrics = thread.send("Performance.getMetrics")["metrics"]
            computed = next(m["value"] for m in metrics if m["name"] == "TaskDuration")
            found.append({n: ms / 1000 for n, ms in times.items()} | {"computed": computed})
            context.close()
        browser.close()
    # The first opening also starts what Chromium starts once.
    return found[1:]


def measured(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Write the report, open it, and say how long either took."""
    rows, output = folder / "rows.jsonl", folder / "report"
    records = []
    with rows.open("w", encoding="utf-8") as file:
        for record, found in invented(options.products, options.systems, options.reviews):
            records.append(record)
            file.writelines(json.dumps(row) + "\n" for row in found)
    contents, reading = timed(lambda: read_contents([rows]))
    contents.attach(records)
    page = folder / "report.html" if options.pages is None else output
    _, writing = timed(lambda: write_report(contents, page, pages=options.pages, quiet=True))
    files = [page] if options.pages is None else sorted(page.glob("*.html"))
    result = {
        "products": options.products,
        "systems": options.systems,
        "reviews": options.reviews,
        "pages": options.pages,
        "rows_bytes": rows.stat().st_size,
        "bytes": max(file.stat().st_size for file in files),
        "reading_s": round(reading, 2),
        "writing_s": round(writing, 2),
    }
    times = opened(files[-1], options.repeats)
    for name in TIMES:
        seconds = sorted(one[name] for one in times)
        result[f"{name}_s"] = round(median(seconds), 3)
        result[f"{name}_best_s"] = round(seconds[0], 3)
    return result | {"repeats": options.repeats, "load": os.getloadavg()[0]}


def show(result: dict[str, Any]) -> None:
    """Print a measurement."""
    lines = [(n, f"{result[f'{n}_s']:.2f}", f"{result[f'{n}_best_s']:.2f}") for n in TIMES]
    show_table(("seconds", "median", "best"), lines)
    print(
        f"{result['bytes'] / 1e6:.1f} MB of {result['rows_bytes'] / 1e6:.1f} MB of rows, "
        f"read in {result['reading_s']} s and written in {result['writing_s']} s; "
        f"load average {result['load']:.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="How long a large report takes to open.")
    parser.add_argument("--products", type=int, default=1_000)
    parser.add_argument("--systems", type=int, default=5)
    parser.add_argument("--reviews", type=int, default=8, help="a product")
    parser.add_argument("--pages", type=int, metavar="N", help="a folder, N products a page")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--no-save", action="store_true", help="append no row to the results")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = measured(options, Path(folder))
    show(result)
    if not options.no_save:
        append_row("report_opening", {**environment("cpu"), **result})


if __name__ == "__main__":
    main()
