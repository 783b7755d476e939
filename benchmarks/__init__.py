"""Measurements: ratios against peers, run side by side."""
