#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check.sh RUN_EXPERIMENT: every virtual time of every experiment is the recorded one, to the
# picosecond. They are the same in every build type and on every machine, so that a change of them
# is a decision, with its reason in its commit.
set -euo pipefail
program=$(readlink -f -- "$1")
cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.."
readonly baseline=tests/baseline/virtual_times.txt

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
if ! "$program" all --backend emulated --results "$work" --times "$work/times.txt" --no-progress \
    >"$work/log" 2>&1; then
  cat "$work/log" >&2
  exit 1
fi
"$program" compare --strict "$baseline" "$work/times.txt" || {
  status=$?
  cat >&2 <<TEXT

Virtual time is not what $baseline says. When that is meant, record it anew with

  ./run_experiment all --backend emulated --times $baseline

and give the reason in the commit.
TEXT
  exit "$status"
}
