"""The claims of the two papers: listed in `config/claims.csv`, computed by the functions here, and judged."""
