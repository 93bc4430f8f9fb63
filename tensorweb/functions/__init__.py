"""The functions of `tw.*`, a topic a file."""
