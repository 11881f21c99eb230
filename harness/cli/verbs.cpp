// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/verbs.h"

#include <array>

#include "harness/cli/analyze.h"
#include "harness/cli/compare.h"
#include "harness/cli/completion.h"
#include "harness/cli/explain.h"
#include "harness/cli/man_page.h"
#include "harness/cli/report.h"
#include "harness/cli/train.h"

namespace howard::cli {

// Compiled in by the build: help.md and the others.
extern const std::string_view kHelp, kAnalyzeHelp, kCompareHelp, kExplainHelp, kReportHelp;

std::span<const Verb> verbs() {
  static constexpr std::array kVerbs{Verb{"analyze", analyze, &kAnalyzeHelp},
                                     Verb{"compare", compare, &kCompareHelp},
                                     Verb{"completion", completion, &kHelp},
                                     Verb{"explain", explain, &kExplainHelp},
                                     Verb{"man", man, &kHelp},
                                     Verb{"report", report, &kReportHelp},
                                     Verb{kTrainVerb, train, &kHelp}};
  return kVerbs;
}

}  // namespace howard::cli
