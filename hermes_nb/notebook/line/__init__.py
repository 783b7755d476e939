"""What is typed after ``%hermes``: words, Python in braces, and a tool's arguments."""
