"""The built-in tools, one module a family; each registers itself when it is imported."""
