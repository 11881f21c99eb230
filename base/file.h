// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace howard {

/// Writes `content` whole or not at all: a temporary file beside `path`, fsync, rename. A reader
/// never sees half a file, and a full disk leaves the old file as it was. Missing folders are made,
/// links are written through. "-" writes to standard output. Error when the system refuses, with its reason.
void write_file(const std::filesystem::path& path, std::string_view content);

/// Takes the next piece of a text.
using TextSink = std::function<void(std::string_view piece)>;
/// Hands a text over piece by piece, so that no large one is in memory as a whole.
using TextSource = std::function<void(const TextSink&)>;

/// The same of a text in pieces. What `source` throws leaves no trace of the file either.
void write_file(const std::filesystem::path& path, const TextSource& source);

/// The whole of a file. Error when it cannot be read.
std::string read_file(const std::filesystem::path& path);

/// Makes `folder` and checks that files can be made in it, so that a long run does not find out at
/// its end. Error when they cannot.
void require_writable_folder(const std::filesystem::path& folder);

/// `text` as the name of a file or folder that every file system and every store of artifacts
/// takes: "emulated/shape:64x64" becomes "emulated__shape=64x64". What is neither a letter, a digit
/// nor one of ._+=- becomes "_"; the name then ends with a hash of the text, as a long one does, so
/// that different texts have different names.
std::string file_name_of(std::string_view text);

}  // namespace howard
