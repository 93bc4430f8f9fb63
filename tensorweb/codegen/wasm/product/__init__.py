"""The product of matrices: operands packed, panels multiplied, results finished."""
