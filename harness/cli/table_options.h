// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/cli/command_line.h"

namespace howard::cli {

/// Declares the options of every verb that shows tables and writes them: `--results` for all files,
/// `--json`, `--csv` and `--md` for one, and `--color`. `options` must outlive `app`.
template <class Options>
void add_table_options(CLI::App& app, Options& options) {
  app.add_option("--results", options.results);
  app.add_option("--json", options.json);
  app.add_option("--csv", options.csv);
  app.add_option("--md", options.markdown);
  add_color_option(app, options.color);
}

}  // namespace howard::cli
