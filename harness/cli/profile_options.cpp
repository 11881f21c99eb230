// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/profile_options.h"

#include <CLI/CLI.hpp>

namespace howard::cli {

void add_profile_options(CLI::App& app, chip::ProfileChoice& choice) {
  app.add_option("--chip,--software,--profile", choice.profiles)->allow_extra_args(false);
  app.add_option("--set", choice.settings)->allow_extra_args(false);
}

}  // namespace howard::cli
