// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::cli {

/// Runs `man`, which prints the manual page in man(7): the --help of the program and of each verb,
/// and the axes of each experiment.
int man(int argc, const char* const* argv);

}  // namespace howard::cli
