"""prevalence baselines, through the entry point's group and through the installed command."""

import json
import shlex

import pytest


@pytest.fixture
def products():
    """Two products: ROUGE-1 against "warm boots" is worked out beside each summary."""
    return [
        {
            "id": "p1",
            "reviews": ["So warm.", "Warm boots that leak."],
            "reference": "warm boots",
            "summaries": {"good": "warm boots", "half": "warm hats"},  # F1 = 1, 1/2
        },
        {
            "id": "p2",
            "reviews": ["They leak."],
            "summaries": {"good": "they leak", "half": "they float"},
        },
    ]


def rows_of(text):
    return [json.loads(line) for line in text.splitlines()]


def test_rows_on_the_screen_follow_the_contract(run, write, products):
    result = run("baselines", write(products[0]), "-m", "rouge-1,rouge-2", "--format", "jsonl")
    assert result.exit_code == 0
    first, second = rows_of(result.stdout)
    assert list(first) == [
        "schema", "id", "system", "metrics", "signature", "input_digest", "error",
    ]  # fmt: skip
    assert (first["schema"], first["id"], first["system"]) == (1, "p1", "good")
    assert first["metrics"] == {"rouge-1": 1.0, "rouge-2": 1.0}
    assert second["metrics"] == {"rouge-1": 0.5, "rouge-2": 0.0}
    assert first["signature"].startswith("base|rouge-1{")
    assert first["error"] is None
    assert result.stderr == "2 summaries scored, 0 failed\n"


def test_the_table_shows_means_and_the_signature(run, write, products):
    result = run("baselines", write(products[0]), "--metrics", "rouge-1", "--quiet")
    assert [line.split() for line in result.stdout.splitlines()[:3]] == [
        ["system", "n", "rouge-1"],
        ["good", "1", "1.0000"],
        ["half", "1", "0.5000"],
    ]
    assert "refs=best}|refs:record|v:" in result.stdout
    assert result.stderr == ""


def test_means_of_an_output_are_a_table_for_papers(run, write, products, tmp_path):
    output = tmp_path / "scores.jsonl"
    run("baselines", write(products[0]), "-m", "rouge-1,rouge-2", "--output", output)
    means = ("meta", "means", output, "--of", "metrics", "--format")
    shown = run(*means, "csv").stdout
    assert shown.splitlines() == ["system,rouge-1,rouge-2", "good,1.0,1.0", "half,0.5,0.0"]
    assert r"\begin{tabular}" in run(*means, "latex").stdout


def test_means_of_fewer_values_are_named_below_the_table(run, write, products):
    # The second product has no reference.
    result = run("baselines", write(*products), "-m", "rouge-1,length")
    assert "fewer values than n: good rouge-1: 1, half rouge-1: 1\n" in result.stdout
    whole = run("baselines", write(products[0]), "-m", "rouge-1,length")
    assert "fewer values" not in whole.stdout


def test_tags_and_entities_are_no_words(run, write):
    plain = "The coffee isn't cold & is great."
    html = "<p>The <b>coffee</b> isn&#39;t cold &amp; is <i>great</i>.</p>"
    record = {"id": "a", "reviews": [html], "summaries": {"html": html, "ref": plain}}
    words = ("-m", "rouge-1,length,coverage", "--format", "jsonl")
    (row,) = rows_of(run("baselines", write(record), *words, "--references", "ref").stdout)
    # The, coffee, isn, t, cold, is, great.
    assert row["metrics"] == {"rouge-1": 1.0, "length": 7.0, "coverage": 1.0}
    (row,) = rows_of(run("baselines", write(record), *words, "--references", "html").stdout)
    assert row["metrics"] == {"rouge-1": 1.0, "length": 7.0, "coverage": 1.0}


def test_a_record_without_a_reference_fails_alone(run, write, products):
    spec = "rouge-1,rouge-1:recall:against=reviews"
    result = run("baselines", write(*products), "-m", spec, "--format", "jsonl")
    assert result.exit_code == 1
    last = rows_of(result.stdout)[2]
    # Both of the review's two words are in the summary.
    assert last["metrics"] == {"rouge-1": None, "rouge-1:recall:against=reviews": 1.0}
    assert ":2: summary by 'good': rouge-1 has no reference" in last["error"]
    assert "2 summaries scored, 2 failed" in result.stderr


