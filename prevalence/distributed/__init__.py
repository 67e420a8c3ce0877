"""Scoring on a Ray cluster: the package's own engine in many workers, one ordered stream of rows.

A file is cut into splits of whole records. A worker reads, scores and answers a split as a whole,
so that one which dies takes nothing half done with it; the driver sees rows and no review.
"""

from prevalence.distributed.cluster import Cluster
from prevalence.distributed.engine import DistributedEngine
from prevalence.distributed.parts import PartsWriter, finished_count, finished_parts, part_rows
from prevalence.distributed.reading import Reading
from prevalence.distributed.splits import Split, plan_splits

__all__ = [
    "Cluster",
    "DistributedEngine",
    "PartsWriter",
    "Reading",
    "Split",
    "finished_count",
    "finished_parts",
    "part_rows",
    "plan_splits",
]
