"""Values kept across runs, for metrics whose computation costs more than looking them up."""

from __future__ import annotations

import hashlib
import json
import struct
from typing import TYPE_CHECKING

import numpy as np

from prevalence.baselines.protocol import Metric, WrappedMetric
from prevalence.nli.cache import PairCache
from prevalence.signature import package_version

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from prevalence.baselines.protocol import Example, Progress

__all__ = ["CachedMetric", "ValueCache"]


class ValueCache(PairCache):
    """Stored values of metrics, one float64 each; what holds for pairs holds for them."""

    file_name = "values-v1.sqlite"
    layout = struct.Struct("<d")


class CachedMetric(WrappedMetric[Metric]):
    """A metric that asks the cache first and stores what it had to compute.

    A key is a digest of the metric's name and signature, of the package's version, and of the
    texts that the metric reads, so an entry never goes stale.

    Attributes:
        hits: values answered by the cache so far.
    """

    def __init__(self, inner: Metric, cache: ValueCache) -> None:
        super().__init__(inner)
        self._cache = cache
        self.hits = 0

    def score(
        self, examples: Sequence[Example], *, progress: Progress | None = None
    ) -> NDArray[np.float64]:
        """Score examples; see :meth:`prevalence.baselines.protocol.Metric.score`."""
        keys = [self._key(example) for example in examples]
        stored = self._cache.get(keys)
        values = np.array([stored.get(key, (np.nan,))[0] for key in keys], np.float64)
        absent = [place for place, key in enumerate(keys) if key not in stored]
        self.hits += len(keys) - len(absent)
        if progress is not None and len(absent) < len(keys):
            progress(len(keys) - len(absent))
        if absent:
            fresh = self._inner.score([examples[place] for place in absent], progress=progress)
            values[absent] = fresh
            known = zip(absent, fresh.tolist(), strict=True)
            # An undefined value is asked again next time.
            self._cache.put({keys[place]: (v,) for place, v in known if np.isfinite(v)})
        return values

    def _key(self, example: Example) -> bytes:
        content = [
            package_version(),
            self.name,
            dict(self.signature),
            example.summary,
            example.reviews if "reviews" in self.needs else (),
            example.references if "reference" in self.needs else (),
        ]
        data = json.dumps(content, ensure_ascii=True, sort_keys=True).encode()
        return hashlib.blake2b(data, digest_size=16).digest()
