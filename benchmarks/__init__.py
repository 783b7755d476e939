"""Benchmarks: ratios against peers, run side by side. Nothing here is a test."""
