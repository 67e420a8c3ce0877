"""The forward pass that training uses for premise-first models: a row of tokens for each premise.

A premise and its hypotheses lie one after the other in a row, and rows of similar length make a
batch. Every token of a row attends to the premise with one matrix product a head; the tokens of a
hypothesis also attend to their own, in blocks of hypotheses of similar length. Both parts share one
softmax without being put side by side: each adds exp(score) · value and exp(score) to a sum, and
the quotient of the sums is the answer. To keep exp in range, the mean key of the premise is
subtracted from all keys of its row, which changes no softmax, and scores are cut at ±60, which
those of trained encoders do not reach. So the answers are those of
:class:`prevalence.nli.packed.PackedClassifier`, which scoring uses, and with gradients they take
less time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from prevalence.models.checkpoint import FIRST, MEAN
from prevalence.nli.packed import Family, family_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from prevalence.nli.tokens import BlockLayout
    from prevalence.stats.arrays import Ints

__all__ = ["Block", "RowClassifier", "Rows", "lay_out"]

# More blocks pad less, and take more calls. What a GPU gains from fewer has not been measured.
_BLOCK_LEAST = 8
_BLOCKS, _GPU_BLOCKS = 6, 2
_MOST = 60.0
"""Limit of a score, counted from its mean over the premise."""


class Block(NamedTuple):
    """Hypotheses of similar length.

    Attributes:
        members: int64 [r], which hypotheses, in the order of the answers.
        mask: bool [r, longest], which places are no padding.
    """

    members: Tensor
    mask: Tensor


class Rows(NamedTuple):
    """A batch of G premises, each with its hypotheses, as rows of S tokens.

    Attributes:
        ids: int64 [G, S], tokens; padding is at the end of a row.
        positions: int64 [G, S], from 0 in each text.
        distances: int64 [G, S], positions as seen from the premise, which a hypothesis follows.
        types: int64 [G, S], 0 in premises and 1 in hypotheses.
        known: bool [G, P], the tokens of premises among the first P of a row.
        firsts: int64 [R], places of the hypotheses' first tokens among the G · S.
        blocks: every hypothesis once.
        own: int64 [N], places of the blocks' tokens among the G · S, block after block, with
            anything where a block's mask is False.
        kept: int64, which of the N are no padding.
        places: int64, the places of these.
    """

    ids: Tensor
    positions: Tensor
    distances: Tensor
    types: Tensor
    known: Tensor
    firsts: Tensor
    blocks: Sequence[Block]
    own: Tensor
    kept: Tensor
    places: Tensor

    def to(self, device: torch.device) -> Rows:
        """The same on a device."""
        return Rows(
            self.ids.to(device), self.positions.to(device), self.distances.to(device),
            self.types.to(device), self.known.to(device), self.firsts.to(device),
            [Block(*(part.to(device) for part in block)) for block in self.blocks],
            self.own.to(device), self.kept.to(device), self.places.to(device),
        )  # fmt: skip


def lay_out(
    tokens: Ints, units: Sequence[Ints], layout: BlockLayout, *, device: str = "cpu"
) -> Rows:
    """Lay premises and their hypotheses out in rows.

    Args:
        tokens: int64 [T], all texts' tokens without special ones.
        units: for each row int64 [1 + hypotheses, 2], start and length of the premise and of its
            hypotheses among the tokens; at least one hypothesis.
        layout: special tokens around a text.
        device: kind of device that will compute the rows, which decides how many blocks there are.

    Returns:
        Tensors in the host's memory.
    """
    counts = np.array([len(unit) for unit in units])
    leads = np.cumsum(counts) - counts  # The premises among all texts.
    asked = np.ones(counts.sum(), np.bool_)
    asked[leads] = False
    starts, lengths = np.concatenate(units).T
    sizes = lengths + layout.special
    width = int(np.add.reduceat(sizes, leads).max())
    firsts = np.cumsum(sizes) - sizes
    firsts += np.repeat(np.arange(len(units)) * width - firsts[leads], counts)
    bodies = firsts + len(layout.prefix)
    ends = bodies + lengths
    grids = np.zeros((4, len(units) * width), np.int64)
    ids, positions, distances, types = grids
    ids[firsts[:, None] + np.arange(len(layout.prefix))] = layout.prefix
    ids[_ranges(bodies, lengths)] = tokens[_ranges(starts, lengths)]
    ids[ends[:, None] + np.arange(len(layout.suffix))] = layout.suffix
    places = _ranges(firsts, sizes)
    positions[places] = _ranges(np.zeros_like(sizes), sizes)
    distances[places] = _ranges(np.where(asked, np.repeat(sizes[leads], counts), 0), sizes)
    types[places] = np.repeat(asked, sizes)
    known = np.arange(sizes[leads].max()) < sizes[leads, None]
    most = _BLOCKS if device == "cpu" else _GPU_BLOCKS
    laid = torch.from_numpy(grids.reshape(4, len(units), width))
    return Rows(
        laid[0], laid[1], laid[2], laid[3], torch.from_numpy(known),
        torch.from_numpy(firsts[asked]), *_blocks(firsts[asked], sizes[asked], most),
    )  # fmt: skip


def _ranges(starts: Ints, lengths: Ints) -> Ints:
    """The whole numbers from each start on, as many as its length, one range after the other."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())


