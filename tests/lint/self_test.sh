#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# self_test.sh CHECK: feeds the check small trees, right ones and broken ones, and fails when it does
# not tell them apart.
set -euo pipefail
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
check=$1
tree=$(mktemp -d)
trap 'rm -rf -- "$tree"' EXIT
failures=0

# put_text FILE LINE...: writes the lines.
put_text() {
  mkdir -p "$(dirname -- "$tree/$1")"
  printf '%s\n' "${@:2}" >"$tree/$1"
}

# put FILE [LINE]...: writes the lines after the licence line.
put() { put_text "$1" '// SPDX-License-Identifier: Apache-2.0' "${@:2}"; }

# repeat LINE COUNT
repeat() { for ((i = 0; i < $2; ++i)); do printf '%s\n' "$1"; done; }

# put_function FILE LINES HEAD [TAIL]: a function of that many lines, the first HEAD and the last TAIL.
put_function() { put "$1" "$3" "$(repeat '  ++calls;' $(($2 - 2)))" "${4:-\}}"; }

run_check() { bash "$here/check_$check.sh" "$tree" 2>&1; }

# accepts WHAT: the check passes on the tree, which is then emptied.
accepts() {
  local output
  if ! output=$(run_check); then
    echo "$check: wrongly rejects $1: $output" >&2
    failures=$((failures + 1))
  fi
  find "$tree" -mindepth 1 -delete
}

# rejects PLACE WHAT: the check fails on the tree and names PLACE; the tree is then emptied.
rejects() {
  local output
  if output=$(run_check); then
    echo "$check: overlooks $2" >&2
    failures=$((failures + 1))
  elif [[ $output != *"$1"* ]]; then
    echo "$check: rejects $2 without naming $1: $output" >&2
    failures=$((failures + 1))
  fi
  find "$tree" -mindepth 1 -delete
}

test_layers() {
  put base/a.h '#include <string>'
  put engines/device/d.h '#include "base/a.h"'
  put harness/h.h '#include "base/a.h"'
  put experiments/e.h '#include "harness/h.h"' '#include "engines/device/d.h"'
  put harness/cli/main.cpp '#include "experiments/e.h"' '#include "harness/h.h"'
  put tests/t.cpp '#include "harness/h.h"' '#include "engines/device/d.h"'
  put engines/chip/kernels/plan/p.h '#include "engines/chip/profiles/c.h"'
  put engines/chip/profiles/c.h
  put engines/chip/dispatch/d.h '#include "engines/chip/kernels/plan/p.h"'
  accepts "a tree that follows the table"
  # FROM TO: one forbidden direction for each row of the table.
  local from to
  while read -r from to; do
    put "$to"
    put "$from" '' "  #  include \"$to\""
    rejects "$from:3" "$from including $to"
  done <<'PAIRS'
base/a.h harness/h.h
base/a.cpp engines/device/d.h
engines/device/d.h engines/ops/o.h
engines/ops/o.h engines/chip/w.h
engines/chip/w.h engines/host/h.h
engines/chip/kernels/plan/p.h engines/chip/kernels/rows/r.h
engines/chip/kernels/rows/r.h engines/chip/dispatch/d.h
profiler/silicon/s.h engines/workload/c.h
engines/host/h.h engines/ops/o.h
engines/host/h.h profiler/p.h
profiler/p.h engines/device/d.h
harness/h.h harness/cli/c.h
harness/h.h reports/r.h
harness/h.h engines/device/d.h
reports/r.h engines/device/d.h
experiments/e.h harness/cli/c.h
harness/cli/c.h tests/t.h
PAIRS
  put base/a.h
  put base/b.h '#include "a.h"'
  rejects base/b.h:2 "an include that is not written from the top"
  put base/a.h
  put harness/b.h '#include <base/a.h>'
  rejects harness/b.h:2 "an own header in angle brackets"
  put base/a.h '#include "fmt/format.h"'
  rejects base/a.h:2 "a library in quotes"
  put engines/new/n.h
  rejects engines/new/n.h "a folder that has no row"
}

