"""Everything that can be seen of the tool stays what the golden data beside this file say.

Command lines are in cases.toml, their inputs in inputs/ and examples/. To take the present
behaviour as the new golden data, and then to look at what git says has changed:

    PREVALENCE_UPDATE_GOLDEN=1 python -m pytest tests/golden

Where a model computes a figure, floats may differ by 1e-5; all else is compared byte for byte.
"""

from __future__ import annotations

import difflib
import json
import math
import os
import re
import shlex
import shutil
import tomllib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from prevalence import LengthRule, OpinionPrevalence, SummaryOptions
from prevalence.cli import main
from prevalence.rewards import PrevalenceReward, Shaping

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples"
UPDATE = os.environ.get("PREVALENCE_UPDATE_GOLDEN", "") not in ("", "0")
TOLERANCE = 1e-5
WORDS = {
    "{lexical}": "--model rouge1-precision --threshold 0.5",
    "{tiny}": "--model tiny-nli --threshold 0.7",
}
CASES: dict[str, dict[str, Any]] = tomllib.loads((HERE / "cases.toml").read_text("utf-8"))

VOLATILE = (
    (re.compile(r"\bv:\d+\.\d+\.\d+(?:\.?\w+)*"), "v:*"),
    (re.compile(r"\bprevalence \d+\.\d+\.\d+(?:\.?\w+)*"), "prevalence *"),
    (re.compile(r"(\"version\": )\"\d+\.\d+\.\d+(?:\.?\w+)*\""), r'\1"*"'),
    (re.compile(r"(impl=[a-z-]+-)\d[\d.]*"), r"\1*"),
    (re.compile(r"[\d,.]+ (pairs|tokens)/s"), r"* \1/s"),
    (re.compile(r"^(size +)[\d.]+ MiB", re.MULTILINE), r"\1* MiB"),
    (re.compile(r"^warning: this processor has no instructions.*\n", re.MULTILINE), ""),
)
"""What changes from run to run or from release to release, and what stands for it."""

NUMBER = re.compile(r"(?<![\w@.:|-])-?\d+(?:\.\d+(?:[eE][-+]?\d+)?|[eE][-+]?\d+)(?![\w.])")


def scorer_of(name: str, **options: Any) -> Any:
    """A scorer as `--model` opens it; the one place that knows where it is imported from."""
    from prevalence.scorers.registry import open_scorer

    return open_scorer(name, **options)


# --- comparing ------------------------------------------------------------------------------------


def check(path: Path, found: str, *, near: bool = False) -> None:
    """Compare with a golden file, or write it."""
    held = path.read_bytes().decode() if path.exists() else None
    if held is not None and (found == held or (near and alike(held, found))):
        return
    if UPDATE:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(found.encode())
        return
    name = path.relative_to(HERE)
    if held is None:
        pytest.fail(f"{name}: no golden data; make it by PREVALENCE_UPDATE_GOLDEN=1", pytrace=False)
    lines = difflib.unified_diff(
        held.split("\n"), found.split("\n"), f"golden/{name}", "now", n=1, lineterm=""
    )
    shown = [line if len(line) <= 1000 else f"{line[:1000]} ..." for line in lines]
    text = "\n".join(shown[:80]) + ("\n..." if len(shown) > 80 else "")
    pytest.fail(f"{name} differs{first_difference(held, found)}\n{text}", pytrace=False)


def alike(held: str, found: str) -> bool:
    """Whether two texts are equal but for floats that differ by little."""
    if NUMBER.sub("#", held) != NUMBER.sub("#", found):
        return False
    numbers = zip(NUMBER.findall(held), NUMBER.findall(found), strict=True)
    return all(
        one == two or math.isclose(float(one), float(two), abs_tol=TOLERANCE)
        for one, two in numbers
    )


def first_difference(held: str, found: str) -> str:
    """Where two texts part, which long lines hide."""
    pairs = enumerate(zip(held, found, strict=False))
    place = next((at for at, (one, two) in pairs if one != two), min(len(held), len(found)))
    start = max(0, place - 30)
    return f" first at {held[start : place + 40]!r}, now {found[start : place + 40]!r}"


def cleaned(text: str, work: Path | None = None) -> str:
    """A text without what changes from run to run."""
    for path, name in ((work, "<work>"), (HERE.parents[1], "<repository>")):
        if path is not None:
            text = text.replace(str(path), name)
    for pattern, replacement in VOLATILE:
        text = pattern.sub(replacement, text)
    return text.replace("\r", "\\r")


