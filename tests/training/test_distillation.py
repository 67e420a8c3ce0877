"""What a teacher is asked, how its answers become labels, and a recipe that trains one first."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from prevalence.cli.distill import distill as command
from prevalence.errors import ConfigurationError
from prevalence.labelled import Document, Target, read_documents
from prevalence.training.distillation import (
    ask_about,
    reviews_of,
    teach,
    without_others,
    write_documents,
)
from prevalence.training.pipeline import train
from prevalence.training.recipe import read_recipe

YES, NO = Target(1, 0, 0, True), Target(0, 1, 0, True)
SPOUT, LID, FOAM = "The spout never drips.", "The lid fits very well.", "It makes a fine foam."


def review(premise: str, group: str, *hypotheses: str, domain: str = "kitchen") -> Document:
    targets = tuple(YES if i % 2 == 0 else NO for i in range(len(hypotheses)))
    return Document(premise, hypotheses, targets, group, domain)


KETTLE = [review(f"{SPOUT} Good.", "kettle", "It pours well."), review(f"{LID} Ok.", "kettle")]
WHISK = [review(FOAM, "whisk", "It whisks milk.")]
TENT = [review("It kept us dry.", "tent", "It is watertight.", domain="garden")]


def test_reviews_are_asked_about_siblings_foreign_texts_and_themselves() -> None:
    asked = ask_about([*KETTLE, *WHISK, *TENT], seed=1)
    found = {document.premise: set(document.unlabelled) for document in asked}
    # "Good." and "Ok." are too short to stand in a summary; nothing else is in the tent's domain.
    assert found == {
        f"{SPOUT} Good.": {LID, "It whisks milk.", SPOUT},
        f"{LID} Ok.": {SPOUT, "It whisks milk.", LID},
        FOAM: {"It pours well.", FOAM},
        "It kept us dry.": {"It kept us dry."},
    }
    assert [document.hypotheses for document in asked] == [
        document.hypotheses for document in (*KETTLE, *WHISK, *TENT)
    ]


def test_pairs_of_a_review_are_asked_about_like_the_review() -> None:
    said = [("It pours well.", "It leaks.", "It is red."), ("It whisks milk.", "It is quiet.")]
    whole = [review(f"{SPOUT} Good.", "kettle", *said[0]), review(FOAM, "whisk", *said[1])]
    single = [review(document.premise, document.group, text) for document in whole
              for text in document.hypotheses]  # fmt: skip
    # Pairs need not lie together, and their labels stay theirs.
    mixed = [replace(single[n], targets=(whole[n // 3].targets[n % 3],)) for n in (0, 3, 1, 4, 2)]
    assert ask_about(mixed, seed=3) == ask_about(whole, seed=3)
    assert reviews_of([*whole, *whole]) == [*whole, *whole]
    # A pair of two labels has their mean; another product's review is another review.
    again = review(FOAM, "whisk", "It is quiet.")
    (found,) = reviews_of([again, replace(again, targets=(NO,))])
    assert found.targets == (Target(0.5, 0.5, 0, True),)
    assert len(reviews_of([again, replace(again, group="pan")])) == 2


def test_reviews_whose_domain_has_one_product_are_counted() -> None:
    assert without_others([*KETTLE, *WHISK, *TENT]) == (1, 4)
    assert without_others([*KETTLE, *WHISK]) == (0, 3)


def test_draws_are_limited_seeded_and_never_repeat_a_label() -> None:
    many = [review(f"The part number {i} works well.", "set", SPOUT) for i in range(20)]
    counts = {"siblings": 3, "foreign": 0, "own": 0}
    first, again, other = (ask_about(many, **counts, seed=seed) for seed in (4, 4, 5))
    assert first == again != other
    assert {len(document.unlabelled) for document in first} == {3}
    labelled = [review(f"{SPOUT} Good.", "kettle"), review("Fine.", "kettle", SPOUT)]
    assert ask_about(labelled, seed=0)[1].unlabelled == ()
    product = Document("I bought a kettle.", (SPOUT,), (NO,), "kettle", "", "product")
    assert ask_about([product], seed=0) == []


def test_answers_become_targets(fake_scorer: Callable[..., Any]) -> None:
    teacher = fake_scorer({
        ("r", "yes"): (0.8, 0.1), ("r", "no"): (0.2, 0.2), ("r", "against"): (0.2, 0.4),
        ("r", "new"): (0.5, 0.25),
    }, too_long=frozenset({"long", "endless"}))  # fmt: skip
    against = Target(0, 0, 1, False)
    document = Document(
        "r", ("yes", "no", "against", "long"), (YES, NO, against, YES), "g",
        unlabelled=("new", "endless"),
    )  # fmt: skip
    judged = 0

    def count(pairs: int) -> None:
        nonlocal judged
        judged += pairs

    (taught,) = teach([document], [teacher], keep=0.5, progress=count)
    assert judged == 6
    assert taught.hypotheses == ("yes", "no", "against", "long", "new")
    assert taught.unlabelled == ()
    expected = [
        (0.9, 0.05, 0.05),  # half of (1, 0, 0) and half of (.8, .1, .1)
        (0.1, 0.675, 0.225),  # the label's half is split as the teacher's .6 and .2
        (0.1, 0.2, 0.7),
        YES[:3],  # too long for the teacher: the label stays
        (0.5, 0.25, 0.25),
    ]
    for target, parts in zip(taught.targets, expected, strict=True):
        assert target[:3] == pytest.approx(parts, abs=1e-6)
    assert [target.binary for target in taught.targets] == [False, False, False, True, False]
    (pure,) = teach([document], [teacher], keep=0.0)
    assert pure.targets[0][:3] == pytest.approx((0.8, 0.1, 0.1), abs=1e-6)


def test_teachers_are_averaged(fake_scorer: Callable[..., Any]) -> None:
    sure = fake_scorer({("r", "a"): (0.8, 0.1), ("r", "b"): (0.6, 0.2)})
    unsure = fake_scorer({("r", "a"): (0.4, 0.3)}, too_long=frozenset({"b"}))
    document = Document("r", (), (), "g", unlabelled=("a", "b"))
    (taught,) = teach([document], [sure, unsure], keep=0.5)
    assert taught.hypotheses == ("a",)  # too long for one of them
    assert taught.targets[0][:3] == pytest.approx((0.6, 0.2, 0.2), abs=1e-6)
    binary = fake_scorer({("r", "a"): (0.4, 0)}, three_way=False)
    (taught,) = teach([document], [sure, binary], keep=0.5)
    assert taught.targets[0] == pytest.approx((0.6, 0.4, 0, True), abs=1e-6)


def test_a_teacher_whose_scores_are_no_probabilities_is_refused(
    fake_scorer: Callable[..., Any],
) -> None:
    teacher = fake_scorer(probability=False)
    with pytest.raises(ConfigurationError, match="a teacher gives probabilities"):
        teach([Document("r", ("a",), (YES,), "g")], [fake_scorer(), teacher], keep=0.5)


def test_a_teacher_without_contradiction_gives_binary_targets(
    fake_scorer: Callable[..., Any],
) -> None:
    teacher = fake_scorer({("r", "a"): (0.75, 0), ("r", "b"): (0.25, 0)}, three_way=False)
    document = Document("r", ("a",), (Target(0, 0, 1, False),), "g", unlabelled=("b",))
    (taught,) = teach([document], [teacher], keep=0.5)
    assert [tuple(t) for t in taught.targets] == [(0.375, 0.625, 0, True), (0.25, 0.75, 0, True)]


def test_written_documents_are_read_again(tmp_path: Path) -> None:
    soft = Target(0.123456, 0.654321, 0.222223, False)
    documents = [Document("ünïcode \ud800", ("a", "b"), (soft, Target(0.25, 0.75, 0, True)), "g")]
    path = tmp_path / "new" / "taught.jsonl"
    write_documents(path, documents)
    (found,) = read_documents(path)
    assert (found.premise, found.hypotheses, found.group) == ("ünïcode \ud800", ("a", "b"), "g")
    for target, written in zip(found.targets, documents[0].targets, strict=True):
        assert target[:3] == pytest.approx(written[:3], abs=1e-5)
        assert target.binary == written.binary
    assert [p.name for p in path.parent.iterdir()] == ["taught.jsonl"]


def test_summary_sentences_are_asked_about(tmp_path: Path) -> None:
    record = {
        "product_id": "p", "reviews": ["one", "two"],
        "summaries": {"a": f"{SPOUT} {LID}", "b": SPOUT, "human": FOAM},
    }  # fmt: skip
    path = tmp_path / "u.jsonl"
    path.write_text(json.dumps(record) + "\n")
    found = read_documents(path, summaries=["a", "b", "absent"])
    assert [document.unlabelled for document in found] == [(SPOUT, LID)] * 2
    assert [document.unlabelled for document in read_documents(path)] == [(), ()]


TEACHER = "[teacher]\nrecipes = ['teacher.toml', 'mean.toml']\nsiblings = 2\nkeep = 0.4\n"


@pytest.fixture
def taught_recipe(recipe_file: Callable[..., Path], tmp_path: Path) -> Path:
    """A premise-first recipe whose teachers are the plain recipe and one that pools by the mean."""
    (tmp_path / "teacher.toml").write_text(recipe_file().read_text())
    pools = "architecture = 'premise-first'\nmax_hypothesis = 16\npooling = 'mean'\n"
    (tmp_path / "mean.toml").write_text(recipe_file(model=pools).read_text())
    path = recipe_file(
        model="architecture = 'premise-first'\nmax_hypothesis = 16\n",
        teacher=TEACHER.partition("\n")[2],
    )
    path.write_text(path.read_text().replace("name = 'pairs'", "name = 'pairs'\ntaught = true"))
    return path


def test_a_recipe_trains_its_teachers_first(taught_recipe: Path, tmp_path: Path) -> None:
    events: list[tuple[str, int, int]] = []
    result = train(
        read_recipe(taught_recipe), tmp_path / "m", device="cpu",
        progress=lambda event: events.append((event.run, event.step, event.steps)),
    )  # fmt: skip
    work = tmp_path / "m" / ".training"
    configs = [json.loads((work / f"teacher-{name}" / "config.json").read_text())
               for name in (1, 2)]  # fmt: skip
    assert [config.get("prevalence_pooling") for config in configs] == [None, "mean"]
    (taught,) = work.glob("taught-pairs-*.jsonl")
    documents = read_documents(taught)
    assert len(documents) == 128
    assert not any(target.binary for document in documents for target in document.targets)
    judged = [event for event in events if event[0] == "teacher on pairs"]
    assert judged[-1][1] > 0
    card = (result.folder / "README.md").read_text()
    assert "soft labels of teachers (`teacher.toml`, `mean.toml`; float32): 40% of a given" in card
    # Running again trains nothing and judges nothing.
    events.clear()
    again = train(
        read_recipe(taught_recipe), tmp_path / "m", device="cpu",
        progress=lambda event: events.append((event.run, event.step, event.steps)),
    )  # fmt: skip
    assert events == []
    assert again.digest == result.digest


def test_a_teacher_is_trained_once_for_each_seed(
    recipe_file: Callable[..., Path], tmp_path: Path
) -> None:
    (tmp_path / "teacher.toml").write_text(recipe_file().read_text())  # Its seed is 5.
    path = recipe_file(
        model="base = 'recipe:teacher.toml'\n",
        teacher="recipes = ['teacher.toml']\nseeds = [5, 12]\nsiblings = 2\n",
    )
    path.write_text(path.read_text().replace("name = 'pairs'", "name = 'pairs'\ntaught = true"))
    ends: list[str] = []
    result = train(
        read_recipe(path), tmp_path / "m", device="cpu",
        progress=lambda event: ends.append(event.run) if event.step == event.steps else None,
    )  # fmt: skip
    work = tmp_path / "m" / ".training"
    base, first, second = (
        (work / name / "model.safetensors").read_bytes()
        for name in ("base", "teacher-1", "teacher-2")
    )
    assert base == first != second
    # The base, which is the first teacher too, the second teacher, and what they teach.
    assert ends.count("only") == 3
    assert "seed 12." in (work / "teacher-2" / "README.md").read_text()
    card = (result.folder / "README.md").read_text()
    assert "(`teacher.toml` with seeds 5, 12; float32)" in card
    # A folder of its own that an interrupt left half written is written again.
    (work / "teacher-1" / "config.json").write_text("{}")
    again = train(read_recipe(path), tmp_path / "m", device="cpu")
    assert again.digest == result.digest
    assert (work / "teacher-1" / "model.safetensors").read_bytes() == first


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ("model = 'x'\n", "unknown key 'model'"),
        ("", "needs models or recipes"),
        ("models = ['x']\nkeep = 2\n", r"keep must be in \[0, 1\]"),
        ("models = ['x']\nown = -1\n", "own must not be negative"),
        ("models = ['x']\ndtype = 'int8'\n", "dtype must be one of float32"),
        ("models = ['x']\n", "no source is taught"),
        ("models = ['x']\nseeds = [1]\n", "seeds are for recipes"),
        ("recipes = ['x']\nseeds = [1, 1]\n", "seeds must be distinct"),
        ("recipes = ['x']\nseeds = [-1]\n", "seeds must be distinct and not negative"),
        ("recipes = ['x']\nseeds = ['1']\n", "must be a list of whole numbers"),
    ],
)
def test_teacher_faults(section: str, told: str, recipe_file: Callable[..., Path]) -> None:
    path = recipe_file(teacher=section)
    if "no source" not in told:
        path.write_text(path.read_text().replace("name = 'pairs'", "name = 'pairs'\ntaught = true"))
    with pytest.raises(ConfigurationError, match=told):
        read_recipe(path)


def test_a_taught_source_needs_a_teacher(recipe_file: Callable[..., Path]) -> None:
    path = recipe_file()
    path.write_text(path.read_text().replace("name = 'pairs'", "name = 'pairs'\ntaught = true"))
    with pytest.raises(ConfigurationError, match="'pairs' is taught, and there is no"):
        read_recipe(path)


def test_a_teacher_has_no_teacher(taught_recipe: Path, tmp_path: Path) -> None:
    (tmp_path / "teacher.toml").write_text(taught_recipe.read_text())
    with pytest.raises(ConfigurationError, match="cannot have a teacher of its own"):
        train(read_recipe(taught_recipe), tmp_path / "m", device="cpu")


def test_the_command_writes_a_source(
    recipe_file: Callable[..., Path], pairs_file: Path, tmp_path: Path
) -> None:
    model, output = tmp_path / "teacher", tmp_path / "taught.jsonl"
    train(read_recipe(recipe_file()), model, device="cpu")
    words = [
        str(pairs_file), "--output", str(output), "--model", str(model), "--device", "cpu",
        "--no-cache", "--siblings", "1",
    ]  # fmt: skip
    result = CliRunner().invoke(command, words)
    assert result.exit_code == 0, result.output
    assert result.output.startswith("128 reviews, ")
    assert len(read_documents(output)) == 128
    refused = CliRunner().invoke(command, words)
    assert refused.exit_code == 2
    assert "exists; choose another file or give --overwrite" in refused.output
    assert CliRunner().invoke(command, [*words, "--overwrite"]).exit_code == 0


@pytest.mark.parametrize("keep", [float("nan"), -0.1, 1.1])
def test_the_share_kept_is_one(keep: float, fake_scorer: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"must lie in \[0, 1\]"):
        teach([Document("r", ("a",), (YES,), "g")], [fake_scorer()], keep=keep)
