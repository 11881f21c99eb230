// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::cli {

/// `completion SHELL`: prints the script that makes bash, zsh or fish complete command lines of
/// this program. `completion words WORD...` is what the scripts ask: what the last word, which may
/// be begun or empty, can become, a line each, with its meaning after a tab. Nothing: a file, or
/// anything.
int completion(int argc, const char* const* argv);

}  // namespace howard::cli
