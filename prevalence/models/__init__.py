"""Opening checkpoints, and the weights that ship with the package."""
