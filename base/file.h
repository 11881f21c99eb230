// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace howard {

/// Writes `content` as a whole or not at all: it writes a temporary file beside `path`, calls fsync
/// and renames it. A reader never sees half a file, and a full disk leaves the old file unchanged.
/// Missing folders are created and links are followed. "-" writes to standard output. Throws Error
/// with the system's reason when the system refuses.
void write_file(const std::filesystem::path& path, std::string_view content);

/// Receives the next piece of a text.
using TextSink = std::function<void(std::string_view piece)>;
/// Hands a text over piece by piece, so that a large text never has to be in memory as a whole.
using TextSource = std::function<void(const TextSink&)>;

/// Writes a text in pieces in the same way. When `source` throws, no file is left behind either.
void write_file(const std::filesystem::path& path, const TextSource& source);

/// Removes what writers of `path` that were killed have left beside it. What a process is writing
/// now stays.
void remove_leftovers(const std::filesystem::path& path);

/// Returns the whole content of a file. Throws Error when it cannot be read.
std::string read_file(const std::filesystem::path& path);

/// Creates `folder` and checks that files can be created in it, so that a long run does not fail
/// only at its end. Throws Error when that is not possible.
void require_writable_folder(const std::filesystem::path& folder);

/// Turns `text` into a name that every file system and every artifact store accepts:
/// "emulated/shape:64x64" becomes "emulated__shape=64x64". Characters other than letters, digits
/// and ._+=- become "_". A name that was changed in that way, or shortened, ends with a hash of the
/// text, so that different texts get different names.
std::string file_name_of(std::string_view text);

}  // namespace howard
