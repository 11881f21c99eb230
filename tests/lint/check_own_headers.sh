#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fails when a source does not include its own header first, or a header may be included twice. A header
# whose source includes it first cannot lean on what others include: the source would not compile.
# shellcheck source=tests/lint/common.sh
source "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/common.sh"

read_files source_files '*.h' '*.cpp'
{
  printf '%s\n' "${files[@]}"
  # A file without such a line is in the list above all the same.
  grep -nE '^#(include |pragma once$)' -- /dev/null "${files[@]}" || true
} | awk '
  {
    file = $0
    if (!sub(/:[0-9]+:#.*/, "", file)) { listed[++count] = $0; exists[$0] = 1; next }
    line = $0
    sub(/^[^:]*:[0-9]+:/, "", line)
    if (line == "#pragma once") once[file] = 1
    else if (!(file in first)) first[file] = line
  }
  END {
    for (i = 1; i <= count; ++i) {
      file = listed[i]
      own = file
      if (file ~ /\.h$/) {
        if (!(file in once)) print file ":1: there is no #pragma once"
      } else if (sub(/\.cpp$/, ".h", own) && own in exists && first[file] != "#include \"" own "\"") {
        print file ":1: the first include is not \"" own "\""
      }
    }
  }' | report
