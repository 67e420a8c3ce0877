"""How many prompt tokens a local judge reads with and without what prompts share.

    python -m benchmarks.judge_prefix --model FOLDER
    python -m benchmarks.judge_prefix

Judges the summaries of examples/summaries.jsonl with real prompts of a method, as often as
--samples says, with reuse and without, at temperature 0, and checks that both give the same
replies. Without --model, a tiny untrained Llama with a byte-level tokenizer of 256 tokens is made
on the spot: the shares of tokens are then those of bytes, which do not depend on weights, and
seconds are left out.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.common import ROOT, append_row, environment, show_table, timed
from prevalence.baselines.judges.packs import load_method
from prevalence.baselines.judges.prompts import Prompter, choose_dimensions
from prevalence.llm.local import Local
from prevalence.llm.local_model import load_language_model
from prevalence.llm.protocol import Request, Sampling
from prevalence.readers import read_products
from prevalence.records import Product

if TYPE_CHECKING:
    from prevalence.llm.local_model import LanguageModel

METHODS = ("op-i", "op-i:reviews-first")


def main() -> None:
    """Measure, print a table, and append the rows to the results."""
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        path = options.model or make_tiny_llama(Path(folder))
        model = load_language_model(str(path), device=options.device, dtype="float32")
    lines = []
    for name in METHODS:
        row = measure(model, name, options)
        if options.model is None:
            del row["seconds"]
        append_row("judge_prefix", {**environment(), **row})
        shown = (f"{row['replies']:,}", f"{row['read_without']:,}", f"{row['read_with']:,}")
        lines.append((name, *shown, f"{row['read_with'] / row['read_without']:.1%}"))
    show_table(("method", "replies", "read without", "read with", "share"), lines)


def measure(model: LanguageModel, method: str, options: argparse.Namespace) -> dict[str, Any]:
    """Both ways on the same requests.

    Raises:
        RuntimeError: the replies differ.
    """
    requests = _requests(method, options)
    read, seconds, replies = {}, {}, {}
    for reuse in (False, True):
        backend = Local(model, reuse=reuse)
        answers, seconds[reuse] = timed(lambda: list(backend.complete(requests)))  # noqa: B023
        replies[reuse] = [[response.text for response in one] for one in answers]
        read[reuse] = backend.reader.read_tokens
    if replies[True] != replies[False]:
        raise RuntimeError(f"{method}: replies with and without reuse differ")
    return {
        "method": method,
        "model": model.name if options.model else "untrained Llama, bytes",
        "records": options.records,
        "dimensions": options.dimensions,
        "samples": options.samples,
        "max_tokens": options.max_tokens,
        "replies": sum(map(len, replies[True])),
        "read_without": read[False],
        "read_with": read[True],
        "seconds": {"without": seconds[False], "with": seconds[True]},
    }


def make_tiny_llama(folder: Path) -> Path:
    """An untrained Llama of one layer whose tokens are bytes."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={c: k for k, c in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer, model_input_names=["input_ids", "attention_mask"]
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(alphabet),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=32768,
        initializer_range=0.4,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def _requests(method: str, options: argparse.Namespace) -> list[Request]:
    loaded = load_method(method)
    dimensions = choose_dimensions(loaded, ["all"])[: options.dimensions]
    prompter = Prompter(loaded, dimensions)
    items = read_products(str(ROOT / "examples" / "summaries.jsonl"))
    products = [item for item in items if isinstance(item, Product)][: options.records]
    return [
        Request(
            messages=prompter.messages(dimension, product, summary.text),
            sampling=Sampling(max_tokens=options.max_tokens),
            indices=tuple(range(options.samples)),
        )
        for product in products
        for dimension in dimensions
        for summary in product.summaries
    ]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--model", type=Path, help="checkpoint folder")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--records", type=int, default=2)
    parser.add_argument("--dimensions", type=int, default=2)
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--max-tokens", type=int, default=4)
    return parser.parse_args()


if __name__ == "__main__":
    main()
