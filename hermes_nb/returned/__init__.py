"""What tools return: any value as a bounded text for a model, without importing the libraries of its kind."""
