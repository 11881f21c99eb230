#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fails when a source does not begin with its licence (a script: on the line after the interpreter).
# shellcheck source=tests/lint/common.sh
source "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/common.sh"

read_files source_files '*.h' '*.cpp' '*.sh' '*.awk' '*.py' run_experiment run_tests .ci/run
for file in "${files[@]}"; do
  first='' second=''
  { IFS= read -r first && IFS= read -r second; } <"$file" || true
  [[ $first != '#!'* ]] || first=$second
  case $first in
    '// SPDX-License-Identifier: Apache-2.0' | '# SPDX-License-Identifier: Apache-2.0') ;;
    *) echo "$file:1: the first line is not \"SPDX-License-Identifier: Apache-2.0\" in a comment" ;;
  esac
done | report
