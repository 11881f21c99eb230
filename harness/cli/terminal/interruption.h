// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::cli {

/// Returns true once the user has pressed Ctrl-C. A second press ends the program at once.
bool interrupted();

/// Makes Ctrl-C, SIGTERM and SIGHUP set interrupted(). A second signal, half a second later or
/// more, ends the program at once. `promise`, a literal, is said at the first one: "train: it ends
/// after this step".
void catch_signals(const char* promise = "");

/// Makes them end the program at once with the status of an interruption and a word, for commands
/// that have nothing to keep before they have computed all.
void end_on_signals();

}  // namespace howard::cli
