import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prevalence.baselines.naming import Spec, parse_spec, split_specs
from prevalence.errors import ConfigurationError

names = st.from_regex(r"[A-Za-z0-9][\w.-]{0,8}", fullmatch=True)
values = st.text(st.characters(exclude_characters='"', exclude_categories=["C"]), min_size=1)


@settings(deadline=None)
@given(names, st.dictionaries(names, st.one_of(st.just(""), values), max_size=4))
def test_the_canonical_spelling_reads_back(name, options):
    spec = Spec(name, options)
    assert parse_spec(spec.canonical()) == spec


@settings(deadline=None)
@given(st.lists(st.tuples(names, values), min_size=1, max_size=4))
def test_a_list_splits_only_outside_quotes(pairs):
    specs = [Spec(name, {"model": value}).canonical() for name, value in pairs]
    assert split_specs(", ".join(specs)) == specs


@pytest.mark.parametrize(
    "text",
    ["", ":", "rouge 1", "rouge-1:", "rouge-1:refs=", 'rouge-1:refs=""', "a:b:b", 'a:b="c'],
)
def test_what_is_no_name_is_refused(text):
    with pytest.raises(ConfigurationError, match="is no metric name"):
        parse_spec(text)
