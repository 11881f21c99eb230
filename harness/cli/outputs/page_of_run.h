// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/cli/outputs/outputs.h"
#include "harness/cli/run_options.h"
#include "harness/cli/session.h"

namespace howard::cli {

/// Returns the files of an experiment that lie in `folder`, for links from a page there.
std::vector<std::string> files_beside(const std::filesystem::path& folder,
                                      const std::string& experiment);

/// Writes the page that `options` names, with all that a run has found and the timelines of the
/// emulated points that were recorded, forty at most. Returns false when it could not be written.
bool write_page(const std::vector<Finished>& finished, const Session& session,
                const RunOptions& options, const experiments::Laboratory& laboratory,
                Outputs& outputs);

}  // namespace howard::cli
