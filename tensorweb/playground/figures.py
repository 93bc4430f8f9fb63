"""The backend that matplotlib draws with in the page: figures become pictures.

matplotlib itself imports this module by the name in `bridge.FIGURES` and reads
`FigureCanvas` and `show`, so the module is first imported when matplotlib is there.
"""

from __future__ import annotations

import importlib
import sys

from tensorweb.show import show as show_value

if "matplotlib" in sys.modules:
    FigureCanvas = importlib.import_module(
        "matplotlib.backends.backend_agg"
    ).FigureCanvasAgg


def show(*args: object, **options: object) -> None:
    """Display every open figure as a picture and close it, as notebooks do."""
    pylab = importlib.import_module("matplotlib._pylab_helpers")
    for manager in pylab.Gcf.get_all_fig_managers():
        show_value(manager.canvas.figure, "figure")
    pylab.Gcf.destroy_all()
