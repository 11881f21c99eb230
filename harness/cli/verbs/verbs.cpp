// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/verbs.h"

#include <algorithm>
#include <array>

#include "harness/cli/verbs/analyze.h"
#include "harness/cli/verbs/compare.h"
#include "harness/cli/verbs/completion.h"
#include "harness/cli/verbs/explain.h"
#include "harness/cli/verbs/help.h"
#include "harness/cli/verbs/list.h"
#include "harness/cli/verbs/man_page.h"
#include "harness/cli/verbs/python.h"
#include "harness/cli/verbs/report.h"
#include "harness/cli/verbs/train.h"

namespace howard::cli {

// Compiled in by the build: help.md and the others.
extern const std::string_view kHelp, kAnalyzeHelp, kCompareHelp, kExplainHelp, kListHelp,
    kPythonHelp, kReportHelp, kTrainHelp;

std::span<const Verb> verbs() {
  static constexpr std::array kVerbs{
      Verb{kTrainVerb, train, &kTrainHelp,
           "train a character model on a text, save, resume, write text"},
      Verb{"explain", explain, &kExplainHelp,
           "what a workload or a point is bound by, and what would help"},
      Verb{"python", python, &kPythonHelp, "run a Python script for ttnn on the emulated chip"},
      Verb{"analyze", analyze, &kAnalyzeHelp, "where the time of a profiler's log went"},
      Verb{"compare", compare, &kCompareHelp,
           "what is slower, faster, missing or new in the second of two runs"},
      Verb{"report", report, &kReportHelp, "the tables of results that are there"},
      Verb{"completion", completion, &kHelp, "completion of these words in bash, zsh or fish",
           true},
      Verb{"man", man, &kHelp, "the manual page", true},
      Verb{"list", list, &kListHelp, "what there is to run", true},
      Verb{"help", help, &kHelp, "the manual, or the --help of a name", true},
      Verb{"version", version, &kHelp, "version, commit, compiler", true}};
  return kVerbs;
}

const Verb* find_verb(std::string_view name) {
  const auto found = std::ranges::find(verbs(), name, &Verb::name);
  return found == verbs().end() ? nullptr : &*found;
}

}  // namespace howard::cli