def test_systems_as_references(run, write, products):
    path = write(*products)
    result = run(
        "baselines", path, "-m", "rouge-1", "--references", "good", "--format", "jsonl", "-q"
    )
    assert [(r["system"], r["metrics"]["rouge-1"]) for r in rows_of(result.stdout)] == [
        ("half", 0.5),
        ("half", 0.5),
    ]
    result = run(
        "baselines", path, "-m", "rouge-1", "--references", "good,half", "--leave-one-out",
        "--systems", "good", "--limit", "1", "--format", "jsonl", "-q",
    )  # fmt: skip
    (row,) = rows_of(result.stdout)
    assert (row["system"], row["metrics"]["rouge-1"]) == ("good", 0.5)
    assert "|refs:good+half+leave-one-out|" in row["signature"]


def test_summaries_without_a_reference_are_told_once(run, write, products):
    item = {key: value for key, value in products[0].items() if key != "reference"}
    item.pop("references", None)
    path = write(item, {**item, "id": "again"})
    result = run("baselines", path, "-m", "rouge-1,rouge-2", "-q")
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.endswith(
        ":1: summary by 'good' and 3 more: rouge-1, rouge-2 have no reference; name systems with "
        '--references or give "references"'
    )


def test_people_and_systems_have_the_same_number_of_references(run, write):
    path = write(
        {"id": "p", "reviews": ["a"],
         "summaries": {"one": "a b", "two": "a c", "model": "a b"}}
    )  # fmt: skip
    words = ("baselines", path, "-m", "rouge-1", "--references", "one,two", "--format", "jsonl")

    def values(*more):
        result = run(*words, *more)
        assert result.exit_code == 0, result.stderr
        return [row["metrics"]["rouge-1"] for row in rows_of(result.stdout)], result.stderr

    note = "one, two had one reference fewer than the other systems; --jackknife gives all the same"
    found, said = values("--leave-one-out")
    assert found == [0.5, 0.5, 1.0], "the best of 1 and 0.5"
    assert note in said
    found, said = values("--jackknife")
    assert found == [0.5, 0.5, 0.75], "the mean of 1 and 0.5"
    assert note not in said
    assert note not in values("--leave-one-out", "--systems", "one,two")[1]


def test_a_run_goes_on_where_it_stopped(run, write, products, tmp_path):
    path, output = write(*products), tmp_path / "rows.jsonl"
    command = ("baselines", path, "-m", "rouge-1:against=reviews", "--output", output)
    assert run(*command).exit_code == 0
    whole = output.read_bytes()
    lines = whole.splitlines(keepends=True)
    output.write_bytes(lines[0] + lines[1][:40])
    result = run(*command)
    assert result.exit_code == 0
    assert output.read_bytes() == whole
    assert "1 row was in" in result.stderr
    assert "4 summaries scored, 0 failed" in result.stderr
    other = run(*command[:2], "-m", "rouge-2:against=reviews", "--output", output)
    assert other.exit_code == 2
    assert "holds scores of other settings" in other.stderr
    assert output.read_bytes() == whole
    assert run(*command, "--overwrite").exit_code == 0
    assert output.read_bytes() == whole


