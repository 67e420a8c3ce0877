"""The mixtures of the ablation: equal size, one kind missing, sources that recipes have."""

from pathlib import Path

import pytest

from benchmarks.ablation import MIX, recipe_of, stage

PAIRS = 24_000


@pytest.mark.parametrize("without", ["", *MIX])
def test_a_run_takes_as_many_pairs_without_one_kind(without: str) -> None:
    mix = stage(without, PAIRS, 2e-4).mix
    assert sum(item.samples for item in mix) == pytest.approx(PAIRS, abs=len(mix))
    left_out = set(MIX.get(without, ()))
    assert not left_out & {(item.source, item.view) for item in mix}


def test_what_is_left_keeps_its_proportions() -> None:
    whole = {(i.source, i.view): i.samples for i in stage("", PAIRS, 2e-4).mix}
    part = {(i.source, i.view): i.samples for i in stage("clusters", PAIRS, 2e-4).mix}
    growth = part["real", "labelled"] / whole["real", "labelled"]
    for item, samples in part.items():
        assert samples == pytest.approx(growth * whole[item], rel=0.01)


@pytest.mark.parametrize("taught", [False, True])
def test_sources_exist_and_held_out_products_are_in_no_mixture(taught: bool) -> None:
    recipe = recipe_of(Path("start"), taught=taught)
    held_out = recipe.source("human").only
    for item in stage("", PAIRS, 2e-4).mix:
        source = recipe.source(item.source)
        assert not source.only
        path = recipe.resolve(source.path, Path("data"))
        if source.leave_out != held_out:
            assert f'"{held_out}' not in path.read_text(encoding="utf-8")
    assert [s.name for s in recipe.sources if s.taught] == (["real"] if taught else [])
