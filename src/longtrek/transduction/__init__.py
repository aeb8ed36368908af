"""Long-Transduction: documents generated from seeds, and the rules that score answers record by record."""
