"""The search engine: words in, ranked documents out. It knows nothing of sessions or registries."""
