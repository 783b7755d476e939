"""What everything else may use: it knows nothing of tools, sessions or notebooks."""
