"""The reader of shell text: which commands a script would run, with which words, and what flows between them."""
