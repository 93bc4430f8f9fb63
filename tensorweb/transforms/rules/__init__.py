"""How a cotangent goes back through each operation: a rule per row of the op table."""
