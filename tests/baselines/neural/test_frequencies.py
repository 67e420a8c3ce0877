"""Metrics that weigh tokens by what they learnt of the input say what that was."""

import json

import pytest
from click.testing import CliRunner

from prevalence.baselines import Example, get
from prevalence.cli import main

TEXTS = ("my feet kept dry", "laces come undone", "soles grip well on wet ground")
EXAMPLES = [Example(f"{text} a lot", references=(text,)) for text in TEXTS]


def signature(name, folder, examples):
    metric = get(f"{name}:idf", model=str(folder))
    metric.prepare(iter(examples))
    return dict(metric.signature)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("bertscore-f1", "encoder"), ("moverscore", "encoder"), ("infolm", "masked")],
)
def test_the_signature_names_what_was_learnt(tiny, name, kind):
    if name == "moverscore":
        pytest.importorskip("ot")
    learnt = signature(name, tiny(kind), EXAMPLES)
    assert learnt == signature(name, tiny(kind), [*EXAMPLES[::-1], EXAMPLES[0]])
    fewer = signature(name, tiny(kind), EXAMPLES[:2])
    assert {part for part in learnt if learnt[part] != fewer[part]} == {"idf"}
    assert get(f"{name}:idf", model=str(tiny(kind))).signature["idf"] == "input"


@pytest.mark.parametrize(("name", "kind"), [("moverscore", "encoder"), ("infolm", "masked")])
def test_some_learn_from_summaries_too(tiny, name, kind):
    if name == "moverscore":
        pytest.importorskip("ot")
    other = [EXAMPLES[0]._replace(summary="order one size up"), *EXAMPLES[1:]]
    learnt, changed = (signature(name, tiny(kind), part) for part in (EXAMPLES, other))
    assert learnt["idf"] != changed["idf"]


def test_bertscore_learns_from_references_alone(tiny):
    other = [EXAMPLES[0]._replace(summary="order one size up"), *EXAMPLES[1:]]
    learnt, changed = (
        signature("bertscore-f1", tiny("encoder"), part) for part in (EXAMPLES, other)
    )
    assert learnt == changed


@pytest.mark.parametrize("against", ["reference", "reviews"])
def test_blank_texts_teach_nothing(tiny, against):
    metrics = [get(f"bertscore-f1:idf:against={against}", model=str(tiny("encoder")))
               for _ in range(2)]  # fmt: skip
    beside = [Example(each.summary, each.references, each.references) for each in EXAMPLES]
    blank = [each._replace(reviews=(*each.reviews, " "), references=(*each.references, ""))
             for each in beside]  # fmt: skip
    for metric, examples in zip(metrics, (beside, blank), strict=True):
        metric.prepare(iter(examples))
    plain, other = metrics
    assert plain.signature == other.signature
    assert plain.score(beside).tolist() == other.score(blank).tolist()


def records(path, count):
    rows = [
        {"id": f"p{n}", "reviews": [text], "reference": text, "summaries": {"s": f"{text} a lot"}}
        for n, text in enumerate(TEXTS[:count])
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_rows_of_two_tables_of_frequencies_are_never_mixed(tiny, tmp_path):
    source, output = tmp_path / "in.jsonl", tmp_path / "rows.jsonl"
    metric = f"bertscore-f1:idf:model={tiny('encoder')}"
    command = ["baselines", str(source), "-m", metric, "-o", str(output)]
    records(source, 3)
    assert CliRunner().invoke(main, [*command, "--limit", "2"]).exit_code == 0
    kept = output.read_bytes()
    grown = CliRunner().invoke(main, command)
    assert grown.exit_code == 2
    assert "holds scores of other settings" in grown.stderr
    assert output.read_bytes() == kept
    # The same input goes on where a killed run stopped.
    first, second = kept.splitlines(keepends=True)
    output.write_bytes(first)
    records(source, 2)
    assert CliRunner().invoke(main, command).exit_code == 0
    kept_row, added = output.read_bytes().splitlines(keepends=True)
    assert kept_row == first
    whole, alone = json.loads(second), json.loads(added)
    # Another batch may move the last digits.
    assert alone.pop("metrics") == pytest.approx(whole.pop("metrics"), abs=1e-5)
    assert alone == whole
