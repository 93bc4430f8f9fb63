#!/usr/bin/env bash
# Measures on an x86-64 Linux machine that has a GPU and no network.
#
#     bench/remote.sh pack OUT                      here: base.tar.xz and update.tar.xz
#     bench/remote.sh update OUT                    only update.tar.xz, seconds
#     bench/remote.sh run OUT DEST COMMAND ARGS...  there: unpack, then `bench COMMAND`
#
# base has Node, Dawn, the peers, Pyodide, the Vulkan loader and wgpu-py; update has our
# wheel, the site and these files. Packing needs what `bench kernels` installs, apt-get
# and pip. Give --out an absolute path.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
action=$1
out=$(mkdir -p "$2" && cd "$2" && pwd)

copy() { # copies files of a folder into another one: FROM TO FILE...
  local from=$1 to=$2
  shift 2
  mkdir -p "$to"
  (cd "$from" && cp -r --parents "$@" "$to")
}

pack_base() {
  local base=$1/base modules=node_modules peers=bench/node_modules
  mkdir -p "$base/debs" "$base/whl"
  cp -L "$(command -v node)" "$base/node"
  strip "$base/node" 2>/dev/null || true
  copy "$root" "$base" $modules/webgpu/{package.json,index.js,dist/linux-x64} \
    $modules/pyodide/{package.json,pyodide.mjs,pyodide.asm.mjs,pyodide.asm.wasm} \
    $modules/pyodide/{python_stdlib.zip,pyodide-lock.json} \
    $peers/@jax-js/jax/{package.json,dist} $peers/@tensorflow/tfjs-core/package.json \
    bench/js/vendor
  (cd "$base/debs" && apt-get download -qq libvulkan1 libegl1 libglvnd0 libopengl0 \
    libgl1 libglx0 libgles2 libx11-6 libxext6 libxcb1 libxau6 libxdmcp6 libbsd0 libmd0)
  python3 -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.12 \
    --implementation cp --platform manylinux_2_28_x86_64 \
    --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 \
    -d "$base/whl" wgpu==0.32.0 cffi==2.1.1 pycparser==3.12 rendercanvas==2.7.2
  tar -C "$base" -cf - . | xz -T0 -6 >"$out/base.tar.xz"
}

pack_update() {
  local update=$1/update
  mkdir -p "$update"
  python3 "$root/build.py" site --out "$update/site" >/dev/null
  # The machine takes Pyodide from base; other packages are not measured.
  find "$update/site/pyodide" -type f ! -name pyodide-lock.json -delete
  find "$update/site/wheels" -type f ! -name 'tensorweb-*' ! -name 'micropip-*' \
    ! -name 'packaging-*' -delete
  find "$update/site" -name '*.map' -delete
  cp "$update"/site/wheels/tensorweb-*.whl "$update/"
  (cd "$root" && tar -cf - --exclude=node_modules --exclude=vendor \
    --exclude=__pycache__ bench tools) | tar -C "$update" -xf -
  tar -C "$update" -cf - . | xz -T0 -6 >"$out/update.tar.xz"
}

if [ "$action" != run ]; then
  draft=$(mktemp -d)
  trap 'rm -rf "$draft"' EXIT
  [ "$action" = update ] || pack_base "$draft"
  pack_update "$draft"
  ls -l "$out"
  exit
fi

dest=$(mkdir -p "$3" && cd "$3" && pwd)
command=$4
shift 4
if [ ! -x "$dest/node" ]; then
  xz -dc -T0 "$out/base.tar.xz" | tar -C "$dest" -xf -
  if ! ldconfig -p | grep -q libvulkan.so.1 && [ "$(id -u)" = 0 ]; then
    for package in "$dest"/debs/*.deb; do dpkg -x "$package" /; done
    ldconfig
  fi
fi
rm -rf "$dest/site"
xz -dc "$out/update.tar.xz" | tar -C "$dest" -xf -
cp "$dest"/node_modules/pyodide/{*.mjs,*.wasm,python_stdlib.zip} "$dest/site/pyodide/"
wheel=$(echo "$dest"/tensorweb-*.whl)
nvidia=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
if [ -z "${VK_ICD_FILENAMES:-}${VK_DRIVER_FILES:-}" ] && [ -e "$nvidia" ]; then
  export VK_DRIVER_FILES=$nvidia VK_ICD_FILENAMES=$nvidia
fi
export XDG_RUNTIME_DIR=${XDG_RUNTIME_DIR:-$(mktemp -d)} PYTHONUNBUFFERED=1
if [ "$command" = native ] && [ ! -d "$dest/native" ]; then
  python3 -m pip install -q --no-index --no-deps --no-compile --no-cache-dir \
    --target "$dest/native" "$dest"/whl/*.whl "$wheel"
fi
export PYTHONPATH="$dest/native:$wheel" # a wheel is a zip that Python imports from
cd "$dest"
exec python3 -m bench "$command" --wheel "$wheel" --site "$dest/site" "$@"
