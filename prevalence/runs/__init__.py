"""What the commands share that make rows of records: selecting, resuming, running."""
