"""The report: a folder of pages that open from disk, with every figure, table, claim, model and answer of a run."""
