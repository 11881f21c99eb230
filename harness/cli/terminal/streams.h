// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace howard::cli {

/// Makes the standard streams fit for use; to be called before anything else. From then on printing
/// never fails: what standard error does not take is dropped, as nobody could read it, and what
/// standard output does not take is told by end_output(). (fmt::print throws otherwise, so that the
/// files of a run would be lost for the sake of a message.) A stream that is closed stays so: the
/// next file to be opened would take its place, and the messages. A pipe without a reader and a
/// limit on the size of files become errors of the call that meets them, and end nothing.
void prepare_streams();

/// Sends off what standard output still holds. False when it has not taken all that was printed to
/// it; that is said too, unless its reader has gone, as `head` does.
bool end_output();

}  // namespace howard::cli
