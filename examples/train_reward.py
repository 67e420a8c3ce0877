"""Train a tiny policy with prevalence as its reward, and watch what it learns to write.

    python examples/train_reward.py
    python examples/train_reward.py --settings plain floor heard --steps 60
    python examples/train_reward.py --model embedded --settings floor

GRPO by TRL, on a CPU. The policy is a language model of one layer, made on the spot, whose tokens
are whole sentences: it learns which of them to say, in which order, and when to stop. By default
the answers of the reward's model are known by construction (see CLAIMS), so that what is learned
is the doing of the reward and not of a model's mistakes; --model takes a real one.

Needs TRL: pip install 'prevalence[trl]'
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from prevalence.nli.pairs import PairScorer, PairScores, ScorerTraits
from prevalence.rewards import PrevalenceReward, Shaping

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from prevalence.nli.pairs import Progress, TextTable

NAME = "pair of boots"
PROMPT = "Summarize the reviews."
SHOWN = 5

CLAIMS: Mapping[str, tuple[set[int], set[int]]] = {
    # sentence: the reviews that make the claim, and those that say the opposite
    "They are comfortable.": ({0, 1, 2, 3, 4, 5, 6}, {9}),
    "They keep feet dry.": ({3, 4, 5, 6, 7, 8}, set()),
    "They are good value.": ({0, 1, 2, 3, 4}, {5, 6, 7, 8, 9}),
    "They run small.": ({0, 2, 4, 8}, set()),
    "The laces come undone.": ({1, 7, 9}, set()),
    "They fall apart.": ({9}, {0, 2, 3, 4, 8}),
}
VAGUE = "Someone has an opinion of them."
HEDGED = "They could suit somebody."
TRIVIAL = "Somebody owns boots."
REPEATED = "Wearing them is comfortable."
SENTENCES = (*CLAIMS, REPEATED, VAGUE, HEDGED, TRIVIAL)
REVIEWS = [
    " ".join(sentence for sentence, (makers, _) in CLAIMS.items() if number in makers)
    for number in range(10)
]
STRICT = "I bought a {name} and have an opinion of it."


class KnownAnswers(PairScorer):
    """A pair scorer that looks the answers up: who claims what, and what follows from what."""

    def __init__(self) -> None:
        traits = ScorerTraits(
            digest=b"example",
            signature={"nli": "example"},
            threshold=0.5,
            calibrated=True,
            three_way=True,
            probability=True,
            doubt=0.0,
            rechecks=False,
            cached=False,
            devices=1,
            work_unit=4_096,
            errors=None,
        )
        super().__init__(traits)

    def score(
        self, texts: TextTable, pairs: Any, *, progress: Progress | None = None
    ) -> PairScores:
        """Answer pairs of text numbers."""
        answers = [self._answer(texts[first], texts[second]) for first, second in pairs.tolist()]
        table = np.asarray(answers, np.float32).reshape(-1, 2)
        if progress is not None:
            progress(len(pairs))
        return PairScores(table[:, 0], table[:, 1], np.zeros(len(table), np.uint8))

    def _answer(self, premise: str, hypothesis: str) -> tuple[float, float]:
        """P(entailment) and P(contradiction)."""
        claim = _claim(hypothesis)
        if premise.startswith("I bought"):
            opinion = "opinion" in premise and hypothesis == VAGUE
            return (0.9 if opinion or hypothesis == TRIVIAL else 0.02), 0.02
        if hypothesis in {VAGUE, TRIVIAL}:
            return 0.9, 0.02
        if hypothesis == HEDGED:
            return 0.48, 0.02
        if premise not in REVIEWS:
            return (0.9 if _claim(premise) == claim else 0.02), 0.02
        makers, deniers = CLAIMS.get(claim, (set(), set()))
        number = REVIEWS.index(premise)
        return (0.9, 0.02) if number in makers else (0.02, 0.9 if number in deniers else 0.02)


def _claim(sentence: str) -> str:
    return "They are comfortable." if sentence == REPEATED else sentence


SETTINGS: Mapping[str, dict[str, Any]] = {
    "plain": {},
    "strict": {"trivial": STRICT},
    "ceiling": {"trivial": STRICT, "shaping": Shaping(ceiling=True)},
    "floor": {"trivial": STRICT, "shaping": Shaping(sentences=3)},
    "contradiction": {"trivial": STRICT, "shaping": Shaping(sentences=3, contradiction=0.5)},
    "heard": {
        "trivial": STRICT,
        "shaping": Shaping(sentences=3, contradiction=0.5, heard=0.5),
    },
    "soft": {"trivial": STRICT, "shaping": Shaping(soft=True, sentences=4)},
    "hard": {"trivial": STRICT, "shaping": Shaping(sentences=4)},
}
"""Options of the reward under each name."""


@dataclass(slots=True)
class Watcher:
    """A reward that counts for nothing and remembers the completions."""

    seen: list[list[str]] = field(default_factory=list)
    __name__ = "watcher"

    def __call__(self, *, completions: Sequence[str], **_: Any) -> list[float]:
        """Remember completions."""
        self.seen.append(list(completions))
        return [0.0] * len(completions)


def make_policy(folder: Path, *, seed: int) -> None:
    """Write an untrained causal language model whose tokens are the sentences."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    special = ["<pad>", "<eos>", "<unk>", PROMPT]
    vocabulary = {token: number for number, token in enumerate([*special, *SENTENCES])}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.Split("\n", behavior="removed")
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>"
    )
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=64,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=None,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def train(
    folder: Path,
    rewards: Sequence[Any],
    *,
    steps: int,
    seed: int,
    batch: int = 64,
    log_completions: bool = False,
) -> list[dict[str, float]]:
    """Train the policy in a folder; the first reward counts, the others are only watched.

    With ``log_completions`` TRL prints completions and keeps them under out/completions.

    Returns:
        What TRL logged at each step.
    """
    from datasets import Dataset
    from transformers import PrinterCallback
    from trl import GRPOConfig, GRPOTrainer

    rows = [{"prompt": PROMPT, "reviews": REVIEWS, "name": NAME}] * 8
    config = GRPOConfig(
        output_dir=str(folder / "out"),
        max_steps=steps,
        per_device_train_batch_size=batch,
        num_generations=batch,
        max_completion_length=6,
        learning_rate=0.01,
        lr_scheduler_type="constant",
        reward_weights=[1.0] + [0.0] * (len(rewards) - 1),
        logging_steps=1,
        log_completions=log_completions,
        save_strategy="no",
        report_to=[],
        use_cpu=True,
        bf16=False,
        disable_tqdm=True,
        seed=seed,
        log_level="error",
    )
    trainer = GRPOTrainer(
        model=str(folder),
        reward_funcs=list(rewards),
        args=config,
        train_dataset=Dataset.from_list(rows),
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    return [row for row in trainer.state.log_history if "reward" in row]


def run(setting: str, *, model: str | None, steps: int, seed: int) -> dict[str, Any]:
    """Train with one setting.

    Args:
        setting: a key of SETTINGS.
        model: the reward's model, or None for the known answers.
        steps: GRPO steps.
        seed: of the policy and its training.

    Returns:
        Means over the first and the last steps, and the summary written most often at the end.
    """
    source: dict[str, Any] = {"scorer": KnownAnswers()} if model is None else {"model": model}
    options = SETTINGS[setting]
    reward = PrevalenceReward(**source, **options)
    plain = PrevalenceReward(**source, name="plain")
    heard = PrevalenceReward(
        **source, trivial=options.get("trivial", "name"), name="heard",
        shaping=Shaping(heard=1.0),
    )  # fmt: skip
    watcher = Watcher()
    with tempfile.TemporaryDirectory() as folder:
        make_policy(Path(folder), seed=seed)
        log = train(Path(folder), [reward, plain, heard, watcher], steps=steps, seed=seed)
    last = Counter(text for texts in watcher.seen[-SHOWN:] for text in texts)

    def mean(key: str, rows: Sequence[Mapping[str, float]]) -> float:
        return float(np.mean([row[key] for row in rows if key in row]))

    return {
        "setting": setting,
        "reward_first": mean("rewards/prevalence/mean", log[:SHOWN]),
        "reward_last": mean("rewards/prevalence/mean", log[-SHOWN:]),
        "prevalence": mean("plain/prevalence", log[-SHOWN:]),
        "sentences": mean("plain/sentences", log[-SHOWN:]),
        "heard": mean("rewards/heard/mean", log[-SHOWN:]),
        "most_common": last.most_common(1)[0][0],
    }


def main(arguments: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """Train with each setting, and print a line for it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--settings", nargs="+", choices=list(SETTINGS), default=["plain", "floor"])
    parser.add_argument("--model", help="the reward's model; the known answers when left out")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    rows = []
    for setting in chosen.settings:
        row = run(setting, model=chosen.model, steps=chosen.steps, seed=chosen.seed)
        rows.append(row)
        print(
            "{setting}: reward {reward_first:.2f} -> {reward_last:.2f}; prevalence "
            "{prevalence:.2f}, {sentences:.1f} sentences, heard {heard:.2f}\n"
            "    {most_common}".format(**row),
            flush=True,
        )
    return rows


if __name__ == "__main__":
    main()
