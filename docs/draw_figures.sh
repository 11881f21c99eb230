#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Draws every figure of docs/ again, from runs of the program that it is given:
#   docs/draw_figures.sh build/release/harness/cli/run_experiment
# The figure of matmul_sweep has points of this machine's CPU, which take half a minute. With
# --emulated it is drawn without them.
set -euo pipefail
program=$(realpath "${1:?the program, for example build/release/harness/cli/run_experiment}")
docs=$(cd "$(dirname "$0")" && pwd)
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
backend=()
[ "${2:-}" = --emulated ] && backend=(--backend emulated)

"$program" matmul_sweep "${backend[@]}" --results "$results" > /dev/null
cp "$results/matmul_sweep.png" "$docs/matmul_sweep.png"

"$program" matmul_sweep --backend emulated -a shape=512,1024,2048,4096 -a dispatch=worker \
    --set dram.read.noc1=20..200:10GB/s --results "$results" > /dev/null
cp "$results/matmul_sweep.png" "$docs/dram_sweep.png"
