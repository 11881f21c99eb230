#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# add_an_experiment.sh SOURCE CMAKE COMPILER: adds an experiment to a copy of the tree by the files that
# CONTRIBUTING.md names, and by nothing else, and fails if a list does not have it then.
set -euo pipefail
source=$1 cmake=$2 compiler=$3
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
tar -C "$source" --exclude=./build --exclude=./.git --exclude=./results -cf - . | tar -C "$copy" -xf -

cat >"$copy/experiments/new_question.cpp" <<'EOF'
// SPDX-License-Identifier: Apache-2.0
#include "experiments/experiment.h"

namespace howard::experiments {

Experiment new_question(const Box& box) {
  const auto size = count_axis("size", "of what is asked for");
  return {.name = "new_question",
          .question = "Is a file all that an experiment needs?",
          .axes = {size.with({"1", "2"})},
          .prepare = [=](harness::Backend, const Point& point) -> Prepared {
            return finding([=, count = point[size]](harness::PointResult& found) {
              const SimTime time = count * box->profiles().software.host_finish;
              found.metrics = {exact_time("time", time)};
            });
          }};
}

}  // namespace howard::experiments
EOF
cat >"$copy/reports/published/new_question.json" <<'EOF'
{"schema": "howard.reference/1", "experiment": "new_question", "tables": []}
EOF
cat >"$copy/tests/experiments/new_question_test.cpp" <<'EOF'
// SPDX-License-Identifier: Apache-2.0
#include "tests/experiments/run_emulated.h"
EOF

"$cmake" -G Ninja -S "$copy" -B "$copy/build/new" -DCMAKE_BUILD_TYPE=Debug -DHOWARD_UNITY=OFF \
  -DBUILD_TESTING=ON -DCMAKE_CXX_COMPILER="$compiler" >"$copy/configured" 2>&1 || {
  cat "$copy/configured"
  exit 1
}
failed=0
# has FILE WORDS: fails if the file does not have these words.
has() {
  grep -q -- "$2" "$copy/build/new/$1" || {
    echo "$1 does not have: $2"
    failed=1
  }
}
has experiments/generated/experiment_names.inc 'HOWARD_QUESTION(new_question)'
has reports/generated/published_names.inc 'HOWARD_PUBLISHED(new_question)'
has reports/embedded_new_question.cpp 'howard.reference/1'
has build.ninja 'experiments/new_question.cpp'
has build.ninja 'tests/experiments/new_question_test.cpp'

# What the list calls is what the file defines: it compiles against the list's declaration.
echo '#include "experiments/experiment.h"
#include "experiments/new_question.cpp"
namespace howard::experiments {
#define HOWARD_QUESTION(name) Experiment name(const Box& box);
#define HOWARD_TOOL(name) Experiment name(const Box& box);
#include <experiment_names.inc>
}' >"$copy/together.cpp"
"$compiler" -std=c++20 -fsyntax-only -DFMT_SHARED -I"$copy" -I"$copy/build/new/experiments/generated" \
  "$copy/together.cpp" || failed=1
exit $failed
