"""Read products, product names and reviews from every source format.

Start with :func:`read_products`; it streams, so that a file may be larger than the memory. JSON
documents and tables with one review a row are read as a whole.
"""

from typing import TYPE_CHECKING

from prevalence.lazy import loader

if TYPE_CHECKING:
    from prevalence.readers.jsonfiles import parse_record
    from prevalence.readers.products import FORMATS, read_products
    from prevalence.readers.side_files import read_authors, read_product_names, read_reviews

__all__ = [
    "FORMATS",
    "parse_record",
    "read_authors",
    "read_product_names",
    "read_products",
    "read_reviews",
]

# Who scores texts of a program reads no file.
__getattr__ = loader(
    __name__,
    {
        "FORMATS": "prevalence.readers.products",
        "parse_record": "prevalence.readers.jsonfiles",
        "read_authors": "prevalence.readers.side_files",
        "read_product_names": "prevalence.readers.side_files",
        "read_products": "prevalence.readers.products",
        "read_reviews": "prevalence.readers.side_files",
    },
)
