"""A call on its way: what it is, how long it may take, and how it ends."""
