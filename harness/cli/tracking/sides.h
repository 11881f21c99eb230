// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/tracking/comparison/comparison.h"
#include "harness/tracking/git.h"
#include "harness/tracking/history.h"
#include "harness/tracking/run.h"

namespace howard::cli {

/// Returns the runs in a file of any format that tracking::parse_runs() knows, or in a folder: one
/// run of all results of this program in it; else one run for each .json, .jsonl, .csv or .txt
/// file, or for each folder of results in it. Throws Error if there is nothing to read.
std::vector<tracking::Run> read_runs(const std::string& path);

/// Gives a run the commit that it is of: the one that it names, if that is a commit of this
/// checkout; else what is checked out. Results name the commit of the program that made them, which
/// is a commit here only if the program itself is what is measured.
void name_commit(tracking::Run& run, const tracking::GitCheckout& git);

/// Returns a side of a comparison from a file or folder: its runs must be of the same conditions.
tracking::Side read_side(const std::string& path, const tracking::GitCheckout& git);

/// Returns a stored run as the first side. Its sampled metrics are joined by those of the runs
/// before it, under the same conditions on the same branch, since their last change of level.
tracking::Side stored_baseline(const tracking::History& history, std::int64_t run);

/// Returns a stored run as the second side, joined by earlier runs of the same commit alone.
tracking::Side stored_side(const tracking::History& history, std::int64_t run);

/// Returns the stored run that `name` means: a commit or branch of the database, or anything that
/// git can resolve to a commit that the database has. The result is absent if there is none.
std::optional<std::int64_t> stored_run(const tracking::History& history,
                                       const tracking::GitCheckout& git, const std::string& name);

/// Returns the stored run with which a run of `commit` is compared: the last one of the merge base
/// of `commit` and the branch `base`, or of the nearest commit before it that the database has.
/// Absent if `commit` is of `base` itself, and the database has no earlier one: it is the first.
/// Throws an Error that says what is missing if there is none otherwise.
std::optional<std::int64_t> baseline_run(const tracking::History& history,
                                         const tracking::GitCheckout& git,
                                         const std::string& commit, const std::string& base);

}  // namespace howard::cli
