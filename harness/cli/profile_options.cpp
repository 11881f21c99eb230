// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/profile_options.h"

#include <CLI/CLI.hpp>

#include "experiments/laboratory/laboratory.h"
#include "harness/cli/command_line.h"

namespace howard::cli {

void add_profile_options(CLI::App& app, chip::ProfileChoice& choice) {
  app.add_option("--chip,--software,--profile", choice.profiles)->allow_extra_args(false);
  app.add_option("--set", choice.settings)->allow_extra_args(false);
}

std::unique_ptr<experiments::Laboratory> open_laboratory(
    const experiments::LaboratorySettings& settings) {
  return read_settings(settings.profiles, [&](const chip::ProfileChoice&) {
    return std::make_unique<experiments::Laboratory>(settings);
  });
}

}  // namespace howard::cli
