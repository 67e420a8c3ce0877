"""Damaged inputs made from a seed, for every command that reads files, and those that were found.

Each run is a process of its own with bounds on time, memory and the size of files. `make fuzz`
makes FUZZ inputs in place of the one a command of `make test`; a failure shows its input, whose
line belongs into fuzz_corpus.jsonl, with the key "text", or "repeat" as [text, times].
"""

from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Serve = Callable[..., dict[str, Any]]

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples"
INPUTS = HERE.parent / "golden" / "inputs"
MOST_MEGABYTES = 1_500
LEXICAL = "--model rouge1-precision --threshold 0.5 --no-cache"


class Target(NamedTuple):
    """A command line with a file that is damaged.

    Attributes:
        words: of the command, with {input}, {output}, and {beside}, a folder of good files.
        parts: kinds of text that its input is made of.
        resumes: whether the same line again leaves the output as it is.
        loads: whether it may load torch, which takes seconds: not in `make test`.
    """

    words: str
    parts: tuple[str, ...] = ("records", "noise")
    resumes: bool = False
    loads: bool = False


RATINGS = ("rows", "ratings", "noise")
ROWS = ("rows", "noise")
PAIRS = ("pairs", "records", "noise")
TARGETS: dict[str, Target] = {
    "score": Target(f"score {{input}} --output {{output}} {LEXICAL}", resumes=True),
    "score --profile": Target(f"score {{input}} --profile --evidence {LEXICAL}"),
    "score --reviews": Target(f"score {{beside}}/s.txt --reviews {{input}} {LEXICAL}"),
    "score --product-names": Target(
        f"score {{beside}}/good.jsonl --product-names {{input}} {LEXICAL}", ("lines", "noise")
    ),
    "score --calibration": Target(
        "score {beside}/good.jsonl --calibration {input} --no-cache", ("calibration", "noise")
    ),
    "score adapter:": Target(
        "score {beside}/good.jsonl --model adapter:{input} --no-cache", ("toml", "noise")
    ),
    "support": Target(f"support {{input}} Warm. --format jsonl {LEXICAL}"),
    "summarize": Target("summarize {input} --method lead --output {output}", resumes=True),
    "summarize greedy": Target(f"summarize {{input}} --output {{output}} {LEXICAL}", resumes=True),
    "baselines": Target("baselines {input} --metrics rouge-1 --output {output}", resumes=True),
    "claims": Target("claims {input} --output {output}", resumes=True),
    "judge": Target(
        "judge {input} --method rts --dimensions fluency --backend replay:{beside}/replies.jsonl"
        " --no-cache --output {output} --record {output}.record",
    ),
    "judge replay:": Target(
        "judge {beside}/good.jsonl --method rts --dimensions fluency --backend replay:{input}"
        " --no-cache --output {output}",
        ("replies", "noise"),
    ),
    "judge --method": Target(
        "judge {beside}/good.jsonl --method {input} --backend replay:{beside}/replies.jsonl"
        " --no-cache",
        ("toml", "noise"),
    ),
    "judge --pairs": Target(
        "judge {beside}/good.jsonl --method h2h --dimensions fluency --pairs {input}"
        " --backend replay:{beside}/replies.jsonl --no-cache",
        ("duels", "pairs", "noise"),
    ),
    "audit": Target("audit {input}", (*RATINGS, "duels")),
    **{
        f"meta {name}": Target(f"meta {name} {{input}}", RATINGS)
        for name in (
            "correlate",
            "stability",
            "preferences",
            "agreement",
            "significance",
            "means",
        )
    },
    "meta means --of": Target("meta means {input} --of both --format latex", RATINGS),
    "meta --duels": Target(
        "meta preferences {beside}/ratings.jsonl --duels {input}", ("duels", "noise")
    ),
    "calibrate": Target("calibrate {input} --scorer rouge1-precision --no-cache", PAIRS),
    "calibrate --products": Target(
        "calibrate {beside}/pairs.jsonl --products {input} --scorer rouge1-precision --no-cache"
    ),
    "distill": Target(
        "distill {input} --output {output} --model rouge1-precision --no-cache", PAIRS
    ),
    "verify": Target("verify {input} {beside}/good.jsonl", ROWS),
    "table": Target("table {input}", ROWS),
    "table --of summaries": Target("table {input} --of summaries --format latex", ROWS),
    "table --of sentences": Target("table {input} --of sentences --format csv", ROWS),
    "verify INPUT": Target("verify {beside}/rows.jsonl {input}"),
    "report": Target("report {input} --output {output}.html", RATINGS),
    "report --records": Target("report {beside}/rows.jsonl --records {input} -o {output}.html"),
    "train": Target("train {input} --output {output} --device cpu", ("toml", "noise"), loads=True),
    "conv train": Target("conv train {input} --output {output} --steps 1", PAIRS, loads=True),
    "conv convert": Target("conv convert {input} --output {output}", ("noise",), loads=True),
    "simplify": Target(
        f"simplify {{input}} --model {INPUTS}/tiny-seq2seq --samples 1 --output {{output}}",
        resumes=True,
        loads=True,
    ),
    "train-simplifier": Target(
        f"train-simplifier {{input}} --base {INPUTS}/tiny-seq2seq --output {{output}} --epochs 1",
        ("lines", "noise"),
        loads=True,
    ),
    "plot": Target("plot {input} --output {output}", RATINGS, loads=True),
    "meta figures": Target("meta figures {input} --output {output}", RATINGS, loads=True),
}

