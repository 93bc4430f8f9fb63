/** Which tensors have a picture, and the slice that it shows before the reader chooses one. */

import { planeOf } from "./axes";
import type { Details } from "../../page/messages";
import type { TensorRecord } from "../../page/protocol";

/** Whether a tensor has enough values for a picture. */
export function isPicture({ size, shape, problem }: TensorRecord): boolean {
  return !problem && shape.length > 0 && size > 1;
}

/** The default slice. */
export function wholeOf({ id, shape, channels, coloured }: TensorRecord): Details<"heatmap"> {
  const mixed = coloured ? channels : null;
  return { tensor: id, ...planeOf(shape, mixed), indices: shape.map(() => 0), how: "mean", size: "small", channels: mixed };
}
