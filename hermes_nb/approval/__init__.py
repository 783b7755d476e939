"""Approval: what is dangerous about a call, who decides, and what is remembered."""
