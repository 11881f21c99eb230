# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the checks share. A check is called with the root of a source tree, prints one line
# "file:line: what is wrong" for each finding and fails when there is one.
set -euo pipefail

cd -- "${1:?the root of the source tree}"

# The files of the tree by name pattern ("*.h"), relative, one a line: tracked and new ones in a git
# clone, all outside of one. Names with a newline are not supported.
source_files() {
  local top pattern find_names=()
  top=$(git -c safe.directory='*' rev-parse --show-toplevel 2>/dev/null || true)
  if [[ $top == "$PWD" ]]; then
    git -c safe.directory='*' -c core.quotePath=off ls-files -co --exclude-standard --deduplicate -- "$@" |
      while IFS= read -r file; do [[ ! -f $file ]] || printf '%s\n' "$file"; done
    return
  fi
  for pattern in "$@"; do find_names+=(-o -name "$pattern"); done
  find . -path ./build -prune -o -path ./.git -prune -o -type f '(' "${find_names[@]:1}" ')' -print |
    sed 's|^\./||' | sort
}

cpp_files() { source_files '*.h' '*.cpp'; }

# Fills the array `files` with the output of a command; no files at all means a broken check.
read_files() {
  mapfile -t files < <("$@")
  if ((${#files[@]} == 0)); then
    echo "no source files in $PWD" >&2
    exit 1
  fi
}

# Prints the findings on standard input and fails when there are any.
report() {
  local findings
  findings=$(cat)
  [[ -n $findings ]] || return 0
  printf '%s\n' "$findings" >&2
  return 1
}
