"""Ten situations in which a memory shows what it is worth, run on memories by others; README.md shows the outcome."""
