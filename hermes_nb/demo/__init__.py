"""The tour, for whoever has just installed the package: in JupyterLab, or in a terminal."""
