"""The original SummaC on prepared inputs; runs in the virtualenv that `make parity` builds.

    .parity/bin/python benchmarks/summac_original.py FOLDER

It imports nothing of ours. The package looks models up by short names and cuts sentences with
NLTK's downloaded data: its table is pointed at the prepared folders, and it is given the sentences
that our splitter found.
"""

import json
import sys
from itertools import product
from pathlib import Path
from typing import Any

import nltk
import numpy as np

OPERATORS = ("max", "mean", "min")


def import_summac(folder: Path, sentences: dict[str, list[str]]) -> Any:
    """The package's module, with our sentences and our folders in its table of models."""
    nltk.tokenize.sent_tokenize = lambda text: sentences[text]
    from summac import model_summac

    for name, labels in json.loads((folder / "models.json").read_text(encoding="utf-8")).items():
        model_summac.model_map[name] = {
            "model_card": str(folder / name),
            "entailment_idx": labels.index("entailment"),
            "contradiction_idx": labels.index("contradiction"),
        }
    return model_summac


def zero_shot(module: Any, name: str, granularity: str, pairs: list[list[str]]) -> Any:
    """Scores [P, 18]: operators over premise and hypothesis, without and with contradiction."""
    scorer = module.SummaCZS(
        model_name=name, granularity=granularity, device="cpu", imager_load_cache=False
    )
    documents, summaries = zip(*pairs, strict=True)
    # It pads a batch to its longest pair and does not sort: small batches waste least.
    images = scorer.score(documents, summaries, batch_size=8)["images"]
    columns = []
    for over_premise, over_hypothesis, minus in product(OPERATORS, OPERATORS, (False, True)):
        scorer.op1, scorer.op2, scorer.use_con = over_premise, over_hypothesis, minus
        columns.append([scorer.image2score(image) for image in images])
    return np.array(columns).T


def conv(module: Any, case: dict[str, Any], folder: Path, pairs: list[list[str]]) -> Any:
    """Scores [P] of the trained variant."""
    scorer = module.SummaCConv(
        models=case["models"], bins=case["bins"], granularity=case["granularity"],
        nli_labels=case["classes"], agg=case["aggregate"], device="cpu", imager_load_cache=False,
        start_file=str(folder / case["file"]),
    )  # fmt: skip
    documents, summaries = zip(*pairs, strict=True)
    return np.array(scorer.score(documents, summaries)["scores"])


def main(folder: Path) -> None:
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    sentences = json.loads((folder / "sentences.json").read_text(encoding="utf-8"))
    module = import_summac(folder, sentences)
    found: dict[str, Any] = {}
    for name, part in plan["zero_shot"].items():
        for granularity in part["granularities"]:
            print(f"{name} {granularity}", flush=True)
            pairs = plan["pairs"][: part["pairs"]]
            found[f"zs/{name}/{granularity}"] = zero_shot(module, name, granularity, pairs)
    for case in plan["conv"]:
        print(f"conv {case['file']}", flush=True)
        found[f"conv/{case['file']}"] = conv(module, case, folder, plan["pairs"][: case["pairs"]])
    np.savez_compressed(folder / "original.npz", **found)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
