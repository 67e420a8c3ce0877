"""Batches of samples below the reward: where they run, and that each has its own reviews."""

from __future__ import annotations

from prevalence.rewards import BatchScorer, Sample, ScorerOptions


def test_a_process_takes_its_own_gpu(monkeypatch, fake_scorer, answers):
    import torch

    def opened_on(asked):
        devices = []

        def noted(options):
            devices.append(options.device)
            return fake_scorer(answers)

        monkeypatch.setattr(ScorerOptions, "open", noted)
        assert BatchScorer(ScorerOptions(model="embedded", device=asked)).engine
        (device,) = devices
        return device

    monkeypatch.delenv("LOCAL_RANK", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert opened_on("auto") == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    assert opened_on("auto") == "cuda:0"
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert opened_on("auto") == "cuda:1"
    assert opened_on("cpu") == "cpu"
    # A launcher that shows each process one GPU only.
    monkeypatch.setenv("LOCAL_RANK", "5")
    assert opened_on("auto") == "cuda:0"


def test_samples_that_are_made_one_after_the_other_keep_their_own_reviews():
    class Made:
        """Gives each sample a new list, as a data set that reads its rows does."""

        def __len__(self):
            return 4

        def __getitem__(self, place):
            if place >= len(self):
                raise IndexError(place)
            said = "They are warm."
            return Sample(said, [said if place % 2 else "Too loud."])

    batches = BatchScorer(ScorerOptions(model="rouge1-precision"))
    assert [row.prevalence for row in batches.score(Made())] == [0.0, 1.0, 0.0, 1.0]
