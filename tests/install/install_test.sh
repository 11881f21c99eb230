#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# install_test.sh BUILD CMAKE: installs the build tree BUILD to a DESTDIR, moves what lies there to
# another place, and fails unless the program, its manuals and completions work there, and a project
# of its own builds against the libraries.
set -euo pipefail
build=$1 cmake=$2
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
failures=0

# expect WHAT COMMAND...: the command succeeds.
expect() {
  local what=$1
  shift
  if ! "$@" >"$work/said" 2>&1; then
    echo "$what" >&2
    tail -n 20 "$work/said" >&2
    failures=$((failures + 1))
  fi
}

# says PATTERN COMMAND...: what the command prints has a line that matches.
says() {
  local pattern=$1
  shift
  "$@" >"$work/output" 2>&1 || true
  grep -qE -- "$pattern" "$work/output" || { cat "$work/output"; return 1; }
}

DESTDIR=$work/stage "$cmake" --install "$build" --prefix /opt/howard >"$work/log" || {
  cat "$work/log" >&2
  exit 1
}
moved="$work/another place"
mv "$work/stage/opt/howard" "$moved"
howard=$moved/bin/howard
cd "$work"

expect "the program runs where it was moved to" \
  "$howard" matmul_sweep --backend emulated -a shape=1024x512x2048 -a dispatch=worker --results results
expect "it leaves its result" test -s results/matmul_sweep.json
expect "it answers to its other name" says '^run_experiment: ' "$moved/bin/run_experiment" nothing
expect "messages begin with the name it was started by" says '^howard: ' "$howard" nothing
expect "help has that name" says '^  howard NAME' "$howard" --help
expect "help has no other name" bash -c '! "$1" --help | grep run_experiment' - "$howard"
expect "a profile that extends another is read from anywhere" \
  "$howard" matmul_sweep --backend emulated -a shape=256 --chip "$moved/share/howard/profiles/wormhole_b0_n150.json" --results results
# The build tree is there as well: a script that stops tells whose scripts are run.
sed -i '1i raise SystemExit("the moved script")' "$moved/lib/python3/dist-packages/howard/_peers/peer.py"
expect "engines in Python use the scripts that were moved along" says 'the moved script' \
  "$howard" mlp_engines --backend host -a engine=python -a dtype=pure_bf16 -a batch=32 --quick --results results
expect "the data is there" test -s "$moved/share/howard/data/sonnets.txt"
expect "the manual page has a name and options" \
  says '^howard .- run an experiment' cat "$moved/share/man/man1/howard.1"
if command -v man >/dev/null && [[ -n $(command -v groff) ]]; then
  expect "the manual page has no mistake" \
    bash -c '! LC_ALL=C.UTF-8 MANROFFSEQ= man --warnings -E UTF-8 -l -Tutf8 "$1" 2>&1 >/dev/null |
      grep -vE "break line|adjust line"' - \
    "$moved/share/man/man1/howard.1"
fi

# What bash would show for the line $1.
bash_completions() {
  PATH="$moved/bin:$PATH" bash --norc -c '
    compopt() { :; }
    source "$1"
    COMP_LINE=$2 COMP_POINT=${#2}
    _howard_words howard
    printf "%s\n" "${COMPREPLY[@]}"' - "$moved/share/bash-completion/completions/howard.bash" "$1"
}
expect "bash completes experiments" says '^matmul_sweep$' bash_completions 'howard mat'
expect "bash completes axes" says '^dispatch=$' bash_completions 'howard matmul_sweep -a di'
expect "bash completes values" says '^eth$' bash_completions 'howard matmul_sweep -a dispatch=e'

expect "a project finds the package" \
  "$cmake" -S "$here/consumer" -B "$work/consumer" -G Ninja "-DHoward_ROOT=$moved" -DCMAKE_BUILD_TYPE=Release
expect "a project builds against the libraries" "$cmake" --build "$work/consumer"
expect "a project in C asks the shared object" says '^655360$' "$work/consumer/ask"
expect "a project in C++ asks the library" says '^655360$' "$work/consumer/ask_cpp"
kernel=$(grep -o '"kernel_time": {[^}]*' results/matmul_sweep.json | head -n 1)
expect "a project gets the program's times" says '^matmul [1-9][0-9]+$' "$work/consumer/consumer"
echo "kernel time of the program: $kernel; of the project: $("$work/consumer/consumer")"
exit $((failures > 0))
