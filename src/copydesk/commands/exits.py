"""Exit codes of the commands, as documented. Knows nothing else."""

DONE, FAILED, WRONG_USAGE, ROWS_FAILED, INTERRUPTED = 0, 1, 2, 3, 130
