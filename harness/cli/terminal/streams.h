// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace howard::cli {

/// Prepares the standard streams; it must be called before anything else. From then on printing
/// never fails. What standard error does not take is dropped, because nobody could read it, and
/// end_output() reports what standard output does not take. (Otherwise fmt::print would throw, and
/// the files of a run would be lost because of a message.) A closed stream stays closed; otherwise
/// the next file to be opened would take its place, and receive the messages. A pipe without a
/// reader and a limit on the size of files become errors of the call that meets them and end
/// nothing. All that is printed passes through terminal_text(), also into files and pipes.
void prepare_streams();

/// Lets the colors of tables through to standard output or standard error, which passes none
/// before.
void allow_colors(int descriptor);

/// Writes to standard error what drives its terminal, as it is. No part of it may be of a file.
void drive_terminal(std::string_view marks);

/// Sends off what standard output still holds. Returns false if standard output has not taken
/// everything that was printed, and reports that, unless its reader has gone, as `head` does.
bool end_output();

}  // namespace howard::cli
