"""Meta-evaluation: which metric agrees with people, and whether people agree with each other."""
