"""The notebook surface: magics and widgets."""
