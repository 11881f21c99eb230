#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fails on an include that breaks the table of layers.txt, that is not written from the top of the
# tree, or that names no file.
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
# shellcheck source=tests/lint/common.sh
source "$here/common.sh"

read_files cpp_files
{
  printf '%s\n' "${files[@]}"
  echo "-- includes"
  grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]' -- /dev/null "${files[@]}" || true
} | awk '
  # The longest folder of the table that holds the path; "" when none does.
  function folder_of(path,    part) {
    part = path
    while (sub(/\/[^\/]*$/, "", part)) if (part in allowed) return part
    return ""
  }
  # Whether the row of `from` has the folder `to`, or FOLDER/* of it or of one that it lies in.
  function permits(from, to,    part) {
    if (allowed[from] ~ / \* / || index(allowed[from], " " to " ")) return 1
    for (part = to; index(allowed[from], " " part "/* ") == 0;) if (!sub(/\/[^\/]*$/, "", part)) return 0
    return 1
  }
  FILENAME != "-" {
    sub(/#.*/, "")
    if ($0 !~ /:/) next
    split($0, row, ":")
    allowed[row[1]] = " " row[1] " " row[2] " "
    next
  }
  $0 == "-- includes" { including = 1; next }
  !including {
    exists[$0] = 1
    if (folder_of($0) == "") print $0 ":1: its folder has no row in tests/lint/layers.txt"
    next
  }
  {
    split($0, field, ":")
    place = field[1] ":" field[2]
    quoted = $0 ~ /include[[:space:]]*"/
    target = $0
    sub(/^[^"<]*["<]/, "", target)
    sub(/[">].*/, "", target)
    from = folder_of(field[1])
    to = folder_of(target)
    if (quoted && !(target in exists)) {
      print place ": \"" target "\" is no file of this tree; write includes from its top, and libraries in <>"
    } else if (!quoted && target in exists) {
      print place ": <" target "> is a file of this tree: write it in quotes"
    } else if (quoted && from != "" && !permits(from, to)) {
      print place ": " from " must not include " to " (" target ")"
    }
  }' "$here/layers.txt" - | report
