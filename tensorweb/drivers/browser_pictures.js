// Decoding pictures as the browser does, without a change of their colours.

(() => {
  "use strict";

  /**
   * @param {PythonBuffer} bytes a file @param {string} type what it is
   * @returns {Promise<{width: number, height: number, data: Uint8ClampedArray}>}
   *   red, green, blue and alpha of each pixel
   */
  async function decode(bytes, type) {
    const view = bytes.getBuffer();
    let file;
    try {
      file = new Blob([view.data], { type });
    } finally {
      view.release();
    }
    const bitmap = await createImageBitmap(file, {
      premultiplyAlpha: "none",
      colorSpaceConversion: "none",
    });
    try {
      const { width, height } = bitmap;
      const canvas = new OffscreenCanvas(width, height);
      const context = canvas.getContext("2d", { willReadFrequently: true });
      if (!context) throw new Error(`no canvas of ${width} x ${height} pixels`);
      context.drawImage(bitmap, 0, 0);
      return { width, height, data: context.getImageData(0, 0, width, height).data };
    } finally {
      bitmap.close();
    }
  }

  return () => decode;
})();