def section(title: str, text: str) -> str:
    """A titled part of a golden file; a missing line end is said, and an empty part left out."""
    if not text:
        return ""
    return f"--- {title}\n{text}" + ("" if text.endswith("\n") else "\n--- (no line end)\n")


def plain(value: Any) -> Any:
    """What JSON can hold of a result."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return value.hex() if isinstance(value, bytes) else value


def as_json(value: Any) -> str:
    """Readable, and with a number as Python shows it."""
    return cleaned(json.dumps(plain(value), indent=1, ensure_ascii=False) + "\n")


# --- running --------------------------------------------------------------------------------------


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the examples and inputs, in which commands run, with a cache of its own."""
    return furnish(tmp_path / "work", monkeypatch)


def furnish(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder to run in, and go there."""
    shutil.copytree(HERE / "inputs", folder)
    for path in (*EXAMPLES.glob("*.jsonl"), EXAMPLES / "reviews.txt"):
        shutil.copy(path, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PREVALENCE_CACHE", str(folder / "cache"))
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return folder


def run(line: str, stdin: bytes | None = None) -> Result:
    """Run a command line in this process, with warnings as a process of its own shows them."""
    for name, words in WORDS.items():
        line = line.replace(name, words)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        return CliRunner().invoke(main, shlex.split(line), input=stdin, prog_name="prevalence")


def told(line: str, result: Result, work: Path) -> str:
    """Everything that a command said, as the golden files hold it."""
    return (
        f"$ prevalence {line}\nexit {result.exit_code}\n"
        + section("stdout", cleaned(result.stdout, work))
        + section("stderr", cleaned(result.stderr, work))
    )


def contents(work: Path) -> dict[str, bytes]:
    """Every file that lies in a folder, caches left out."""
    paths = sorted(path for path in work.rglob("*") if path.is_file())
    return {
        path.relative_to(work).as_posix(): path.read_bytes()
        for path in paths
        if ".sqlite" not in path.name and ".lock" not in path.name
    }


def written(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
    """The files that a command wrote, changed or removed."""
    gone = "".join(f"--- removed {name}\n" for name in before if name not in after)
    return gone + "".join(
        section(f"file {name}", shown(name, data))
        for name, data in after.items()
        if before.get(name) != data
    )


def shown(name: str, data: bytes) -> str:
    """The content of a file, in words."""
    if name.endswith(".safetensors"):
        from safetensors import numpy, safe_open

        with safe_open(name, "numpy") as file:
            notes = dict(sorted((file.metadata() or {}).items()))
        tensors = dict(sorted(numpy.load(data).items()))
        return as_json({"metadata": notes, "tensors": tensors})
    try:
        return cleaned(data.decode())
    except UnicodeDecodeError:
        return "(not a text)\n"


def marked() -> list[Any]:
    """The names of the cases, with their marks."""
    return [
        pytest.param(name, marks=pytest.mark.slow if case.get("slow") else ())
        for name, case in CASES.items()
    ]


@pytest.mark.parametrize("name", marked())
def test_command(name: str, work: Path) -> None:
    case = CASES[name]
    stdin = (work / case["stdin"]).read_bytes() if "stdin" in case else None
    parts = []
    for line in case["run"]:
        before = contents(work)
        result = run(line, stdin)
        parts.append(told(line, result, work) + written(before, contents(work)))
    text = "\n".join(parts)
    for pattern in case.get("hide", ()):
        text = re.sub(pattern, "", text)
    check(HERE / "cli" / f"{name}.txt", text, near=case.get("near", False))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "resume" in case])
def test_resumed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES[name]
    (line,), output = case["run"], case["resume"]
    folder = furnish(tmp_path / "whole", monkeypatch)
    run(line)
    whole = (folder / output).read_bytes()
    rows = whole.splitlines(keepends=True)
    cuts = {
        "nothing": b"",
        "one row": rows[0],
        "one row and a half": rows[0] + rows[1][: len(rows[1]) // 2],
        "all but the last line end": whole[:-1],
        "all": whole,
    }
    parts = []
    for title, kept in cuts.items():
        folder = furnish(tmp_path / title.replace(" ", "-"), monkeypatch)
        (folder / output).write_bytes(kept)
        result = run(line)
        assert (folder / output).read_bytes() == whole, f"continued after {title}"
        parts.append(f"after {title}\n" + told(line, result, folder))
    check(HERE / "resumed" / f"{name}.txt", "\n".join(parts))


# --- help -----------------------------------------------------------------------------------------


def commands(command: click.Command, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every command and sub-command, by the words that call it."""
    found = [path]
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            found += commands(inner, (*path, name))
    return found


@pytest.mark.parametrize("path", commands(main), ids=lambda path: "-".join(path) or "prevalence")
def test_help(path: tuple[str, ...], work: Path) -> None:
    result = run(" ".join((*path, "--help")))
    assert (result.exit_code, result.stderr) == (0, "")
    name = "-".join(path) or "prevalence"
    check(HERE / "help" / f"{name}.txt", cleaned(result.stdout, work))


def test_no_golden_file_is_left_over() -> None:
    names = {
        "cli": set(CASES),
        "resumed": {name for name, case in CASES.items() if "resume" in case},
        "help": {"-".join(path) or "prevalence" for path in commands(main)},
    }
    for folder, wanted in names.items():
        assert {path.stem for path in (HERE / folder).glob("*.txt")} == wanted, folder
    scorers = {"rouge1-precision", "embedded", "tiny-nli"}
    for folder in ("python", "rewards"):
        assert {path.stem for path in (HERE / folder).iterdir()} == scorers, folder
    assert {path.stem for path in HERE.glob("*.json")} == {"scorers", "scores", "checkpoints"}


# --- scorers --------------------------------------------------------------------------------------

SCORERS: dict[str, tuple[str, dict[str, Any]]] = {
    name: (name, {})
    for name in (
        *(f"rouge{kind}-{part}" for kind in "12L" for part in ("precision", "recall", "f1")),
        "embedded",
        "nli:embedded",
        "tiny-nli",
        "cosine",
        "cosine:embedded,document",
        "cosine:tiny-nli,sentence-max,pooling=cls",
        "summac-zs",
        "summac-zs:sentence,mean,min",
        "summac-zs:document-sentence",
        "summac-zs:2sents,max,mean,model=tiny-nli",
        "summac-zs:mixed,minus-contradiction,model=tiny-nli",
        "summac-zs:paragraph,max,max,model=adapter:adapter.toml",
        "summac-conv:head.safetensors,model=tiny-nli",
        "superpal:tiny-nli",
        "superpal:tiny-nli,max",
        "adapter:adapter.toml",
    )
} | {
    "rouge1-precision, threshold 0.25": ("rouge1-precision", {"threshold": 0.25}),
    "rouge1-precision, calibrated": ("rouge1-precision", {"calibration": "calibration.json"}),
    "embedded, windows 20": ("embedded", {"windows": 20}),
    "embedded, max_length 64": ("embedded", {"max_length": 64}),
    "tiny-nli, windows 20": ("tiny-nli", {"windows": 20}),
    "tiny-nli, max_length 40": ("tiny-nli", {"max_length": 40}),
    "tiny-nli, batch_tokens 300": ("tiny-nli", {"batch_tokens": 300}),
    "tiny-nli, bfloat16": ("tiny-nli", {"dtype": "bfloat16"}),
    "tiny-nli, bfloat16, no recheck": ("tiny-nli", {"dtype": "bfloat16", "recheck": False}),
    "tiny-nli, float16": ("tiny-nli", {"dtype": "float16"}),
    "tiny-nli, cached": ("tiny-nli", {"cache": "cache"}),
    "summac-zs, cached": ("summac-zs:model=tiny-nli", {"cache": "cache"}),
    "cosine, cached": ("cosine:tiny-nli", {"cache": "cache"}),
}
OF_SCORERS = (
    "digest", "signature", "threshold", "three_way", "work_unit", "calibrated", "probability",
    "doubt", "devices",
)  # fmt: skip
DECIDED = {"tiny-nli": 0.9}
"""Thresholds at which an untrained model does not say yes to everything."""

REVIEWS = (
    "The boots keep my feet dry in the snow. The laces come undone.",
    "My feet got wet on the first day; I sent them back!",
)
STATEMENTS = ("The laces come undone easily.", "They keep your feet dry.")


def test_scorers(work: Path) -> None:
    found, scores = {}, {}
    for title, (name, options) in SCORERS.items():
        device = {} if name.startswith("rouge") else {"device": "cpu"}
        scorer = scorer_of(name, **device, **options)
        metric = OpinionPrevalence(scorer=scorer)
        found[title] = {
            **{key: getattr(scorer.traits, key) for key in OF_SCORERS},
            "of scores": metric.signature,
        }
        if options.get("dtype", "float32") == "float32":
            answers = metric.support(REVIEWS, STATEMENTS)
            scores[title] = [answer.entailment for answer in answers]
        # A calibrated threshold is computed when the file is read.
        found[title]["threshold"] = round(scorer.traits.threshold, 12)
    check(HERE / "scorers.json", as_json(found))
    check(HERE / "scores.json", as_json(scores), near=True)


# --- Python ---------------------------------------------------------------------------------------


def boots() -> dict[str, Any]:
    """The first bundled example."""
    with (EXAMPLES / "summaries.jsonl").open(encoding="utf-8") as lines:
        return json.loads(next(lines))


def reviews_of(record: Mapping[str, Any]) -> list[str]:
    return [item if isinstance(item, str) else item["text"] for item in record["reviews"]]


@pytest.mark.parametrize("model", ["rouge1-precision", "embedded", "tiny-nli"])
def test_python(model: str, work: Path) -> None:
    record, metric = boots(), OpinionPrevalence(model, threshold=DECIDED.get(model))
    reviews, name = reviews_of(record), record["name"]
    one = metric.score(reviews, record["summaries"]["balanced"], name=name)
    again = {"id": "no-review", "reviews": [], "summary": "It fits."}
    few = {**record, "reviews": record["reviews"][:4]}
    rows = list(metric.score_many([few, again]))
    nameless = next(metric.score_many([{k: v for k, v in few.items() if k != "name"}]))
    some = 2 if model == "embedded" else 5
    claims = ["The soles grip well on wet ground.", "It caught fire."]
    short = SummaryOptions(length=LengthRule(characters=120))
    racing = SummaryOptions(search="racing", seed=2, length=LengthRule(sentences=2))
    lead = SummaryOptions(method="lead", length=LengthRule(sentences=3))
    found = {
        "signature": metric.signature,
        "threshold": metric.threshold,
        "calibrated": metric.calibrated,
        "score": one.to_json(),
        "score_many": [row.to_json() for row in rows],
        "without a name": nameless.to_json(),
        "figures": [
            [row.prefix_curve, row.contradictions, row.ceiling_share] for row in (one, *rows)
        ],
        "support": [answer.to_json() | {"share": answer.share} for answer in
                    metric.support(reviews, claims)],
        "summarize": {
            "five": extract(metric.summarize(reviews[:some], name=name)),
            "120 characters": extract(metric.summarize(reviews[:some], short)),
            "racing": extract(metric.summarize(reviews[:some], racing, name=name)),
            "lead": extract(metric.summarize(reviews, lead)),
        },
        "counts": metric.counts,
    }  # fmt: skip
    check(HERE / "python" / f"{model}.json", as_json(found), near=model != "rouge1-precision")


def extract(made: Any) -> dict[str, Any]:
    """A summary that was made, without its matrix."""
    parts = ("n_reviews", "delta", "calls", "full_matrix", "signature")
    return {
        "sentences": [sentence.to_json() for sentence in made.sentences],
        **{part: getattr(made, part) for part in parts},
    }


REWARDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "latency": {"latency": True},
    "no mask": {"trivial": None, "threshold": 0.92},
    "lines": {"splitter": "lines", "max_sentences": 2, "unscorable": -1.0, "failed": 0.25},
    "soft": {"shaping": Shaping(soft=True)},
    "ceiling": {"shaping": Shaping(ceiling=True)},
    "shaped": {"shaping": Shaping(sentences=3, heard=0.5)},
    "contradiction": {"shaping": Shaping(contradiction=0.3)},
}


