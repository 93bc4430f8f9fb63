"""The build: modules behind `build.py`, standard library only unless they say so."""
