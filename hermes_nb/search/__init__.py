"""Tool search: a model sees three bridge tools and finds the rest."""
