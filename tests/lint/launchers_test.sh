#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# launchers_test.sh ROOT: runs ROOT's launchers in a small stand-in tree, with stand-ins for the
# package tools, and fails when one breaks its contract: install only what is missing, build, then
# run the program with arguments, streams, folder and exit status untouched.
set -euo pipefail
root=$1
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
tree="$work/ho ward"
failures=0

# expect WHAT EXPECTED ACTUAL
expect() {
  if [[ $2 != "$3" ]]; then
    printf '%s\n  expected: %q\n  actual:   %q\n' "$1" "$2" "$3" >&2
    failures=$((failures + 1))
  fi
}

mkdir -p "$tree"/{cmake,harness/cli} "$work"/{tools,elsewhere}
cp "$root"/{run_experiment,run_tests,packages.txt,CMakePresets.json} "$tree"
cp "$root/cmake/launcher.sh" "$tree/cmake"
cat >"$tree/CMakeLists.txt" <<'FILE'
cmake_minimum_required(VERSION 3.22)
project(stand_in CXX)
option(HOWARD_TESTS "" ON)
add_subdirectory(harness/cli)
add_custom_target(python_module COMMAND ${CMAKE_COMMAND} -E touch module_was_built)
if(HOWARD_TESTS)
  enable_testing()
  add_test(NAME stand_in COMMAND run_experiment)
endif()
FILE
cat >"$tree/harness/cli/CMakeLists.txt" <<'FILE'
file(GLOB sources CONFIGURE_DEPENDS *.cpp)
add_executable(run_experiment ${sources})
FILE
cat >"$tree/harness/cli/main.cpp" <<'FILE'
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
int main(int count, char** words) {
  for (int i = 1; i < count; ++i) std::printf("[%s]", words[i]);
  for (int c; (c = std::getchar()) != EOF;) std::putchar(c);
  char folder[4096];
  std::printf(" in %s", getcwd(folder, sizeof folder));
  if (std::getenv("SHOWS_LAUNCHER")) std::printf(" by %s", std::getenv("HOWARD_LAUNCHER"));
  return count > 1 ? 7 : 0;
}
FILE

# The package tools keep the names of installed packages in one file and what apt-get was told in
# another; sudo runs what it is given. If there is a file of its errors, apt-get prints them and fails.
cat >"$work/tools/dpkg-query" <<'FILE'
#!/bin/bash
sed 's/^/installed /' "$TOOLS_STATE/installed"
FILE
cat >"$work/tools/apt-get" <<'FILE'
#!/bin/bash
echo "apt-get talks on stdout"
[[ " $* " != *" update "* ]] || exit 0
if [[ -e $TOOLS_STATE/errors ]]; then cat "$TOOLS_STATE/errors"; exit 100; fi
while [[ $1 != install ]]; do shift; done
for word in "${@:2}"; do
  [[ $word == --* ]] || echo "$word" | tee -a "$TOOLS_STATE/installed" >>"$TOOLS_STATE/asked"
done
FILE
printf '#!/bin/bash\nexec "$@"\n' >"$work/tools/sudo"
chmod +x "$work"/tools/*
export TOOLS_STATE=$work PATH=$work/tools:$PATH

# All packages of the first section but libfmt-dev, with another gnuplot than the one we install.
sed -n '/^\[/q; s/^\([a-z0-9.+-]\+\).*/\1/p' "$tree/packages.txt" | grep -vxE 'libfmt-dev|gnuplot-nox' >"$work/installed"
echo gnuplot-qt >>"$work/installed"

cd -- "$work/elsewhere"
status=0
output=$(echo words | "$tree/run_experiment" -a 'b c' '' 2>"$work/log") || status=$?
expect "first run: status" 7 "$status"
expect "first run: output" "[-a][b c][]words
 in $work/elsewhere" "$output"
expect "first run: packages" libfmt-dev "$(cat "$work/asked")"

ln -s "../ho ward/run_experiment" link
output=$(./link </dev/null 2>&1)
expect "second run, by a link: says nothing of its own" " in $work/elsewhere" "$output"

# The Python module is built when the program asks for it, and later because it is there.
module=$tree/build/release/module_was_built
launcher=$(SHOWS_LAUNCHER=1 ./link </dev/null 2>&1)
expect "the program knows its launcher" " in $work/elsewhere by $tree/run_experiment" "$launcher"
expect "no run has built the Python module" "" "$(ls "$module" 2>/dev/null)"
output=$(HOWARD_BUILD=python_module "${launcher#* by }" -a 2>"$work/log" </dev/null)
expect "a build on request: runs nothing" "" "$output"
expect "a build on request: says why" 1 "$(grep -c '^run_experiment: .*first one to need the Python module$' "$work/log")"
expect "a build on request: builds" "$module" "$(ls "$module")"
rm "$module"
mkdir -p "$tree/build/release/python/howard"
touch "$tree/build/release/python/howard/_native.pyi"
./link </dev/null >"$work/log" 2>&1
expect "its description is not the module" "" "$(ls "$module" 2>/dev/null)"
touch "$tree/build/release/python/howard/_native.cpython-311.so"
./link </dev/null >"$work/log" 2>&1
expect "what was asked for once is kept up to date" "$module" "$(ls "$module")"
rm -r "$tree/build/release/python"

