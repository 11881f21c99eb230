// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs/verbs.h"

#include <algorithm>
#include <array>

#include "harness/cli/fit/fit.h"
#include "harness/cli/generate/generate.h"
#include "harness/cli/tracking/bisect.h"
#include "harness/cli/tracking/compare.h"
#include "harness/cli/tracking/history.h"
#include "harness/cli/tracking/selftest_gate.h"
#include "harness/cli/tracking/track.h"
#include "harness/cli/train/train.h"
#include "harness/cli/verbs/analyze.h"
#include "harness/cli/verbs/explain.h"
#include "harness/cli/verbs/manual/completion.h"
#include "harness/cli/verbs/manual/help.h"
#include "harness/cli/verbs/manual/list.h"
#include "harness/cli/verbs/manual/man_page.h"
#include "harness/cli/verbs/python.h"
#include "harness/cli/verbs/report.h"
#include "harness/cli/verbs/tune.h"

namespace howard::cli {

// The build compiles help.md and the others in.
extern const std::string_view kHelp, kAnalyzeHelp, kBisectHelp, kCompareHelp, kExplainHelp,
    kFitHelp, kGenerateHelp, kHistoryHelp, kListHelp, kPythonHelp, kReportHelp, kSelftestGateHelp,
    kTrackHelp, kTrainConfigHelp, kTrainHelp, kTuneHelp;

std::span<const Verb> verbs() {
  static constexpr std::array kVerbs{
      Verb{kTrainVerb, train, &kTrainConfigHelp,
           "train as files of TTML say: training.yaml, model.yaml", false, true},
      Verb{kTrainShortVerb, train, &kTrainHelp,
           "train a character model on a text, save, resume, write text"},
      Verb{kFitVerb, fit, &kFitHelp,
           "what a training run of TTML's files would take, and which settings are faster"},
      Verb{kGenerateVerb, generate, &kGenerateHelp,
           "write text with the weights of a Llama or a GPT-2, and say how fast"},
      Verb{"explain", explain, &kExplainHelp,
           "show what bounds a workload or a point, and what would help"},
      Verb{"python", python, &kPythonHelp, "run a Python script for ttnn on the emulated chip"},
      Verb{"tune", tune, &kTuneHelp, "rank the matmul configurations of a product"},
      Verb{"analyze", analyze, &kAnalyzeHelp, "show where the time in a profiler's log went"},
      Verb{"compare", compare, &kCompareHelp,
           "show what is slower, faster, missing or new in the second of two runs"},
      Verb{"track", track, &kTrackHelp, "store results in a database, for compare and history"},
      Verb{"history", history, &kHistoryHelp, "show how metrics have moved over the stored runs"},
      Verb{"bisect", bisect, &kBisectHelp, "find the commit that moved an exact time"},
      Verb{"selftest-gate", selftest_gate, &kSelftestGateHelp,
           "measure how far compare can be trusted on this machine"},
      Verb{"report", report, &kReportHelp, "make the tables of existing results"},
      Verb{"completion", completion, &kHelp, "print the completion script for bash, zsh or fish",
           true},
      Verb{"man", man, &kHelp, "print the manual page", true},
      Verb{"list", list, &kListHelp, "show what can be run", true},
      Verb{"help", help, &kHelp, "print the manual, or the --help of a name", true},
      Verb{"version", version, &kHelp, "print the version, the commit and the compiler", true}};
  return kVerbs;
}

const Verb* find_verb(std::string_view name) {
  const auto found = std::ranges::find(verbs(), name, &Verb::name);
  return found == verbs().end() ? nullptr : &*found;
}

}  // namespace howard::cli
