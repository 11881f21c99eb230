// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "reports/pictures/picture.h"

namespace howard::cli {

/// Declares --picture-size and --picture-format.
void add_picture_options(CLI::App& app, reports::Canvas& canvas);

}  // namespace howard::cli