rm "$work/asked"
output=$("$tree/run_tests" --show-only 2>"$work/log")
expect "run_tests: packages" libgtest-dev "$(paste -sd' ' "$work/asked")"
expect "run_tests: passes its arguments to ctest" 1 "$(grep -c '^Total Tests: 1$' <<<"$output")"
expect "run_tests: warnings are no errors" 0 \
  "$(grep -c 'HOWARD_WARNINGS_AS_ERRORS.*=ON' "$tree/build/tests/CMakeCache.txt")"

rm "$work/asked"
output=$("$tree/run_tests" --strict --show-only 2>"$work/log")
expect "run_tests --strict: packages" clang-format-14 "$(paste -sd' ' "$work/asked")"
expect "run_tests --strict: passes the others to ctest" 1 "$(grep -c '^Total Tests: 1$' <<<"$output")"
expect "run_tests --strict: warnings are errors" 1 \
  "$(grep -c 'HOWARD_WARNINGS_AS_ERRORS.*=ON' "$tree/build/ci/CMakeCache.txt")"

# A build of one preset holds up nobody who wants another one, and another one of the same preset waits.
exec {tests_lock}>"$tree/build/.lock_tests"
flock "$tests_lock"
expect "while the tests are built" " in $work/elsewhere" "$(timeout 60 ./link </dev/null 2>&1 {tests_lock}>&-)"
exec {tests_lock}>&- {release_lock}>"$tree/build/.lock_release"
flock "$release_lock"
status=0
timeout 3 ./link </dev/null >"$work/log" 2>&1 {release_lock}>&- || status=$?
exec {release_lock}>&-
expect "while the same is built: waits" "124 link: waiting for another launcher that is building build/release" \
  "$status $(cat "$work/log")"

mv "$tree" "$work/moved"
tree=$work/moved
output=$("$tree/run_experiment" </dev/null 2>/dev/null)
expect "moved tree" " in $work/elsewhere" "$output"

echo 'int broken = "text";' >>"$tree/harness/cli/main.cpp"
status=0
output=$("$tree/run_experiment" </dev/null 2>"$work/log") || status=$?
expect "broken source: status" 1 "$status"
expect "broken source: no output" '' "$output"
expect "broken source: the compiler's words" 1 "$(grep -c 'main.cpp:12:.*error' "$work/log")"

# What apt-get cannot do. Without a network it has an error for each package, of which a few say enough.
sed -i '/^libfmt-dev$/d' "$work/installed"
rm -r "$tree/build"
install="run_experiment: installing with $([[ $EUID -eq 0 ]] || echo 'sudo ')apt-get: libfmt-dev"
failed="run_experiment: apt-get failed (all it said is in $tree/build/packages.log); by hand: apt-get install\
 --no-install-recommends libfmt-dev"
for ((i = 0; i < 9; ++i)); do echo "E: Failed to fetch $i"; done >"$work/errors"
expect "no network" "$(printf '%s\n' "$install" "E: Failed to fetch "{0,1,2} "$failed")" \
  "$("$tree/run_experiment" 2>&1 </dev/null || true)"
echo "E: Unable to locate package libfmt-dev" >"$work/errors"
expect "unknown release" "$(printf '%s\n' "$install" "E: Unable to locate package libfmt-dev" \
  "run_experiment: this release lacks: libfmt-dev; Howard needs Debian 12 or 13, Ubuntu 22.04 or 24.04, or these\
 packages by other means" "$failed")" "$("$tree/run_experiment" 2>&1 </dev/null || true)"
rm "$work/errors"

# A system without dpkg and cmake.
mkdir "$work/few"
for tool in bash readlink mkdir flock sed; do ln -s "$(command -v "$tool")" "$work/few"; done
expect "no Debian" "run_experiment: no Debian system: packages.txt names what has to be installed
run_experiment: cmake is missing: packages.txt names what has to be installed" \
  "$(PATH=$work/few "$tree/run_experiment" 2>&1 </dev/null || true)"

# Without root and without sudo.
printf '#!/bin/bash\nexit 1\n' >"$work/tools/sudo"
rm -r "$tree/build"
chmod -R a+rwX "$work"
as_nobody=()
((EUID != 0)) || as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
status=0
output=$("${as_nobody[@]}" "$tree/run_experiment" 2>&1 </dev/null) || status=$?
expect "without root: status" 1 "$status"
expect "without root: the command to run" "run_experiment: as root, run: apt-get update &&\
 apt-get install --no-install-recommends libfmt-dev" "$output"

# How long a build still takes: the parts that are left, at the pace so far.
left() { (
  export howard_root=$root
  # shellcheck source=cmake/launcher.sh
  source "$root/cmake/launcher.sh"
  remaining "$@"
); }
expect "time left: minutes" ", about 3 min left" "$(left 10 40 60)"
expect "time left: seconds" ", about 20 s left" "$(left 30 40 60)"
expect "time left: too early to tell" "" "$(left 1 40 60)$(left 30 40 2)"

if ((failures > 0)); then exit 1; fi