test_sizes() {
  put_text base/a.h "$(repeat // 300)"
  put_text base/a.cpp "$(repeat // 500)"
  put_function base/b.cpp 60 'void f() {'
  accepts "files and a function of just the limit"
  put_text base/a.h "$(repeat // 301)"
  rejects base/a.h "a header of 301 lines"
  put_text base/a.cpp "$(repeat // 501)"
  rejects base/a.cpp "a source of 501 lines"
  local head
  while IFS= read -r head; do
    put_function base/a.cpp 61 "$head"
    rejects base/a.cpp:2 "61 lines of: $head"
    put_function base/a.cpp 60 "$head"
    accepts "60 lines of: $head"
  done <<'HEADS'
void f() {
TEST(Suite, states_a_fact) {
template <class T, class U = std::vector<T>> auto f(T a) -> std::optional<T> {
Thing::Thing(int a) : a_{a}, b_(1), c_{2} {
Thing& Thing::operator=(const Thing& other) & noexcept {
const auto f = [](int a) {
const auto f = [&] {
std::function<void(int)> make(std::span<const int> a = {}) {
int f(char c = '{', int n = 1'000) { const auto s = "}{\"{"; /* { */  // {
const char* f() { const auto s = R"x({ " )" }{ )x";
HEADS
  put_function base/a.cpp 61 'class A { void f() const {' '}};'
  rejects base/a.cpp "a long function inside a class"
  put_function base/a.cpp 61 'namespace a { struct B : C<int(int)> { explicit B(int n) : n_{n} {' '} int n_{f(1)}; }; }'
  rejects base/a.cpp "a long constructor inside a namespace"
  put_function base/a.cpp 70 'const std::array<int, size(1)> kTable{' '};'
  accepts "a long table of data"
  put_function base/a.cpp 70 'struct A {' '};'
  accepts "a long class"
  put_function base/a.cpp 61 'void f() {'
  put_text tests/lint/size_exceptions.txt '# comment' 'base/a.cpp:f 61  # a reason'
  accepts "a function with an exception"
  put_function base/a.cpp 62 'void f() {'
  put_text tests/lint/size_exceptions.txt 'base/a.cpp:f 61  # a reason'
  rejects base/a.cpp "a function beyond its exception"
  put_function base/a.cpp 60 'void f() {'
  put_text tests/lint/size_exceptions.txt 'base/a.cpp:f 61  # a reason'
  rejects base/a.cpp:f "an exception that nothing needs"
  put_function base/a.cpp 61 'void f() {'
  put_text tests/lint/size_exceptions.txt 'base/a.cpp:f 61'
  rejects size_exceptions.txt "an exception without a reason"
}

test_format() {
  command -v clang-format-14 >/dev/null || { echo "skipped: clang-format-14 is missing"; exit 77; }
  put base/a.h 'int f(int* a);'
  cp "$here/../../.clang-format" "$tree"
  accepts "a formatted header"
  put base/a.h 'int  f(int *a);'
  cp "$here/../../.clang-format" "$tree"
  rejects base/a.h:2 "a header that is not formatted"
  put base/a.h 'int f(int* a);'
  cp "$here/../../.clang-format" "$tree"
  # A PATH with all that the check needs but clang-format.
  mkdir "$tree/bin"
  ln -s "$(type -P bash)" "$(type -P dirname)" "$(type -P readlink)" "$(type -P find)" "$tree/bin"
  PATH=$tree/bin:$tree rejects "skipped: clang-format-14 is missing" "a machine without clang-format"
}

test_spdx() {
  put base/a.h
  put_text base/run.sh '#!/bin/bash' '# SPDX-License-Identifier: Apache-2.0'
  accepts "a header and a script with the licence line"
  put_text a.h '#pragma once'
  rejects a.h:1 "a header without the licence line"
  put_text a.h '#pragma once' '// SPDX-License-Identifier: Apache-2.0'
  rejects a.h:1 "a header with the licence on its second line"
  put_text a.sh '#!/bin/bash'
  rejects a.sh:1 "a script without the licence line"
  put_text a.sh '#!/bin/bash' '# SPDX-License-Identifier: Apache-2.0'
  printf '#!/bin/bash' >"$tree/b.sh"
  rejects b.sh:1 "a script of half a line after a right one"
  : >"$tree/a.cpp"
  rejects a.cpp:1 "an empty source"

  git -C "$tree" init -q
  put_text .gitignore '/out/'
  put_text out/a.h 'int a;'
  put base/a.h
  accepts "an ignored file without the licence line"
  git -C "$tree" init -q
  put_text 'new file.h' 'int a;'
  rejects "new file.h:1" "a file that git does not know yet"
  rejects "no source files" "a tree without sources"
}

test_unfinished() {
  put base/a.h '// Nothing is left to do; a HACKSAW is no mark.'
  accepts "a finished header"
  local mark
  for mark in "TO""DO" "FIX""ME" "X""XX" "HA""CK" "TB""D"; do
    put base/a.h '' "int a;  // $mark: later"
    rejects base/a.h:3 "$mark"
  done
}

test_own_headers() {
  put base/a.h '#pragma once' 'int f();'
  put base/a.cpp '#include "base/a.h"' '' '#include <string>'
  put base/main.cpp '#include <string>'
  accepts "a source that includes its own header first"
  put base/a.h '#pragma once' 'int f();'
  put base/a.cpp '#include <string>' '' '#include "base/a.h"'
  rejects base/a.cpp:1 "a source whose own header comes later"
  put base/a.h '#pragma once' 'int f();'
  put base/a.cpp 'int f() { return 0; }'
  rejects base/a.cpp:1 "a source without its own header"
  put base/a.h 'int f();'
  rejects base/a.h:1 "a header without #pragma once"
}

# Here the check is a build: configures and builds the object library of header_tests.cmake.
test_headers() {
  run_check() {
    local build
    build=$(mktemp -d)
    printf '%s\n' 'cmake_minimum_required(VERSION 3.22)' 'project(headers CXX)' \
      "include(\"$here/header_tests.cmake\")" "header_tests(headers \"$tree\" base)" >"$build/CMakeLists.txt"
    { cmake -S "$build" -B "$build/build" -G Ninja && cmake --build "$build/build"; } 2>&1
    local status=$?
    rm -rf -- "$build"
    return $status
  }
  put base/a.h '#pragma once' '#include <string>' 'struct A { std::string text; };'
  put base/deep/b.h '#pragma once' '#include "base/a.h"' 'struct B { A a; };'
  accepts "headers that include what they use"
  put base/a.h '#pragma once' 'struct A { std::string text; };'
  rejects base/a.h "a header that leans on another include"
  put base/a.h 'struct A {};'
  rejects base/a.h "a header without #pragma once"
  put base/a.h '#pragma once' 'struct A { std::string text; };'
  put base/a.cpp '#include "base/a.h"'
  put base/b.h '#pragma once'
  accepts "a header that its own source is there to test"
}

"test_$check"
if ((failures > 0)); then exit 1; fi
