"""A tensor drawn by pygfx from the buffer that its kernel wrote, without a copy.

`python -m consumers.drawn_by_pygfx [FILE.npy]` draws a spiral into an image in memory.
pygfx opens the GPU; tensorweb computes on the same device.
"""

from __future__ import annotations

import sys

import numpy as np
import pygfx
import wgpu
from rendercanvas.offscreen import RenderCanvas

import tensorweb as tw

SIZE = 256

USAGE = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_DST


def spiral(rounds: float, points: int) -> tw.Tensor:
    """Return points in a plane, shape (points, 3), computed on the GPU."""
    angle = tw.linspace(0, 2 * tw.pi * rounds, points, device="webgpu")
    radius = tw.linspace(0, 1, points, device="webgpu")
    flat = 0 * angle
    return tw.stack([radius * tw.cos(angle), radius * tw.sin(angle), flat], axis=1)


def positions_of(points: tw.Tensor) -> pygfx.Buffer:
    """Return the buffer of pygfx that is the buffer of a tensor."""
    buffer = pygfx.Buffer(
        nbytes=points.nbytes, nitems=len(points), format="3xf4", usage=USAGE
    )
    buffer._wgpu_object = points.gpu_buffer  # pygfx has no public name for it
    return buffer


def draw(points: tw.Tensor) -> np.ndarray:
    """Return an image of the points, shape (256, 256, 4), dtype uint8."""
    canvas = RenderCanvas(size=(SIZE, SIZE), pixel_ratio=1)
    renderer = pygfx.renderers.WgpuRenderer(canvas)
    scene = pygfx.Scene()
    material = pygfx.PointsMaterial(size=5, color="#4af")
    scene.add(pygfx.Points(pygfx.Geometry(positions=positions_of(points)), material))
    camera = pygfx.OrthographicCamera(2.2, 2.2)
    canvas.request_draw(lambda: renderer.render(scene, camera))
    return np.asarray(canvas.draw())


def main() -> None:
    """Draw a spiral, and say how much of the image it covers."""
    tw.use_device(pygfx.renderers.wgpu.get_shared().device)
    image = draw(spiral(4, 2000))
    if len(sys.argv) > 1:
        np.save(sys.argv[1], image)
    covered = (image[..., 2] > 128).mean()
    print(f"a spiral covers {covered:.0%} of {SIZE} by {SIZE} pixels")


if __name__ == "__main__":
    main()
