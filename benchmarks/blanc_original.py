"""The original BLANC on prepared inputs; runs in the virtualenv that `make parity` builds.

    .parity/bin/python benchmarks/blanc_original.py FOLDER

It imports nothing of ours. The package cuts sentences with NLTK's downloaded data: it is given
those that our splitter found.
"""

import json
import sys
from pathlib import Path
from typing import Any

import nltk
import numpy as np

NAMES = {
    "gap": "gap", "gap-mask": "gap_mask", "min-normal": "min_token_length_normal",
    "min-lead": "min_token_length_lead", "min-followup": "min_token_length_followup",
    "measure": "measure", "rate": "learning_rate", "epochs": "finetune_epochs",
    "replaced": "p_token_replace", "kept": "p_token_original", "seed": "random_seed",
    "batch": "finetune_batch_size", "chunk": "finetune_chunk_size",
    "stride": "finetune_chunk_stride", "warmup": "warmup_steps",
}  # fmt: skip


def setting(text: str) -> Any:
    """A number where it is one."""
    try:
        return int(text)
    except ValueError:
        return text if text.isalpha() else float(text)


def main(folder: Path) -> None:
    sentences = json.loads((folder / "sentences.json").read_text(encoding="utf-8"))
    nltk.tokenize.sent_tokenize = nltk.sent_tokenize = lambda text: sentences[text]
    import blanc

    found: dict[str, Any] = {}
    for name, case in json.loads((folder / "plan.json").read_text(encoding="utf-8")).items():
        print(name, flush=True)
        kind = blanc.BlancTune if name.startswith("tune") else blanc.BlancHelp
        scorer = kind(
            model_name=str(folder / "tiny"), show_progress_bar=False, inference_batch_size=8,
            **{NAMES[key]: setting(value) for key, value in case["settings"].items()},
        )  # fmt: skip
        sources, summaries = zip(*case["pairs"], strict=True)
        found[name] = np.array(scorer.eval_pairs(list(sources), list(summaries)), np.float64)
    np.savez_compressed(folder / "original.npz", **found)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
