"""SciTrek's questions: 387 templates, filled in, said in English by two writers, and read back."""
