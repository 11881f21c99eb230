#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fails when clang-format 14 would change a source.
# shellcheck source=tests/lint/common.sh
source "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/common.sh"

if ! command -v clang-format-14 >/dev/null; then
  echo "skipped: clang-format-14 is missing; other versions format differently" >&2
  exit 77
fi
read_files cpp_files
# It prints three lines for each place; one line for each file is enough to know what to run.
if findings=$(clang-format-14 --style=file --dry-run --Werror -- "${files[@]}" 2>&1); then exit 0; fi
sed -nE 's|^([^:]+:[0-9]+):[0-9]+: error: .*|\1: run clang-format-14 -i on this file|p' <<<"$findings" |
  sort -u -t: -k1,1 | report
echo "clang-format-14 failed: $findings" >&2
exit 1
