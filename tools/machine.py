"""Find or install what tests need from the operating system: a browser and Vulkan."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from tools.process import BuildError, status

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
VULKAN_DRIVERS = ("/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d")


def chromium() -> str | None:
    """Return the browser: `TENSORWEB_CHROMIUM`, else the first on the path."""
    named = os.environ.get("TENSORWEB_CHROMIUM")
    return named or next(filter(None, map(shutil.which, BROWSERS)), None)


def has_vulkan() -> bool:
    """Tell whether Linux has a Vulkan driver; other systems bring their own API."""
    if sys.platform != "linux":
        return True
    return any(any(Path(folder).glob("*.json")) for folder in VULKAN_DRIVERS)


def prepare() -> None:
    """Install the missing ones on Debian and its kin when allowed to.

    Raises:
        BuildError: something is missing and cannot be installed from here.
    """
    missing = _missing()
    if not missing:
        return
    apt = shutil.which("apt-get")
    command = f"apt-get install -y --no-install-recommends {' '.join(missing)}"
    if apt and os.name == "posix" and os.geteuid() == 0:
        print(f"installing {' '.join(missing)}", flush=True)
        env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        status([apt, "-qq", "update"], env=env)
        status([apt, *command.split()[1:], "-qq"], env=env)
        missing = _missing()
    if not missing:
        return
    advice = f"\n\n    sudo apt-get update && sudo {command}\n" if apt else ""
    raise BuildError(
        f"the tests need {' and '.join(missing)}; install with your system's package "
        f"manager, or name a browser in TENSORWEB_CHROMIUM{advice}"
    )


def _missing() -> list[str]:
    """Return the Debian packages that would supply what is not there."""
    needs = {"chromium": chromium(), "mesa-vulkan-drivers": has_vulkan()}
    return [package for package, present in needs.items() if not present]
