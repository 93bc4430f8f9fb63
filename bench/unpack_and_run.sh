#!/usr/bin/env bash
# On the machine with a GPU: unpacks the pieces of pack.sh once, then runs a benchmark.
#
#     unpack_and_run.sh PIECES DEST COMMAND ARGUMENT...
#
# COMMAND is kernels, page or native. A second run with the same DEST unpacks only
# update.tar.xz again. Give --out an absolute path.
set -euo pipefail

pieces=$(cd "$1" && pwd)
dest=$(mkdir -p "$2" && cd "$2" && pwd)
shift 2
if [ ! -x "$dest/node" ]; then
  cat "$pieces"/base.tar.xz.part_* | xz -dc -T0 | tar -C "$dest" -xf -
  if ! ldconfig -p | grep -q libvulkan.so.1 && [ "$(id -u)" = 0 ]; then
    for package in "$dest"/debs/*.deb; do dpkg -x "$package" /; done
    ldconfig
  fi
fi
rm -rf "$dest/site"
xz -dc "$pieces/update.tar.xz" | tar -C "$dest" -xf -
cp "$dest"/node_modules/pyodide/{pyodide.mjs,pyodide.asm.mjs,pyodide.asm.wasm,python_stdlib.zip} \
  "$dest/site/pyodide/"
wheel=$(echo "$dest"/tensorweb-*.whl)

nvidia=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
if [ -z "${VK_ICD_FILENAMES:-}${VK_DRIVER_FILES:-}" ] && [ -e "$nvidia" ]; then
  export VK_DRIVER_FILES=$nvidia VK_ICD_FILENAMES=$nvidia
fi
export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-$(mktemp -d)} PYTHONUNBUFFERED=1

command=$1
shift
[ "$command" = page ] && set -- --site "$dest/site" "$@"
if [ "$command" = native ] && [ ! -d "$dest/native" ]; then
  python3 -m pip install -q --no-index --no-deps --no-compile --no-cache-dir \
    --target "$dest/native" "$dest"/whl/*.whl "$wheel"
fi
export PYTHONPATH="$dest/native:$wheel" # a wheel is a zip that Python imports from
cd "$dest"
exec python3 -m bench "$command" --wheel "$wheel" "$@"
