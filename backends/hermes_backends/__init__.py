"""Terminal backends."""
