#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fails when a source does not include its own header first, or a header may be included twice. A header
# whose source includes it first cannot lean on what others include: the source would not compile.
# shellcheck source=tests/lint/common.sh
source "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/common.sh"

# first_include FILE: the first include of a source, as it is written.
first_include() { grep -m 1 '^#include ' "$1" || true; }

read_files source_files '*.h' '*.cpp'
for file in "${files[@]}"; do
  if [[ $file == *.h ]]; then
    grep -q '^#pragma once$' "$file" || echo "$file:1: there is no #pragma once"
  elif [[ -f ${file%.cpp}.h && $(first_include "$file") != "#include \"${file%.cpp}.h\"" ]]; then
    echo "$file:1: the first include is not \"${file%.cpp}.h\""
  fi
done | report
