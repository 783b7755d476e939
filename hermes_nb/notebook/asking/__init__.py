"""Asking the person at the notebook whether a call may run."""
