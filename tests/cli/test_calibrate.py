"""`prevalence calibrate`, and `prevalence score` with what it wrote."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]
    Write = Callable[..., Path]

QUICK = ("--resamples", "50", "--trials", "50")
ROUGE = ("--scorer", "rouge1-precision")


def pair(premise: str, hypothesis: str, label: object, group: str) -> dict[str, Any]:
    return {"premise": premise, "hypothesis": hypothesis, "label": label, "group": group}


@pytest.fixture
def pairs(write: Write) -> Path:
    """ROUGE-1 precision gives 1, 1, 0 and ½ to each product's pairs; the first two are positive."""
    records = []
    for group in ("a", "b", "c"):
        records += [
            pair("such warm boots", "warm boots", 1, group),
            pair("they leak badly", "they leak", "entailment", group),
            pair("they leak badly", "warm boots", 0, group),
            pair("cold boots", "warm boots", "contradiction", group),
        ]
    return write(*records, name="pairs.jsonl")


def test_json_of_one_scorer(run: Run, pairs: Path) -> None:
    result = run("calibrate", pairs, *ROUGE, *QUICK, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert list(found) == ["scorer", "threshold", "dev", "test"]
    assert (found["scorer"], found["threshold"], found["test"]) == ("rouge1-precision", 0.5, None)
    dev = found["dev"]
    assert (dev["n"], dev["positives"], dev["balanced_accuracy"], dev["auc"]) == (12, 6, 1.0, 1.0)
    # Squared errors 0, 0, 0 and ¼ for every product.
    assert dev["brier"] == pytest.approx(1 / 16)
    assert dev["cross_validation"]["pooled"]["balanced_accuracy"] == 1.0
    assert dev["workers"] is None


ONE_LABEL = "only one label is left to choose on: give a second set (--held-out)"
ONE_CLASS = "the second set has only positive pairs of relation 'review'"


@pytest.mark.parametrize("said", [ONE_LABEL, ONE_CLASS], ids=["folds", "held-out"])
def test_what_no_scores_can_mend_stops_the_run_before_anything_is_scored(
    run: Run, write: Write, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    """The only 0 is in product a, or there is no 0 in the held-out pairs."""
    monkeypatch.setattr(
        "prevalence.scorers.registry.open_scorer", lambda *_, **__: pytest.fail("scored")
    )
    labels = [("a", 0), ("a", 1), ("b", 1), ("c", 1)]
    words: list[object] = [write(*(pair("warm", "boots", x, g) for g, x in labels))]
    if said == ONE_CLASS:
        words += ["--held-out", write(pair("dry", "boots", 1, "x"), name="second.jsonl")]
    result = run("calibrate", *words, *ROUGE, *QUICK)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1


def test_a_scorer_that_says_the_same_of_every_pair_has_no_calibration(
    run: Run, write: Write, tmp_path: Path
) -> None:
    same = [pair("warm boots", "boots", label, g) for g in "ab" for label in (0, 1)]
    result = run("calibrate", write(*same), *ROUGE, *QUICK, "--output", tmp_path / "c.json")
    assert result.exit_code == 2
    assert "rouge1-precision gives every pair the same score, 1" in result.stderr
    assert not (tmp_path / "c.json").exists()


def test_a_threshold_on_a_curve(run: Run, pairs: Path) -> None:
    result = run("calibrate", pairs, *ROUGE, *QUICK, "--candidates", "logistic", "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    # Between the scores of the classes, 0.5 and 1, on a score of no pair.
    assert 0.5 < found["threshold"] < 1.0
    assert found["dev"]["balanced_accuracy"] == 1.0


def test_a_curve_needs_scores_that_rise_with_the_labels(run: Run, write: Write) -> None:
    falling = [("warm boots", 0), ("they leak", 1)]
    records = [pair("warm boots", text, label, group) for group in "xy" for text, label in falling]
    wrong = write(*records, name="wrong.jsonl")
    result = run("calibrate", wrong, *ROUGE, *QUICK, "--candidates", "logistic")
    assert result.exit_code == 2
    assert "scores fall as labels rise" in result.stderr
    assert "Traceback" not in result.stderr


def test_json_of_several_scorers_and_a_second_set(run: Run, pairs: Path, write: Write) -> None:
    second = write(
        pair("warm boots", "boots", 1, "x"), pair("warm boots", "they leak", 0, "y"),
        pair("they leak", "they leak", 0, "y"), name="second.jsonl",
    )  # fmt: skip
    result = run(
        "calibrate", pairs, "--held-out", second, *ROUGE, "--scorer",
        "rouge2-precision|rouge1-recall", *QUICK, "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    first, other = json.loads(result.stdout)
    assert first["test"]["n"] == 3
    # "they leak" is supported by rouge though labelled 0: specificity ½, recall 1.
    assert first["test"]["balanced_accuracy"] == 0.75
    assert other["scorer"] in {"rouge2-precision", "rouge1-recall"}
    versus = other["test"]["versus_best"]
    assert versus["scorer"] == "rouge1-precision"
    assert set(versus["auc"]) == {"difference", "p_value"}


def test_table_has_the_layout_of_the_paper(run: Run, pairs: Path) -> None:
    result = run("calibrate", pairs, *ROUGE, *QUICK, "--table")
    lines = result.stdout.splitlines()
    assert lines[0].split("  ")[0] == "Method"
    assert lines[0].endswith("Balanced Accuracy     AUC")
    assert lines[1].split() == ["rouge1-precision", "1.0000", "1.0000"]
    assert lines[2] == "cross-validated over products, 3 folds, 12 pairs of 3 products"


def test_the_default_table_marks_the_best(run: Run, pairs: Path) -> None:
    result = run("calibrate", pairs, "--scorer", "rouge1-recall", *ROUGE, *QUICK)
    header, *rows = result.stdout.splitlines()
    assert header.split()[:3] == ["scorer", "threshold", "dev"]
    assert [row.split()[0] for row in rows[:2]] == ["rouge1-recall", "rouge1-precision"]
    # Both are perfect; the first of equals is the one that the other is compared with.
    assert [" * " in row for row in rows[:2]] == [True, False]
    # 3 products.
    assert "below 6 products there are no intervals" in " ".join(result.stdout.split())
    assert "[" not in result.stdout


def test_a_written_calibration_scores(
    run: Run, pairs: Path, tmp_path: Path, write: Write, boots: dict[str, Any]
) -> None:
    path = tmp_path / "c.json"
    made = run("calibrate", pairs, *ROUGE, *QUICK, "--map", "platt", "--output", path)
    assert made.exit_code == 0, made.stderr
    assert "holds the calibration of rouge1-precision" in made.stderr
    products = write(boots, name="products.jsonl")
    plain = run("score", products, "--model", "rouge1-precision", "--threshold", "0.5",
                "--format", "jsonl")  # fmt: skip
    mapped = run("score", products, "--calibration", path, "--format", "jsonl")
    assert mapped.exit_code == 0, mapped.stderr
    for first, second in zip(*(r.stdout.splitlines() for r in (plain, mapped)), strict=True):
        one, two = json.loads(first), json.loads(second)
        assert one["prevalence"] == two["prevalence"]
        assert [s["support"] for s in one["sentences"]] == [s["support"] for s in two["sentences"]]
        assert one["sentences"][0]["entailment"] != two["sentences"][0]["entailment"]
        assert re.search(r"\|calib:[0-9a-f]{12}\|", two["signature"])
        assert "calib" not in one["signature"]


def test_a_calibration_of_another_scorer_is_refused(
    run: Run, pairs: Path, tmp_path: Path, write: Write, boots: dict[str, Any]
) -> None:
    path = tmp_path / "c.json"
    run("calibrate", pairs, *ROUGE, *QUICK, "--output", path)
    products = write(boots, name="products.jsonl")
    other = run("score", products, "--calibration", path, "--model", "rouge1-recall")
    assert other.exit_code == 2
    assert "run `prevalence calibrate` again" in other.stderr
    both = run("score", products, "--calibration", path, "--threshold", "0.5")
    assert both.exit_code == 2
    assert "threshold and calibration exclude each other" in both.stderr
    none = run("score", products, "--calibration", pairs)
    assert none.exit_code == 2
    assert "cannot be read as a calibration file" in none.stderr


def test_support_takes_a_calibration(run: Run, pairs: Path, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    run("calibrate", pairs, *ROUGE, *QUICK, "--output", path)
    reviews = tmp_path / "r.txt"
    reviews.write_text("warm boots\ncold boots\n")
    result = run("support", "--calibration", path, reviews, "Warm boots.")
    # ½ is not above the threshold of ½.
    assert result.stdout.startswith("1 of 2 reviews (50%)")


def test_agreement_of_annotators(run: Run, write: Write) -> None:
    record = {
        "review": "r", "sentences": ["a", "b"], "labels": [1, 0],
        "worker_labels": [[1, 0], [1, 1], [1, 0]],
    }  # fmt: skip
    path = write(record, name="w.jsonl")
    shown = run("calibrate", path, "--agreement")
    assert shown.exit_code == 0, shown.stderr
    assert "in .8333 of 6 labels (false positives .3333, false negatives .0000)" in shown.stdout
    assert json.loads(run("calibrate", path, "--agreement", "--json").stdout)["dev"]["labels"] == 6


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--json", "--table"), "exclude each other"),
        (("--held-out-products", "x"), "goes with --held-out"),
        (("--held-out", "x", "--folds", "3"), "--folds has no effect with --held-out"),
        (("--agreement", "--table"), "runs no scorer"),
        (("--agreement", "--map", "platt"), "--map has no effect with --agreement"),
        (("--agreement", "--device", "cpu"), "--device has no effect with --agreement"),
        (("--agreement",), "holds no annotators' labels"),
        (("--scorer", "a||b"), "names no scorer"),
        (("--output", "no/such/c.json"), "no folder"),
        ((*ROUGE, "--relation", "product"), "it has 12 of 'review'"),
        ((*ROUGE, "--windows", "3"), "rouge1-precision has no model"),
    ],
)
def test_options_that_do_not_go_together(
    run: Run, pairs: Path, words: tuple[str, ...], message: str
) -> None:
    result = run("calibrate", pairs, *words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_an_input_is_not_written_over(run: Run, pairs: Path) -> None:
    before = pairs.read_bytes()
    result = run("calibrate", pairs, *ROUGE, "--output", pairs)
    assert result.exit_code == 2
    assert pairs.read_bytes() == before


def test_the_pairs_themselves_are_not_held_out(run: Run, pairs: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(pairs.read_bytes())
    for held_out in (pairs, copy):
        result = run("calibrate", pairs, "--held-out", held_out, *ROUGE)
        assert result.exit_code == 2
        assert "--held-out holds the pairs that the choice is made on" in result.stderr


def test_held_out_pairs_that_the_first_set_has_are_counted(
    run: Run, pairs: Path, write: Write
) -> None:
    new = [pair("warm boots", "boots", 1, "x"), pair("warm boots", "they leak", 0, "x")]
    old = [json.loads(line) for line in pairs.read_text(encoding="utf-8").splitlines()[:3]]
    note = "3 of 5 held-out pairs are in the first set too: figures on them flatter"
    for records, noted in ((new, False), ([*old, *new], True)):
        second = write(*records, name="second.jsonl")
        result = run("calibrate", pairs, "--held-out", second, *ROUGE, *QUICK)
        assert result.exit_code == 0, result.stderr
        assert (note in result.stderr) is noted
    assert "on the second set, 5 pairs of 2 products;" in " ".join(result.stdout.split())
    quiet = run("calibrate", pairs, "--held-out", second, *ROUGE, *QUICK, "--quiet")
    assert quiet.stderr == ""


def test_a_model_is_not_judged_on_what_trained_it_without_a_note(
    run: Run, pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = pairs.parent / "rouge1-precision"
    folder.mkdir()
    digest = hashlib.sha256(pairs.read_bytes()).hexdigest()
    monkeypatch.chdir(pairs.parent)
    note = f"rouge1-precision was trained on {pairs}: its figures here flatter; see its card"
    # Digests of other files follow that of the source; anything else is no source.
    other = 64 * "0"
    for record, noted in (
        ({"source_sha256": digest + other}, True), ({"source_sha256": other}, False), ([], False),
    ):  # fmt: skip
        (folder / "held_out.json").write_text(json.dumps(record), encoding="utf-8")
        result = run("calibrate", pairs, *ROUGE, *QUICK)
        assert result.exit_code == 0, result.stderr
        assert (note in result.stderr) is noted


def test_a_calibration_that_knows_nothing_is_written_with_a_warning(
    run: Run, pairs: Path, write: Write, tmp_path: Path
) -> None:
    output = tmp_path / "c.json"
    # Half of the words of each hypothesis are in its premise; or scores fall as labels rise.
    half = [pair("warm boots", f"warm {g}", label, g) for g in "xyz" for label in (0, 1)]
    wrong = [
        pair("warm boots", text, label, g)
        for g in "xyz" for text, label in (("warm boots", 0), ("they leak", 1))
    ]  # fmt: skip
    for records in (half, wrong):
        path = write(*records, name="useless.jsonl")
        result = run("calibrate", path, *ROUGE, *QUICK, "--output", output)
        assert result.exit_code == 0, result.stderr
        said = "rouge1-precision is no better than chance on the first set: balanced accuracy"
        assert said in result.stderr
        assert f"; do not score with {output}" in result.stderr
        assert "no better than chance" not in run("calibrate", path, *ROUGE, *QUICK).stderr
    result = run("calibrate", pairs, *ROUGE, *QUICK, "--output", output)
    assert "no better than chance" not in result.stderr


def test_ids_that_number_the_pairs_are_noted(run: Run, write: Write) -> None:
    texts = [("warm boots", 1), ("they leak", 0), ("boots", 1), ("cold feet", 0)]
    rows = [("such warm boots", *texts[n % 4]) for n in range(12)]
    note = "each pair has an id of its own, though reviews repeat: give the product's id (`group`)"
    numbered = write(*(pair(*row, f"p{n}") for n, row in enumerate(rows)), name="numbered.jsonl")
    result = run("calibrate", numbered, *ROUGE, *QUICK)
    assert f"the first set: {note}" in result.stderr
    assert "12 pairs of 12 products" in " ".join(result.stdout.split())
    grouped = write(*(pair(*row, f"p{n // 4}") for n, row in enumerate(rows)), name="g.jsonl")
    result = run("calibrate", grouped, *ROUGE, *QUICK)
    assert note not in result.stderr
    assert "5 folds" not in result.stdout
    assert "12 pairs of 3 products" in " ".join(result.stdout.split())
    own = write(*(pair(f"{n} {r[0]}", *r[1:], f"p{n}") for n, r in enumerate(rows)), name="o.jsonl")
    assert note not in run("calibrate", own, *ROUGE, *QUICK).stderr


def test_pairs_with_both_labels_are_counted(run: Run, pairs: Path, write: Write) -> None:
    records = [json.loads(line) for line in pairs.read_text(encoding="utf-8").splitlines()]
    both = write(*records, {**records[0], "label": 0}, name="both.jsonl")
    assert "both labels" not in run("calibrate", pairs, *ROUGE, *QUICK).stderr
    result = run("calibrate", both, *ROUGE, *QUICK)
    assert "the first set: 1 pair has both labels: correct one, or give" in result.stderr


def test_products_that_no_record_needs_are_refused(run: Run, pairs: Path, write: Write) -> None:
    other = write(pair("warm boots", "boots", 1, "x"), name="other.jsonl")
    for words in (("--products", pairs), ("--held-out", other, "--held-out-products", pairs)):
        result = run("calibrate", pairs, *words, *ROUGE)
        assert result.exit_code == 2
        assert "hold their own texts and need no products file; leave it out" in result.stderr


def test_pairs_may_come_from_standard_input(run: Run, pairs: Path) -> None:
    result = run("calibrate", "-", *ROUGE, *QUICK, "--json", stdin=pairs.read_bytes())
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["dev"]["n"] == 12


def test_bad_lines_are_named(run: Run, write: Write) -> None:
    path = write({"premise": "p", "hypothesis": "h", "label": 9}, name="bad.jsonl")
    result = run("calibrate", path, *ROUGE)
    assert result.exit_code == 2
    assert "bad.jsonl:1: label 9" in result.stderr


def test_the_examples_of_the_help_text_run(
    run: Run, tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").symlink_to(repository / "examples")
    monkeypatch.chdir(tmp_path)
    epilog = import_module("prevalence.cli.calibrate").calibrate.epilog
    lines = re.findall(r"^  prevalence (.*)$", epilog, re.MULTILINE)
    assert len(lines) >= 5
    for line in lines:
        words = shlex.split(line.replace("--scorer embedded", "--scorer rougeL-precision"))
        if words[0] == "calibrate" and "--scorer" not in words:
            words += ROUGE
        result = run(*words, *(QUICK if words[0] == "calibrate" else ()))
        assert result.exit_code == 0, result.stderr
        assert result.stdout


def test_the_page_in_the_documentation_is_true(
    run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository)
    page = (repository / "docs" / "calibrate.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\$ prevalence (calibrate examples/.*)$", page, re.MULTILINE)
    assert len(lines) >= 2
    for line in lines:
        words = shlex.split(line.replace("--scorer embedded", "--scorer rougeL-f1"))
        assert run(*words, *QUICK).exit_code == 0
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(code, "calibrate.md", "exec"), names)
    assert 0 < names["row"].decider.threshold < 1


def test_what_held_out_pairs_share_with_the_first_set_is_counted(run: Run, write: Write) -> None:
    first = [pair(f"Warm boots {n}", f"They are {word}", n % 2, f"p{n}")
             for n in range(6) for word in ("warm", "dry")]  # fmt: skip
    second = [
        pair("Warm boots 1", "They are warm", 1, "x"),
        pair(" warm  boots 1", "they are Dry", 1, "x"),
        pair("WARM boots 2", "They are wide", 0, "x"),
        pair("Warm boots 3", "They are wide", 0, "p3"),
        pair("Cold boots", "They are warm", 0, "p4"),
        pair("Cold boots", "They are cold", 1, "x"),
    ]
    words = (write(*first, name="first.jsonl"), "--held-out", write(*second, name="second.jsonl"))
    result = run("calibrate", *words, *ROUGE, *QUICK)
    assert result.exit_code == 0, result.stderr
    for said in (
        "1 of 6 held-out pairs are in the first set too: figures on them flatter",
        "1 of 6 held-out pairs are in the first set but for case and white space: figures",
        "2 of 6 held-out pairs have a review of the first set, with another statement: figures",
        "1 of 6 held-out pairs are of a product (`group`) of the first set, with another review",
    ):
        assert said in result.stderr
    # Nobody named a product of these: reviews are told apart by their texts alone.
    bare = [
        write(*({k: v for k, v in row.items() if k != "group"} for row in rows), name=name)
        for rows, name in ((first, "a.jsonl"), (second, "b.jsonl"))
    ]
    result = run("calibrate", bare[0], "--held-out", bare[1], *ROUGE, *QUICK)
    assert "of a product" not in result.stderr


def test_pairs_that_stand_twice_are_counted(run: Run, pairs: Path, write: Write) -> None:
    records = [json.loads(line) for line in pairs.read_text(encoding="utf-8").splitlines()]
    note = "the first set: 2 pairs repeat another one and its label"
    assert "repeat" not in run("calibrate", pairs, *ROUGE, *QUICK).stderr
    twice = write(*records, *records[:2], name="twice.jsonl")
    assert note in run("calibrate", twice, *ROUGE, *QUICK).stderr


def test_pairs_that_name_no_product_are_noted(run: Run, pairs: Path, write: Write) -> None:
    records = [json.loads(line) for line in pairs.read_text(encoding="utf-8").splitlines()]
    bare = [{k: v for k, v in row.items() if k != "group"} for row in records]
    assert "product" not in run("calibrate", pairs, *ROUGE, *QUICK).stderr
    none = run("calibrate", write(*bare, name="none.jsonl"), *ROUGE, *QUICK)
    assert "the first set: no pair names its product (`group`): folds and" in none.stderr
    half = write(*records[:6], *bare[6:], name="half.jsonl")
    some = run("calibrate", half, *ROUGE, *QUICK)
    assert "the first set: 6 of 12 pairs do not name their product (`group`)" in some.stderr


def test_pairs_without_a_label_are_counted(run: Run, pairs: Path, write: Write) -> None:
    records = [json.loads(line) for line in pairs.read_text(encoding="utf-8").splitlines()]
    missing = [pair("warm boots", "boots", label, "a") for label in (None, "")]
    path = write(*records, *missing, name="missing.jsonl")
    note = "the first set: 2 pairs without a label were left out"
    result = run("calibrate", path, *ROUGE, *QUICK, "--json")
    assert json.loads(result.stdout)["dev"]["n"] == 12
    assert note in result.stderr
    table = pairs.parent / "k.csv"
    table.write_text("comment,key_point,label\na b,a,1\na b,c,0\nb c,b,1\nb c,a,0\nb c,d,nan\n")
    result = run("calibrate", table, *ROUGE, *QUICK)
    assert "1 pair without a label was left out" in result.stderr
    assert run("calibrate", path, *ROUGE, *QUICK, "--quiet").stderr == ""
    nothing = run("calibrate", write(*missing, name="nothing.jsonl"), *ROUGE, *QUICK)
    assert "error: the first set has no pair with a label\n" in nothing.stderr


def test_agreement_of_pairs_with_missing_votes(run: Run, write: Write) -> None:
    votes = [[1, 1, None], [1, None, 0], [None, 0, 0], [None, None, None]]
    path = write(
        *({"premise": "p", "hypothesis": f"h{n}", "worker_labels": row}
          for n, row in enumerate(votes)), name="w.jsonl",
    )  # fmt: skip
    result = run("calibrate", path, "--agreement", "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)["dev"]
    assert (found["pairs"], found["labels"]) == (3, 6)
    # One pair of three disagrees: 1 - (1/3) / (2 * 3 * 3 / (6 * 5)).
    assert found["krippendorff_alpha"] == pytest.approx(4 / 9)
    assert "1 pair without a label was left out" in result.stderr


def test_the_present_threshold_is_shown_beside_the_chosen_one(run: Run, pairs: Path) -> None:
    result = run("calibrate", pairs, *ROUGE, *QUICK)
    lines = [line.split() for line in result.stdout.splitlines()]
    # ½ is above ROUGE's .4194: the third kind of pair is a false alarm, one of two negatives.
    assert ["rouge1-precision,", "present", "0.4194", ".750", "1.000", ".500"] in lines
    assert ["rouge1-precision,", "chosen", "0.5000", "1.000", "1.000", "1.000"] in lines
    found = json.loads(run("calibrate", pairs, *ROUGE, *QUICK, "--json").stdout)
    assert found["dev"]["present"]["balanced_accuracy"] == 0.75
    other = run("calibrate", pairs, "--scorer", "rougeL-f1", *QUICK)
    assert "present" not in other.stdout


def test_it_is_said_what_the_figures_of_the_chosen_threshold_rest_on(
    run: Run, pairs: Path, write: Write
) -> None:
    def note(path: Path, *words: object) -> str:
        shown = " ".join(run("calibrate", path, *ROUGE, *QUICK, *words).stdout.split())
        return shown.partition("chosen: ")[2]

    crossed = note(pairs)
    assert crossed.startswith("cross-validated, each product decided by the threshold chosen on")
    assert crossed.endswith("so its figures can be lower than those of present")
    labelled = [pair("dry", "boots", 1, "x"), pair("wet", "boots", 0, "x")]
    assert note(pairs, "--held-out", write(*labelled, name="second.jsonl")) == (
        "the threshold from the first set"
    )
    one = write(*labelled, name="one.jsonl")
    assert note(one) == "on the pairs that chose it, so its figures are too good"


def test_a_calibration_gives_the_error_rates_of_corrected_scores(
    run: Run, pairs: Path, tmp_path: Path, write: Write, boots: dict[str, Any]
) -> None:
    records = [json.loads(line) for line in pairs.read_text(encoding="utf-8").splitlines()]
    # One supported pair in seven shares no word with its review.
    records.append(pair("they leak badly", "dry feet", 1, "c"))
    path, products = tmp_path / "c.json", write(boots, name="products.jsonl")
    made = run("calibrate", write(*records, name="p.jsonl"), *ROUGE, *QUICK, "--output", path)
    assert made.exit_code == 0, made.stderr
    assert json.loads(path.read_text())["products"][2] == [2, 1, 2, 0]
    words = ("score", products, "--calibration", path, "--corrected", "--format", "jsonl")
    result = run(*words)
    assert result.exit_code == 0, result.stderr
    row = json.loads(result.stdout.splitlines()[0])
    # 6 of 7 supported pairs are found, and all 6 others turned down.
    assert "|corr:0.8571/1.0000" in row["signature"]
    assert row["corrected"] == pytest.approx(min(row["prevalence"] * 7 / 6, row["corrected_most"]))
    old = json.loads(path.read_text())
    del old["products"]
    path.write_text(json.dumps(old))
    refused = run(*words)
    assert refused.exit_code == 2
    assert "or measure them on pairs of several products" in refused.stderr
