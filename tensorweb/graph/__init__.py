"""The graph: operations as rows, nodes as their uses; nothing is computed here."""
