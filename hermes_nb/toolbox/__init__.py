"""Tools: what one is, how it is declared and found, and the registry that holds them."""
