#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fails on the marks of unfinished work. The brackets keep this file free of them.
# shellcheck source=tests/lint/common.sh
source "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/common.sh"

read_files source_files '*.h' '*.cpp' '*.sh' '*.awk' '*.py' '*.cmake' '*CMakeLists.txt' '*.json' '*.md' \
  run_experiment run_tests .ci/run packages.txt
{ grep -nwE 'TO[D]O|FIX[M]E|X[X]X|HA[C]K|TB[D]' -- /dev/null "${files[@]}" || true; } | report