FOREIGN = (
    "my notes", "my notes\n", '{"id": "mine", "reviews": ["precious"]}',
    '{"schema": 1, "id": "mine"}', '{"id": "mine", "summaries": {"s": "precious"}}\n',
    '{"replies": "mine"}', "a,b\n1,2", "\x00\xff",
)  # fmt: skip
"""What somebody else keeps in the file that is to be written."""

SENTENCE = (
    '{"text": "Warm.", "start": 0, "end": 5, "support": 1, "supporting_reviews": [0], '
    '"contradicting_reviews": null, "trivial": false, "redundant_with": null, '
    '"entailment": [0.9, 0.1]}'
)
SIGNATURE = "prev|consistency:rouge1-precision|gran:document|thr:0.5|trivial:name|split:punkt-en"
PARTS = {
    "records": (
        '{"id": "p%d", "name": "x", "reviews": ["Warm boots.", "They leak."], '
        '"summary": "Warm."}\n',
        '{"id": "p%d", "reviews": ["a", {"text": "b", "rating": 4}], "summaries": {"s": "A."}}\n',
        '{"id": "p%d", "reviews": [], "summary": 3}\n',
        "id,review,summary\nx%d,A.,S.\n",
    ),
    "rows": (
        f'{{"schema": 1, "id": "p%d", "system": "s", "prevalence": 0.5, "n_reviews": 2, '
        f'"n_sentences": 1, "sentences": [{SENTENCE}], "signature": "{SIGNATURE}|v:0.1.0", '
        '"error": null}\n',
        '{"schema": 1, "id": "p%d", "system": "t", "metrics": {"m": 3, "m.d": null}, '
        '"samples": {"m.d": [4, 4, 3]}, "human": {"d": [1, 2]}, "error": null}\n',
    ),
    "ratings": (
        '{"schema": 1, "id": "p%d", "system": "s", "metrics": {"m": 1e300}, "human": {"d": [1]}}\n',
        '{"id": "p%d", "system": "u", "metrics": {"m": 2}, "human": {"d": {"a": 4, "b": 1e300}}}\n',
        '{"m%d": {"r": 1.5, "annot1": {"d": 3}, "annot2": {"d": 4}}}\n',
        '{"reviews": ["a"], "summaries": ["A.", "B."], "fl": [[1, 2], [3, %d]]}\n',
    ),
    "duels": (
        '{"schema": 1, "id": "p%d", "a": "s", "b": "t", "dimension": "d", "verdict_ab": 1, '
        '"verdict_ba": 2}\n',
        '{"id": "p%d", "a": null, "b": null, "verdict_ab": null, "error": "gone"}\n',
    ),
    "replies": (
        '{"method": "rts", "dimension": "fluency", "id": "p%d", "system": "s", '
        '"replies": ["Well formed. Score: 5", null]}\n',
        '{"id": "p%d", "resp": "3 out of 5"}\n',
    ),
    "pairs": (
        '{"premise": "warm %d", "hypothesis": "warm", "label": 1}\n',
        '{"premise": "cold %d", "hypothesis": "warm", "label": 0}\n',
        '{"product_id": "p%d", "review": "Warm.", "sentences": ["Warm.", "Dry."], '
        '"labels": [1, 0]}\n',
        '{"name": "x%d", "reviews": ["A.", "B."], "sentences": ["A."], "labels": [[1], [0]]}\n',
    ),
    "calibration": (
        '{"schema": 1, "scorer": "rouge1-precision", "threshold": 0.%d, "map": {"kind": "platt", '
        '"slope": 1.0, "intercept": 0.0}}\n',
    ),
    "toml": (
        '[model]\nbase = "package:a%d.x/y"\n',
        '[[source]]\nname = "a%d"\npath = "${PREVALENCE_DATA}/x"\nlicence = "MIT"\n',
        'model = "none%d"\ninputs = ["premise", "hypothesis"]\nprobabilities = "softmax"\n',
        'name = "m%d"\n[dimensions]\nfluency = "f"\n[prompt]\ntext = "{summary}"\n',
    ),
    "lines": ("B0013EQ2%d Frye boot\n", "It is warm. %d\n", "\n"),
    "noise": (
        "[%d, [[[", "\x00\x1b]0;%d\x07", "\ufeff%d\u2028\n", "NaN%d", '"%d', "\u202e%d\r\n",
        "%d" + "9" * 400, '{"a%d": {"a": [{}]}}\n',
    ),
}  # fmt: skip
PIECES = ("", "\0", '"', "}", ",", "\n", "9" * 30, "1e300", "null", "[" * 300, "-1", "\udc80", "{}")
NAMES = ("in.jsonl", "in.json", "in.csv", "in.tsv", "in", "in.toml", "in.jsonl.gz")
LIGHT = [name for name, target in TARGETS.items() if not target.loads]
ASKED = os.environ.get("FUZZ", "")
TOTAL = int(ASKED or len(LIGHT))