def test_another_reference_is_other_input(run, write, products, tmp_path):
    output = tmp_path / "rows.jsonl"
    run("baselines", write(products[0]), "-m", "rouge-1", "--output", output)
    changed = write(products[0] | {"reference": "cold boots"})
    result = run("baselines", changed, "-m", "rouge-1", "--output", output)
    assert result.exit_code == 2
    assert "whose input has changed since" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["IN"], "no --metrics"),
        (["-m", "rouge-1"], "no INPUT"),
        (["IN", "-m", "rouge-9"], "unknown baseline metric 'rouge-9'"),
        (["IN", "-m", "rouge-1", "--systems", "nobody"], "--systems: no summary by nobody; choose"),
        (["IN", "-m", "rouge-1", "--references", "good,half"], "no summary is left to score"),
        (["IN", "-m", "rouge-1", "--leave-one-out"], "goes with --references"),
        (["IN", "-m", "rouge-1", "--jackknife"], "--jackknife goes with two --references or more"),
        (["IN", "-m", "ROUGE-L"], "unknown baseline metric 'ROUGE-L'; did you mean rouge-l"),
        (["IN", "-m", "rouge-1", "--overwrite"], "--overwrite goes with --output"),
        (["IN", "-m", "rouge-1", "--output", "IN"], "is an input"),
        (["IN", "-m", "rouge-1", "--output", "no/such/folder.jsonl"], "no folder"),
        (["IN", "-m", "rouge-1", "--json"], "--json goes with --list"),
        (["IN", "-m", "rouge-1", "--format", "json"], "--format json goes with --list"),
        (["--list", "--format", "jsonl"], "--list goes with --format table or json"),
        (["IN", "--list"], "give no INPUT and no --metrics"),
        (["--list", "-m", "rouge-1"], "give no INPUT and no --metrics"),
        (["IN", "-m", "rouge-1", "--device", "zz"], "--device has no effect: none of --metrics"),
        (["IN", "-m", "rouge-1", "--dtype", "float16"], "--dtype has no effect"),
        (["IN", "-m", "rouge-1", "--batch-tokens", "9"], "--batch-tokens has no effect"),
        (["IN", "-m", "summac-zs", "--device", "zz"], "device 'zz' is not usable here"),
        (["IN", "-m", "summac-zs:model=./no"], "./no: no such folder"),
        (["-", "-", "-m", "rouge-1"], "can be read once"),
        (["no-such-file.jsonl", "-m", "rouge-1"], "no-such-file.jsonl"),
    ],
)
def test_usage_errors_are_one_line(run, write, products, arguments, message):
    path = write(products[0])
    words = [str(path) if word == "IN" else word for word in arguments]
    result = run("baselines", *words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_the_list_as_table_and_json_says_the_same(run, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    result = run("baselines", "--list", "--format", "json")
    assert result.stdout == run("baselines", "--list", "--json").stdout
    entries = {entry["name"]: entry for entry in json.loads(result.stdout)}
    zero_shot, conv = entries["summac-zs"], entries["summac-conv"]
    assert (zero_shot["runs_here"], zero_shot["to_run"]) == (True, None)
    assert (zero_shot["needs"], zero_shot["dimension"]) == (["reviews"], "faithfulness")
    assert (zero_shot["models"], zero_shot["licence"]) == (["embedded"], "Apache-2.0")
    assert (conv["runs_here"], conv["to_run"]) == (False, "give head=FILE")
    assert all(entry["dimension"] and entry["licence"] for entry in entries.values())
    lines = run("baselines", "--list").stdout.splitlines()
    assert lines[0].split()[:4] == ["name", "reads", "dimension", "range"]
    assert {line.split()[0] for line in lines[1:] if line[0] != " "} == set(entries)
    row = next(line for line in lines if line.startswith("summac-zs"))
    assert row.split()[1:3] == ["reviews", "faithfulness"]
    assert row.rstrip().endswith("yes")


def test_a_metric_without_declarations_is_shown_as_such():
    from prevalence.baselines import Entry
    from prevalence.report.baselines import metric_table
    from prevalence.report.console import make_console

    bare = Entry(name="bare", about="", needs=(), range=(0, 1), citation="", factory="x:y")
    console = make_console()
    with console.capture() as shown:
        console.print(metric_table([bare]))
    assert shown.get().count("not declared") == 2


def test_a_system_that_is_not_there_beside_one_that_is(run, write, products, tmp_path):
    output = tmp_path / "rows.jsonl"
    result = run("baselines", write(products[0]), "-m", "rouge-1", "--systems", "good,nobody",
                 "--output", output)  # fmt: skip
    assert result.exit_code == 1
    assert "good" in result.stdout
    assert "--systems: no summary by nobody; choose from good, half" in result.stderr
    assert len(output.read_text(encoding="utf-8").splitlines()) == 1


def test_references_by_nobody_are_refused(run, write, products):
    result = run("baselines", write(products[0]), "-m", "rouge-1", "--references", "no", "-q")
    assert result.exit_code == 2
    assert "error: --references: no summary by no; choose from good, half" in result.stderr
    assert "has no reference" not in result.stderr


def test_a_bad_record_is_a_row(run, write, products):
    path = write(products[0], {"id": "p9", "summary": "no reviews"})
    result = run("baselines", path, "-m", "rouge-1", "--format", "jsonl", "-q")
    assert result.exit_code == 1
    bad = rows_of(result.stdout)[-1]
    assert (bad["id"], bad["metrics"]) == ("p9", {"rouge-1": None})
    assert "reviews: is missing" in bad["error"]


def test_errors_are_all_shown_where_no_rows_are_written(run, write):
    # Of 21 errors the last is one more than a run with rows shows.
    record = {"reviews": ["Warm."], "summaries": {"s": "Warm."}}
    good = {"id": "good", "reference": "Warm.", **record}
    path = write(*({"id": f"p{number}", **record} for number in range(21)), good)
    words = ("baselines", path, "-m", "rouge-1")
    table, lines = run(*words).stderr, run(*words, "--format", "jsonl").stderr
    assert (table.count("error: "), lines.count("error: ")) == (21, 20)
    assert "more errors" not in table
    assert '1 more error is in the "error" fields of the rows' in lines


def test_the_list_names_every_metric(run):
    from prevalence.baselines import names

    table = run("baselines", "--list")
    assert table.exit_code == 0
    assert [line.split()[0] for line in table.stdout.splitlines() if line[:1].islower()] == [
        "name", *names(),
    ]  # fmt: skip
    listed = json.loads(run("baselines", "--list", "--json").stdout)
    assert [entry["name"] for entry in listed] == [*names()]
    (rouge,) = (entry for entry in listed if entry["name"] == "rouge-1")
    assert rouge["missing"] is None
    assert (rouge["needs"], rouge["reference_free"]) == (["reference"], False)
    assert {"name": "ter", "range": [0.0, None], "higher_is_better": False}.items() <= next(
        entry for entry in listed if entry["name"] == "ter"
    ).items()


def examples():
    from prevalence.cli.baselines import baselines

    text = baselines.epilog.replace("\\\n", " ")
    return [line.strip() for line in text.splitlines() if line.startswith("  prevalence")]


def test_there_are_examples():
    assert len(examples()) == 4


@pytest.mark.parametrize("line", examples())
def test_help_examples_work(run, repository, tmp_path, monkeypatch, line):
    (tmp_path / "examples").symlink_to(repository / "examples")
    monkeypatch.chdir(tmp_path)
    program, *words = shlex.split(line)
    done = run(*words)
    assert program == "prevalence"
    assert done.exit_code == 0, done.stderr
    assert done.stdout


def test_the_installed_command_lists_the_metrics(shell):
    done = shell("prevalence baselines --list")
    assert done.returncode == 0, done.stderr
    assert "rouge-l:py-rouge" in done.stdout


def test_an_interrupt_keeps_what_is_done(run, write, products, tmp_path, monkeypatch):
    from prevalence.baselines.rules import ComparingMetric

    source = write(*(products[0] | {"id": f"p{n}"} for n in range(40)))
    output, whole = tmp_path / "rows.jsonl", tmp_path / "whole.jsonl"
    run("baselines", source, "-m", "rouge-1", "--output", whole)
    at_once, calls = ComparingMetric.score, []

    def interrupted(self, examples, **options):
        calls.append(len(examples))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return at_once(self, examples, **options)

    with monkeypatch.context() as patch:
        patch.setattr(ComparingMetric, "score", interrupted)
        result = run("baselines", source, "-m", "rouge-1", "--output", output)
    assert result.exit_code == 130
    assert f"interrupted: {calls[0]:,} rows are in {output}; the same command" in result.stderr
    assert len(rows_of(output.read_text())) == calls[0] < 80
    assert run("baselines", source, "-m", "rouge-1", "--output", output).exit_code == 0
    assert output.read_bytes() == whole.read_bytes()


def test_metrics_with_a_model_are_cached(run, write, products, tmp_path, monkeypatch):
    from dataclasses import replace

    from prevalence.baselines.registry import REGISTRY

    weighed = replace(REGISTRY["rouge-1"], weights="a model, for this test")
    monkeypatch.setitem(REGISTRY, "rouge-1", weighed)
    command = ("baselines", write(products[0]), "-m", "rouge-1,rouge-2", "--format", "jsonl")
    first = run(*command, "--cache", tmp_path / "kept")
    again = run(*command, "--cache", tmp_path / "kept")
    assert first.stdout == again.stdout
    assert "cached" not in first.stderr
    assert "rouge-1: 2 values were cached" in again.stderr
    assert "rouge-2" not in again.stderr
    assert "values  2" in run("cache", "--cache", tmp_path / "kept", "info").stdout
    assert run("cache", "--cache", tmp_path / "kept", "clear").stdout == "cleared 2 values\n"
    assert "cached" not in run(*command, "--no-cache").stderr
