"""The other languages that a command may carry: what Python code and SQL statements would do."""
