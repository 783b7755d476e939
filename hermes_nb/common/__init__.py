"""What every part may use, and what knows of none of them."""
