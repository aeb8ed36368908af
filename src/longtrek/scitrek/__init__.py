"""SciTrek: collections, databases, SQL, templates, questions, contexts, scoring and the SQL baseline."""
