#!/usr/bin/env bash
# Packs the benchmarks for an x86-64 Linux machine with a GPU and no network: Node, the
# peers, Pyodide, the Vulkan loader, wgpu-py (base.tar.xz.part_*), and what changes with
# every commit: our wheel, the page, these files (update.tar.xz).
#
#     bench/pack.sh OUT          everything, about two minutes
#     bench/pack.sh OUT update   only update.tar.xz, seconds
#
# Needs what `python3 build.py bench kernels` installs, Debian's apt-get and pip.
# SITE names a built site to take; without it the site is built fresh.
set -euo pipefail

out=$(mkdir -p "$1" && cd "$1" && pwd)
part=${2:-all}
root=$(cd "$(dirname "$0")/.." && pwd)
draft=$(mktemp -d)
trap 'rm -rf "$draft"' EXIT

debs="libvulkan1 libegl1 libglvnd0 libopengl0 libgl1 libglx0 libgles2 libx11-6 libxext6
  libxcb1 libxau6 libxdmcp6 libbsd0 libmd0"

copy() { # copies files of a package folder, keeping their place: FROM TO FILE...
  local from=$1 to=$2
  shift 2
  mkdir -p "$to"
  (cd "$from" && cp -r --parents "$@" "$to")
}

pack_base() {
  local base=$draft/base modules=$root/node_modules peers=$root/bench/node_modules
  mkdir -p "$base/debs" "$base/whl"
  cp -L "$(command -v node)" "$base/node"
  strip "$base/node" 2>/dev/null || true
  copy "$modules/webgpu" "$base/node_modules/webgpu" package.json index.js dist/linux-x64
  copy "$modules/pyodide" "$base/node_modules/pyodide" package.json pyodide.mjs \
    pyodide.asm.mjs pyodide.asm.wasm python_stdlib.zip pyodide-lock.json
  copy "$peers/@jax-js/jax" "$base/bench/node_modules/@jax-js/jax" package.json dist
  find "$base/bench/node_modules" -name '*.cjs' -delete
  copy "$peers/@tensorflow/tfjs-core" \
    "$base/bench/node_modules/@tensorflow/tfjs-core" package.json
  copy "$peers/onnxruntime-web" "$base/bench/node_modules/onnxruntime-web" package.json \
    dist/ort.webgpu.min.mjs dist/ort-wasm-simd-threaded.asyncify.mjs \
    dist/ort-wasm-simd-threaded.asyncify.wasm
  copy "$peers/onnxruntime-common" "$base/bench/node_modules/onnxruntime-common" \
    package.json dist/esm
  copy "$root/bench/js" "$base/bench/js" vendor
  # shellcheck disable=SC2086  # a list of names
  (cd "$base/debs" && apt-get download -qq $debs 2>/dev/null)
  python3 -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.12 \
    --implementation cp --platform manylinux_2_28_x86_64 \
    --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 \
    -d "$base/whl" wgpu==0.32.0 cffi==2.1.1 pycparser==3.12 rendercanvas==2.7.2
  rm -f "$out"/base.tar.xz.part_*
  tar -C "$base" -cf - . | xz -T0 -6 | split -b 50M - "$out/base.tar.xz.part_"
}

pack_update() {
  local update=$draft/update site=${SITE:-$draft/site}
  mkdir -p "$update"
  [ -n "${SITE:-}" ] || python3 "$root/build.py" site --out "$site" >/dev/null
  cp -r "$site" "$update/site"
  # The machine takes Pyodide from base; NumPy and others are not measured.
  find "$update/site/pyodide" -type f ! -name pyodide-lock.json -delete
  find "$update/site/wheels" -type f ! -name 'tensorweb-*' ! -name 'micropip-*' \
    ! -name 'packaging-*' -delete
  find "$update/site" -name '*.map' -delete
  cp "$update"/site/wheels/tensorweb-*.whl "$update/"
  (cd "$root" && tar -cf - --exclude=node_modules --exclude=vendor \
    --exclude=__pycache__ bench tools) | tar -C "$update" -xf -
  tar -C "$update" -cf - . | xz -T0 -6 >"$out/update.tar.xz"
}

[ "$part" = update ] || pack_base
pack_update
ls -l "$out"