@pytest.mark.parametrize("model", ["rouge1-precision", "tiny-nli", "embedded"])
def test_rewards(model: str, work: Path) -> None:
    record = boots()
    reviews = reviews_of(record)[:3]
    completions: list[Any] = [
        *list(record["summaries"].values())[:3],
        [{"role": "assistant", "content": "They run small. They run small."}],
        "They run small.\nThe laces come undone.\nThe soles grip well.",
        "",
        "Dry feet.",
    ]
    columns = {
        "reviews": [reviews] * 6 + [[]],
        "name": [record["name"]] * 5 + [None, "pair of boots"],
    }
    chosen = {"threshold": DECIDED.get(model)}
    found: dict[str, Any] = {}
    for title, options in REWARDS.items():
        if title == "contradiction" and model != "tiny-nli":
            continue  # the others have no such class
        if title not in ("plain", "shaped") and model == "embedded":
            continue  # nothing that the other two do not show
        reward, logged = PrevalenceReward(model, **{**chosen, **options}), {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values = reward(None, completions, log_metric=logged.__setitem__, **columns)
        found[title] = {"rewards": values, "logged": logged, "tally": reward.tally}
    check(HERE / "rewards" / f"{model}.json", as_json(found), near=model != "rouge1-precision")


def test_checkpoints(work: Path) -> None:
    signatures = {
        model: OpinionPrevalence(model, threshold=0.5).signature
        for model in ("embedded", "tiny-nli", "nli:tiny-nli")
    }
    check(HERE / "checkpoints.json", as_json(signatures))
