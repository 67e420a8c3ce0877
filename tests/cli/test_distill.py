"""prevalence distill, with a lexical teacher."""

import pytest

TEACHER = ("--model", "rouge1-precision")


@pytest.fixture
def unlabelled():
    """A product without labels; two systems wrote about it."""
    return {
        "id": "p1",
        "reviews": ["Warm boots that leak.", "They leak badly."],
        "summaries": {"good": "Warm boots.", "bad": "Cold hats."},
    }


def test_sentences_of_the_summaries_are_asked_about(run, write, unlabelled, tmp_path):
    output = tmp_path / "taught.jsonl"
    words = ("--output", output, "--summaries", "good", "--summaries", "bad", "--quiet")
    result = run("distill", write(unlabelled), *TEACHER, *words)
    assert result.exit_code == 0
    text = output.read_text(encoding="utf-8")
    assert "Warm boots." in text
    assert "Cold hats." in text


def test_a_system_of_another_input_is_known(run, write, unlabelled, tmp_path):
    other = write({**unlabelled, "id": "p2", "summaries": {"late": "Late hats."}}, name="b.jsonl")
    words = ("--output", tmp_path / "taught.jsonl", "--summaries", "good,late", "--quiet")
    assert run("distill", write(unlabelled), other, *TEACHER, *words).exit_code == 0


def test_without_a_pair_to_ask_about_the_output_stays(run, write, unlabelled, tmp_path):
    output = tmp_path / "taught.jsonl"
    output.write_text("of an earlier run\n")
    none = ("--siblings", "0", "--foreign", "0", "--own", "0", "--overwrite", "--output", output)
    result = run("distill", write(unlabelled), *TEACHER, *none)
    assert result.exit_code == 2
    assert "no pair to ask about; raise --siblings, --foreign or --own" in result.stderr
    assert output.read_text() == "of an earlier run\n"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("zz", "no unlabelled product has a summary by zz; choose from bad, good"),
        ("good,zz", "no unlabelled product has a summary by zz"),
        (",", "--summaries names no summary"),
    ],
)
def test_systems_that_are_not_there_are_refused(run, write, unlabelled, names, message):
    data = write(unlabelled)
    output = data.parent / "taught.jsonl"
    result = run("distill", data, *TEACHER, "--output", output, "--summaries", names)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not output.exists()


def test_labelled_pairs_have_no_summaries(run, write, tmp_path):
    pairs = write({"premise": "Warm boots.", "hypothesis": "Warm.", "label": 1})
    words = ("--output", tmp_path / "taught.jsonl", "--summaries", "good")
    result = run("distill", pairs, *TEACHER, *words)
    assert result.exit_code == 2
    assert "has a summary by good; there are no summaries" in result.stderr


def test_a_threshold_which_soft_labels_have_no_use_for_is_refused(run, write, unlabelled, tmp_path):
    words = ("--threshold", "0.3", "--output", tmp_path / "taught.jsonl")
    result = run("distill", write(unlabelled), *TEACHER, *words)
    assert result.exit_code == 2
    assert "--threshold" in result.stderr


def test_a_domain_of_one_product_is_noted(run, tmp_path):
    table = tmp_path / "points.csv"
    table.write_text("comment,key_point,label,topic\nThe bed is soft.,Soft beds,1,hotel\n")

    def told(*words):
        output = ("--output", tmp_path / "taught.jsonl", "--overwrite")
        result = run("distill", table, *TEACHER, *output, *words)
        assert result.exit_code == 0
        return result.stderr

    assert "--foreign finds nothing for 1 of 1 review, whose domain has no other product" in told()
    assert "--foreign" not in told("--foreign", "0") + told("--quiet")
    with table.open("a") as file:
        file.write("It is dry.,Dry tents,1,tent\n")
    assert "--foreign finds nothing for 2 of 2 reviews, whose domain" in told()
