// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::cli {

/// Runs `completion SHELL`, which prints the script that makes bash, zsh or fish complete command
/// lines of this program. The scripts call `completion words WORD...`. It prints what the last
/// word, which may be empty or unfinished, can become, one a line, with its meaning after a tab. If
/// it prints nothing, the word is a file or can be anything.
int completion(int argc, const char* const* argv);

}  // namespace howard::cli
