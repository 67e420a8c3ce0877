"""Names of scorers and metrics: what is declared reads back, and nothing else is taken."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prevalence.baselines.registry import REGISTRY, split_specs
from prevalence.baselines.registry import files_read as metric_files
from prevalence.errors import ConfigurationError
from prevalence.scorers.grammar import FLAG, Name, Setting, Spec, split_names, usage
from prevalence.scorers.registry import FAMILIES, files_read, with_files

names = st.from_regex(r"[A-Za-z0-9][\w.-]{0,8}", fullmatch=True)
values = st.text(st.characters(exclude_characters='"', exclude_categories=["C"]), min_size=1)
DECLARED = {
    **{name: (family.settings, ",") for name, family in FAMILIES.items()},
    **{
        entry.name: (Setting.read_all(entry.options), ":")
        for entry in REGISTRY.values()
        if ":" not in entry.name
    },
}


def read(name, mark=","):
    return Name.read(name, of="metric" if mark == ":" else "scorer")


@st.composite
def declared(draw):
    """A scorer or metric with some of its options, and what each is given."""
    head = draw(st.sampled_from(sorted(DECLARED)))
    known, mark = DECLARED[head]
    given = {
        setting.key: draw(st.sampled_from(setting.choices)) if setting.choices
        else draw(values) if setting.value else FLAG
        for setting in known
        if setting.needed or draw(st.booleans())
    }  # fmt: skip
    return head, known, mark, given


@settings(deadline=None)
@given(declared())
def test_every_declared_option_reads_back(case):
    head, known, mark, given = case
    parts = [f'{key}="{value}"' if value else key for key, value in given.items()]
    name = ":".join([head, *([mark.join(parts)] if parts else [])])
    defaults = {each.key: each.default for each in known if each.default is not None}
    assert read(name, mark).options(known) == defaults | given
    assert read(name, "," if mark == "," else ":").replaced(known, lambda _, value: value)


@settings(deadline=None)
@given(declared())
def test_words_stand_in_the_order_of_the_declaration(case):
    head, known, _, _ = case
    words = [each for each in known if each.word]
    rest = [f"{each.key}=x" for each in known if each.needed and not each.word]
    asked = [each.choices[0] if each.choices else "./here" for each in words]
    found = read(":".join([head, ",".join([*asked, *rest])]) if asked + rest else head)
    assert [found.options(known)[each.key] for each in words] == asked


@settings(deadline=None)
@given(declared(), names)
def test_an_unknown_option_is_refused_with_what_there_is(case, key):
    head, known, _, _ = case
    if key in {each.key for each in known}:
        return
    with pytest.raises(ConfigurationError, match=r"has no option .*it has: "):
        Name(head, head, ((key, "x"),)).options(known)


@pytest.mark.parametrize(
    ("key", "near"), [("modle", "did you mean model?"), ("granularty", "did you mean granularity?")]
)
def test_the_nearest_option_is_named(key, near):
    for head in ("summac-zs", "summac-conv"):
        with pytest.raises(ConfigurationError, match=near.replace("?", r"\?")):
            read(f"{head}:{key}=x").options(FAMILIES[head].settings)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("superpal", "superpal: model=MODEL is missing; write superpal:MODEL"),
        ("qafe:qg=a", "qa=MODEL is missing"),
        ("superpal:m,most", "alignment=most: choose average or max"),
        ("summac-zs:minus-contradiction=yes", "write the option minus-contradiction as minus-"),
        ("qafe:qg,qa=b", "write the option qg as qg=VALUE"),
        ("adapter:", "file=FILE is missing"),
        ('adapter:"a', "is not a scorer name"),
    ],
)
def test_what_a_family_cannot_use_is_refused(name, said):
    with pytest.raises(ConfigurationError, match=said):
        read(name).options(FAMILIES[name.partition(":")[0]].settings)


def test_usage_comes_from_the_declaration():
    assert FAMILIES["superpal"].usage == "superpal:MODEL[,average|max]"
    assert FAMILIES["cosine"].usage == "cosine[:ENCODER[,document|sentence-max][,pooling=mean|cls]]"
    assert usage("x", [Setting("a")]) == "x[:a]"
    assert usage("x", []) == "x"


@settings(deadline=None)
@given(names, st.dictionaries(names, st.one_of(st.just(""), values), max_size=4))
def test_the_canonical_spelling_reads_back(name, options):
    parts = Name.read(Spec(name, options).canonical(), of="metric").parts
    assert {value if key is None else key: value if key else "" for key, value in parts} == options


@settings(deadline=None)
@given(st.lists(st.tuples(names, values), min_size=1, max_size=4))
def test_a_list_splits_only_outside_quotes(pairs):
    specs = [Spec(name, {"model": value}).canonical() for name, value in pairs]
    assert split_names(", ".join(specs), lambda _: ()) == specs


def test_a_comma_goes_on_with_options_and_begins_names():
    found = split_specs("rouge-1:refs=mean,nostem,rouge-2, bleu-4:nlg-eval,chrf:words=2,lower,ter")
    assert found == ["rouge-1:refs=mean,nostem", "rouge-2", "bleu-4:nlg-eval",
                     "chrf:words=2,lower", "ter"]  # fmt: skip


@pytest.mark.parametrize(
    "text", ["", ":", "rouge 1", "rouge-1:", "rouge-1:refs=", 'rouge-1:refs=""', 'a:b="c']
)
def test_what_is_no_name_is_refused(text):
    with pytest.raises(ConfigurationError, match="is not a metric name"):
        Name.read(text, of="metric")


def test_an_option_is_given_once():
    with pytest.raises(ConfigurationError, match="model is given twice"):
        read("summac-zs:model=a,model=b").options(FAMILIES["summac-zs"].settings)


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("embedded", []),
        ("./m", ["./m"]),
        ("nli:./m", ["./m"]),
        ("rouge1-f1", []),
        ("cosine:./m,document", ["./m"]),
        ("superpal:adapter:a.toml", ["a.toml"]),
        ("summac-conv:h.bin,model=vitc+./m", ["h.bin", "./m"]),
        ("summac-zs:sentence,max", []),
    ],
)
def test_a_scorer_tells_which_files_it_reads(name, files):
    assert files_read(name) == files


def test_a_metric_tells_which_files_it_reads():
    assert metric_files("summac-conv:head=h.bin:model=embedded+./m") == ["h.bin", "./m"]
    assert metric_files("rouge-1:refs=mean") == []


def test_a_file_with_a_comma_is_quoted():
    name = with_files("adapter:x", lambda _: "/a,b/x")
    assert name == 'adapter:"/a,b/x"'
    assert files_read(name) == ["/a,b/x"]
    assert with_files("superpal:adapter:x", lambda _: "/a,b/x") == 'superpal:adapter:"/a,b/x"'
    assert files_read('superpal:adapter:"/a,b/x"') == ["/a,b/x"]
