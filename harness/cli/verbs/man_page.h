// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::cli {

/// `man`: prints the manual page, in man(7): what --help of the program and of each verb says, and
/// the axes of each experiment.
int man(int argc, const char* const* argv);

}  // namespace howard::cli
