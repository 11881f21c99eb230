#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# hostile_environment.sh BUILD: what the program prints of virtual times, and the cheap tests, do not depend on the
# environment. It compares output under a hostile one with that under a bare one, from a path with a space, and
# runs ctest there too. With tests of your own: hostile_environment.sh BUILD -R NAME; the whole suite: -E '^$'.
set -euo pipefail
build=$(readlink -f -- "${1:?the build folder}")
shift
tests=("$@")
((${#tests[@]} > 0)) || tests=(-R '^(Environment|TerminalText|File|Command|TableCsv|Csv)[.]|^completion[.]bash$')

place=$(mktemp -d)
trap 'rm -rf -- "$place"' EXIT
mkdir "$place/a b"
ln -s "$build/harness/cli/run_experiment" "$place/a b/run_experiment"

hostile=(OPENBLAS_CORETYPE=Haswell OPENBLAS_L2_SIZE=512 OPENBLAS_NUM_THREADS=1 BLIS_ARCH_TYPE=generic
  OMP_NUM_THREADS=1 OMP_PROC_BIND=true
  MKL_NUM_THREADS=1 MKL_CBWR=COMPATIBLE ONEDNN_MAX_CPU_ISA=SSE41
  ATEN_CPU_CAPABILITY=default LC_ALL=tr_TR.UTF-8 LANG=de_DE.UTF-8 LANGUAGE=tr TZ=Asia/Kathmandu COLUMNS=40 LINES=10
  NO_COLOR=1 CLICOLOR_FORCE=1 CI=true GITHUB_ACTIONS=true TERM=dumb PYTHONHASHSEED=7 GTEST_BRIEF=1
  TT_METAL_HOME=/nowhere "TMPDIR=$place/a b")

# prints WORD...: what the program prints in the environment of the array `variables`, and its status.
prints() {
  local status=0
  (cd "$place/a b" && env -i PATH=/usr/bin:/bin "${variables[@]}" ./run_experiment "$@" 2>&1) || status=$?
  echo "status $status"
}

failed=0
while read -r -a words; do
  variables=(LC_ALL=C.UTF-8)
  calm=$(prints "${words[@]}")
  variables=("${hostile[@]}")
  if ! difference=$(diff <(echo "$calm") <(prints "${words[@]}")); then
    failed=1
    printf 'run_experiment %s depends on the environment:\n%s\n' "${words[*]}" "$difference" >&2
  fi
done <<'LINES'
--version
--help
list
matmul_sweep --backend emulated --quick
inference --backend emulated --quick
explain matmul_sweep -a shape=512x512x512
matmul_sweep -a shape=0
LINES

# ctest gives tests an environment of their own and does not pass on its own (tests/environment.cmake).
env -i PATH="$PATH" "${hostile[@]}" ctest --test-dir "$build" --output-on-failure --timeout 300 \
  --no-tests=error -Q -O "$place/log" "${tests[@]}" || {
  failed=1
  cat -- "$place/log" >&2
}
if ((failed == 0)); then echo "nothing depends on the environment"; fi
exit "$failed"
