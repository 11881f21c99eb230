// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/tracking/comparison/comparison.h"
#include "harness/tracking/git.h"
#include "harness/tracking/history.h"

namespace howard::cli {

/// Says with what a side is compared.
struct BaselineOptions {
  /// A file, a folder, or a commit or branch of the database. Empty: the stored run of the merge
  /// base of the side's commit and the branch `base`, which needs a database.
  std::string name;
  std::string base = "main";
  bool anyway = false;  ///< Compares what require_comparable() refuses.
  tracking::Limits limits;
};

/// Returns the side that `word` names: a file or folder, or a run of the database. Throws Error if
/// it is neither.
tracking::Side side_of(const std::string& word, const tracking::History* history,
                       const tracking::GitCheckout& git);

/// Compares `after` with its baseline. Findings against a baseline that its own branch has left
/// behind are stale. `history` is the database; it may be null. Throws Error if
/// there is no baseline, or if the two cannot be compared.
tracking::Comparison compare_with_baseline(const tracking::Side& after,
                                           const BaselineOptions& options,
                                           const tracking::History* history,
                                           const tracking::GitCheckout& git);

}  // namespace howard::cli