def damaged(seed: int) -> dict[str, Any]:
    """A command and an input, the same for the same seed; commands take turns."""
    draw = random.Random(seed)
    names = list(TARGETS) if ASKED else LIGHT
    command = names[seed % len(names)]
    kinds = TARGETS[command].parts
    parts = [part for kind in kinds for part in PARTS[kind]]
    text = "".join(
        draw.choice(parts).replace("%d", str(draw.randrange(3)))
        for _ in range(draw.randrange(1, 6))
    )
    for _ in range(draw.randrange(4)):
        place = draw.randrange(len(text))
        text = text[:place] + draw.choice(PIECES) + text[place + draw.randrange(3) :]
    return {"command": command, "name": draw.choice(NAMES), "text": text}


def corpus() -> list[dict[str, Any]]:
    """What was found; long inputs as a text and how often it is repeated."""
    path = HERE / "fuzz_corpus.jsonl"
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [case for case in found if ASKED or not TARGETS[case["command"]].loads]


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """Runs a command line in a bounded process of its own."""
    # One thread each: idle ones of forked processes would be missed.
    more = {"PREVALENCE_CACHE": str(tmp_path_factory.mktemp("cache")), "COLUMNS": "100"}
    more |= {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    process = subprocess.Popen(
        [sys.executable, str(HERE / "fuzz_server.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **more},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    asked, answers = process.stdin, process.stdout

    def call(words: list[str], folder: Path, **bounds: int) -> dict[str, Any]:
        job = {"words": words, "folder": str(folder), **bounds}
        print(json.dumps(job), file=asked, flush=True)
        found: dict[str, Any] = json.loads(answers.readline())
        return found

    with process:
        yield call
        asked.close()


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Good files, for commands that read several."""
    folder = tmp_path_factory.mktemp("beside")
    record = {"id": "p0", "name": "x", "reviews": ["Warm boots.", "They leak."]}
    good = record | {"summaries": {"s": "Warm.", "t": "They leak."}}
    (folder / "good.jsonl").write_text(json.dumps(good) + "\n")
    (folder / "s.txt").write_text("Warm.\nCold.\n")
    for name, kind in (("rows", "rows"), ("replies", "replies"), ("pairs", "pairs")):
        text = "".join(PARTS[kind][:1] if kind != "pairs" else PARTS[kind][:2])
        (folder / f"{name}.jsonl").write_text(text.replace("%d", "0"))
    (folder / "ratings.jsonl").write_bytes((EXAMPLES / "ratings.jsonl").read_bytes())
    return folder


def content(case: dict[str, Any]) -> bytes:
    text, times = case.get("repeat", (case.get("text"), 1))
    data = (text * times).encode("utf-8", "surrogatepass")
    return gzip.compress(data) if case["name"].endswith(".gz") else data


def check(result: dict[str, Any]) -> None:
    """Status, one-line errors and bounds of a run."""
    said = result["said"]
    assert result["status"] in (0, 1, 2), result
    assert "Traceback" not in said
    assert "fault of prevalence" not in said
    assert not set(said + result["shown"]) & {"\x1b", "\0", "\x07", "\u202e"}
    assert result["megabytes"] < MOST_MEGABYTES
    if result["status"] == 2:
        assert any(line.startswith("error: ") for line in said.splitlines())


@pytest.mark.parametrize("case", [*corpus(), *map(damaged, range(TOTAL))], ids=str)
def test_nothing_is_lost_doubled_touched_or_shown_raw(
    case: dict[str, Any], serve: Serve, beside: Path, tmp_path: Path
) -> None:
    target, folder = TARGETS[case["command"]], tmp_path / "work"
    folder.mkdir()
    source, output = folder / case["name"], folder / "out"
    source.write_bytes(content(case))
    good = {path: path.read_bytes() for path in (source, *beside.iterdir())}
    suffixed = f"{output}.jsonl" if target.resumes or "judge" in target.words else str(output)
    words = [
        word.format(input=source, output=suffixed, beside=beside) for word in target.words.split()
    ]
    check(serve(words, folder))
    assert {path: path.read_bytes() for path in good} == good
    assert {path.name for path in beside.iterdir()} == {p.name for p in good if p != source}
    written = {path.name for path in folder.iterdir()} - {source.name}
    expected = {"out", "out.jsonl", "out.jsonl.record", "out.html", "out.work"}
    assert written <= expected, written
    rows = folder / "out.jsonl"
    if rows.exists():
        first = rows.read_bytes()
        assert all(isinstance(json.loads(line), dict) for line in first.splitlines())
        if target.resumes:
            check(serve(words, folder))
            assert rows.read_bytes() == first


CONTINUED = [name for name in LIGHT if TARGETS[name].resumes or name == "judge"]


@pytest.mark.parametrize("text", FOREIGN)
@pytest.mark.parametrize("name", CONTINUED)
def test_foreign_files_in_the_place_of_an_output_are_kept(
    name: str, text: str, serve: Serve, beside: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    output, record = folder / "out.jsonl", folder / "out.jsonl.record"
    for foreign, other in ((output, record), (record, output)):
        if foreign == record and "--record" not in TARGETS[name].words:
            continue
        foreign.write_text(text, encoding="utf-8")
        other.write_bytes(b"")
        line = TARGETS[name].words.format(input=beside / "good.jsonl", output=output, beside=beside)
        result = serve(line.split(), folder)
        check(result)
        assert result["status"] == 2
        assert foreign.read_text(encoding="utf-8") == text


def test_a_run_without_end_is_killed_and_does_not_pass(serve: Serve, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    result = serve(["score", "/dev/zero", *LEXICAL.split()], folder, seconds=1)
    assert result["status"] < 0
    with pytest.raises(AssertionError):
        check(result)


@pytest.mark.parametrize(
    "fault",
    [{"status": 3}, {"status": 2}, {"said": "Traceback (most"}, {"shown": "\x1b[2J"},
     {"said": "a fault of prevalence itself"}, {"megabytes": MOST_MEGABYTES}],
)  # fmt: skip
def test_a_fault_does_not_pass(fault: dict[str, Any]) -> None:
    fine = {"status": 0, "megabytes": 90, "said": "", "shown": ""}
    check(fine)
    with pytest.raises(AssertionError):
        check(fine | fault)