def _blocks(firsts: Ints, lengths: Ints, most: int) -> tuple[list[Block], Tensor, Tensor, Tensor]:
    """Deal hypotheses to blocks by length: the last four fields of :class:`Rows`."""
    number = min(most, max(1, len(lengths) // _BLOCK_LEAST))
    blocks, places = [], []
    for members in np.array_split(np.argsort(lengths, kind="stable"), number):
        offsets = np.arange(int(lengths[members].max()))
        mask = offsets < lengths[members][:, None]
        places.append(np.where(mask, firsts[members][:, None] + offsets, 0).ravel())
        blocks.append(Block(torch.from_numpy(members), torch.from_numpy(mask)))
    kept = np.flatnonzero(np.concatenate([block.mask.numpy().ravel() for block in blocks]))
    own = np.concatenate(places)
    return blocks, torch.from_numpy(own), torch.from_numpy(kept), torch.from_numpy(own[kept])


class _Biases(NamedTuple):
    """What a model with relative positions adds to scores.

    Attributes:
        known: [G, heads, S, P], from every token to the premise of its row.
        known_firsts: [G, heads, n, P], from first tokens, laid out as by ``_Firsts``.
        own: one for each block, [1, heads, longest, longest].
    """

    known: Tensor
    known_firsts: Tensor
    own: Sequence[Tensor]


class _Firsts(NamedTuple):
    """Where first tokens lie in a grid [G, n]: they are asked together if one premise has them."""

    places: Tensor
    most: int

    @classmethod
    def of(cls, rows: Rows) -> _Firsts:
        owner = torch.div(rows.firsts, rows.ids.shape[1], rounding_mode="floor")
        counts = torch.bincount(owner, minlength=len(rows.ids))
        slot = torch.arange(len(owner), device=owner.device) - torch.searchsorted(owner, owner)
        most = int(counts.max())
        return cls(owner * most + slot, most)


class RowClassifier:
    """Runs a Hugging Face classifier, whose weights it shares, on rows.

    Args:
        model: a sequence classifier of a family that is read premise first. Biases by distance get
            no gradients.

    Raises:
        ModelError: the family is not known.
    """

    def __init__(self, model: Any) -> None:
        self._family: Family = family_of(model)
        self._pooling = getattr(model.config, "prevalence_pooling", FIRST)

    def __call__(self, rows: Rows) -> Tensor:
        """Logits [R, classes], in the order of the rows' hypotheses."""
        family = self._family
        flat = (grid.flatten() for grid in (rows.ids, rows.positions, rows.types))
        hidden = family.embed(*flat)
        firsts = _Firsts.of(rows)
        biases = self._biases(rows, firsts) if family.relative else None
        *inner, last = family.layers
        for layer in inner if self._pooling == FIRST else family.layers:
            hidden = family.finish(layer, self._attend(layer, hidden, rows, biases), hidden)
        if self._pooling == MEAN:
            return family.classify(_means(hidden, rows))
        context = self._attend_firsts(last, hidden, rows, firsts, biases)
        return family.classify(family.finish(last, context, hidden.index_select(0, rows.firsts)))

    def _attend(self, layer: Any, hidden: Tensor, rows: Rows, biases: _Biases | None) -> Tensor:
        """What every token takes from the tokens that it attends to, [G · S, H]."""
        query, key, value = self._projected(layer, hidden, hidden, rows)
        grid = (*rows.ids.shape, *query.shape[1:])
        sums = self._from_premises(
            query.view(grid), key.view(grid), value.view(grid), rows, biases and biases.known
        ).flatten(0, 1)
        parts = zip(_own(query, rows), _own(key, rows), _own(value, rows), strict=True)
        found = torch.cat([
            self._summed(*part, block.mask, biases and biases.own[number]).flatten(0, 1)
            for number, (block, part) in enumerate(zip(rows.blocks, parts, strict=True))
        ])  # fmt: skip
        return _quotient(sums.index_add_(0, rows.places, found.index_select(0, rows.kept)))

    def _attend_firsts(
        self, layer: Any, hidden: Tensor, rows: Rows, firsts: _Firsts, biases: _Biases | None
    ) -> Tensor:
        """The same for the first tokens of the hypotheses, [R, H]."""
        asking = hidden.index_select(0, rows.firsts)
        query, key, value = self._projected(layer, asking, hidden, rows)
        grid = (*rows.ids.shape, *key.shape[1:])
        asked = query.new_zeros(len(rows.ids) * firsts.most, *query.shape[1:])
        asked = asked.index_copy(0, firsts.places, query).view(-1, firsts.most, *query.shape[1:])
        sums = self._from_premises(
            asked, key.view(grid), value.view(grid), rows, biases and biases.known_firsts
        )
        sums = sums.flatten(0, 1).index_select(0, firsts.places)
        parts = zip(_own(key, rows), _own(value, rows), strict=True)
        found = torch.cat([
            self._summed(
                query.index_select(0, block.members)[:, None], *part, block.mask,
                biases and biases.own[number][:, :, :1],
            )[:, 0]
            for number, (block, part) in enumerate(zip(rows.blocks, parts, strict=True))
        ])  # fmt: skip
        order = torch.cat([block.members for block in rows.blocks])
        return _quotient(sums.index_add_(0, order, found))

    def _projected(
        self, layer: Any, asked: Tensor, hidden: Tensor, rows: Rows
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Scaled queries, centred keys and values, [tokens, heads, d]."""
        to_query, to_key, to_value = self._family.projections(layer)
        shape = (-1, self._family.heads, hidden.shape[-1] // self._family.heads)
        key = to_key(hidden).view(*rows.ids.shape, -1)
        counted = rows.known.to(key.dtype)
        counted = counted / counted.sum(1, keepdim=True)
        key = key - counted[:, None] @ key[:, : counted.shape[1]]
        query = to_query(asked).view(shape) * shape[-1] ** -0.5
        return query, key.view(shape), to_value(hidden).view(shape)

    def _from_premises(
        self, query: Tensor, key: Tensor, value: Tensor, rows: Rows, bias: Tensor | None
    ) -> Tensor:
        size = rows.known.shape[1]
        return self._summed(query, key[:, :size], value[:, :size], rows.known, bias)

    def _summed(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor, bias: Tensor | None
    ) -> Tensor:
        """Sums of exp(score) · value, and of exp(score), over the keys of the mask.

        Args:
            query: [B, Q, heads, d].
            key: [B, K, heads, d].
            value: likewise.
            mask: bool [B, K].
            bias: [B or 1, heads, Q, K], or None.

        Returns:
            [B, Q, heads, d + 1].
        """
        counted = mask.to(value.dtype)[:, :, None, None]
        one = counted.expand(*value.shape[:-1], 1)
        values = torch.cat([value * counted, one], dim=-1).transpose(1, 2)
        scores = query.transpose(1, 2) @ key.permute(0, 2, 3, 1)
        if bias is not None:
            scores = scores + bias
        with torch.no_grad():  # Scores beyond the limit are ties, and their gradients go on.
            scores.clamp_(-_MOST, _MOST)
        weights = scores.exp_()
        dropout = self._family.attention_dropout
        if not dropout:
            return (weights @ values).transpose(1, 2)
        # The sum of the weights is taken before some of them are dropped, as after a softmax.
        taken = nn.functional.dropout(weights, dropout) @ values[..., :-1]
        return torch.cat([taken, weights @ values[..., -1:]], dim=-1).transpose(1, 2)

    @torch.no_grad()
    def _biases(self, rows: Rows, firsts: _Firsts) -> _Biases:
        size = rows.known.shape[1]
        reach = int(rows.distances.max()) + 1
        far = torch.arange(-reach, reach + 1, device=rows.ids.device)
        table = self._family.bias(far.new_zeros(1, 1), far)[:, 0]

        def between(queries: Tensor, keys: Tensor) -> Tensor:
            distances = keys - queries[..., None] + reach
            found = table.index_select(1, distances.flatten())
            return found.view(-1, *distances.shape).movedim(0, 1)

        asked = rows.distances.new_zeros(len(rows.ids) * firsts.most)
        asked.index_copy_(0, firsts.places, rows.distances.flatten().index_select(0, rows.firsts))
        steps = [far[reach : reach + block.mask.shape[1]] for block in rows.blocks]
        return _Biases(
            between(rows.distances, far[reach : reach + size]),
            between(asked.view(-1, firsts.most), far[reach : reach + size]),
            [between(offsets[None], offsets) for offsets in steps],
        )


def _own(states: Tensor, rows: Rows) -> list[Tensor]:
    """The states [r, longest, ...] of each block, from those of all tokens.

    All blocks are taken at once: each time, the gradient is a matrix as large as the states.
    """
    sizes = [block.mask.numel() for block in rows.blocks]
    taken = torch.split(states.index_select(0, rows.own), sizes)
    return [
        part.view(*block.mask.shape, *states.shape[1:])
        for part, block in zip(taken, rows.blocks, strict=True)
    ]


def _quotient(sums: Tensor) -> Tensor:
    """Attention's answer [tokens, H] from its sums [tokens, heads, d + 1]."""
    return (sums[..., :-1] / sums[..., -1:]).flatten(1)


def _means(hidden: Tensor, rows: Rows) -> Tensor:
    """The mean state of each hypothesis' tokens, [R, H], summed in float32 or better."""
    exact = torch.promote_types(hidden.dtype, torch.float32)
    means = hidden.new_zeros(len(rows.firsts), hidden.shape[-1], dtype=exact)
    for block, taken in zip(rows.blocks, _own(hidden, rows), strict=True):
        counted = block.mask[..., None].to(exact)
        summed = (taken.to(exact) * counted).sum(1) / counted.sum(1)
        means = means.index_copy(0, block.members, summed)
    return means.to(hidden.dtype)
