"""How the kernel and the page in the browser speak with each other: what every widget stands on."""
