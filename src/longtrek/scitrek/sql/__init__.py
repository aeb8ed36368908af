"""SciTrek's SQL: databases, a translation that makes DuckDB answer as SQLite does, the sandbox, orders of answers."""
