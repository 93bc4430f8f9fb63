"""The matplotlib backend of the page: Agg, with a `show` that displays pictures.

matplotlib imports this module by its name (`rich.BACKEND`) and uses these names.
Without matplotlib there is no canvas.
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
