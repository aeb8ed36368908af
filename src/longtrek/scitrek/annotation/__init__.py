"""Human annotation (Section 3.4 and Table 6): questions put to people, and their answers read back."""
