"""From products to scored summaries."""
