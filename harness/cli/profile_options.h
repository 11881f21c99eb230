// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "engines/chip/profiles/profile.h"

namespace CLI {
class App;
}

namespace howard::experiments {
class Laboratory;
struct LaboratorySettings;
}  // namespace howard::experiments

namespace howard::cli {

/// Declares the options that choose the constants of the emulator: `--chip` and `--software`, each
/// with the name of a profile or a file, and `--set` for single constants. `--profile` is another
/// name of both, because a profile says itself which of the two it is. `choice` must outlive `app`.
void add_profile_options(CLI::App& app, chip::ProfileChoice& choice);

/// Opens the laboratory of these options. Throws UsageError for options that make no chip, and
/// Error for a file that is not a profile.
std::unique_ptr<experiments::Laboratory> open_laboratory(
    const experiments::LaboratorySettings& settings);

}  // namespace howard::cli
