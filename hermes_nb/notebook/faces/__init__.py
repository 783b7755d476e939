"""How things look: HTML for a notebook, and stable text for terminals, tests and git."""
