#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fails on a header over 300 lines, a source over 500, a function over 60 (signature and body), and
# on an exception of size_exceptions.txt that nothing needs.
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
# shellcheck source=tests/lint/common.sh
source "$here/common.sh"

exceptions=tests/lint/size_exceptions.txt
[[ -f $exceptions ]] || exceptions=/dev/null
read_files cpp_files
awk -f "$here/function_sizes.awk" -- "${files[@]}" | awk -v table="$exceptions" '
  FILENAME == table {
    if ($0 ~ /^[[:space:]]*(#|$)/) next
    if ($0 !~ /^[^ ]+ [0-9]+ +# ./) print table ":" FNR ": not \"FILE[:FUNCTION] LINES  # reason\""
    limit[$1] = $2
    next
  }
  # Rows: line, lines, default limit, name (FILE or FILE:FUNCTION), what it is.
  {
    name = $4
    most = name in limit ? limit[name] : $3
    used[name] = used[name] || $2 > $3
    file = name
    sub(/:.*/, "", file)
    if ($2 > most) print file ":" $1 ": " $5 " has " $2 " lines, at most " most
  }
  END {
    for (name in limit) if (!used[name]) print table ": " name " needs no exception"
  }' "$exceptions" - | report
