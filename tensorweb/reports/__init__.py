"""Reports of tensors and of runs, as HTML files that need no server or network."""
