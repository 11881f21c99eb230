// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/formats/csv/byte_source.h"

namespace howard::profiler {

/// Says whether a file that begins so is compressed (gzip, zstd, xz) or an archive (tar, zip).
bool is_packed(std::string_view beginning);

/// Reads a compressed file, also of several parts end to end, or a member of an archive, which may
/// be compressed itself. The packed source must outlive it.
class PackedSource final : public ByteSource {
 public:
  /// Begins with the content of a compressed file. `name` is the file's, for messages; `member`
  /// that of the archive's member that is read. Throws Error for damage, and if the archive has no
  /// such member.
  PackedSource(ByteSource& packed, std::string name, const std::string& member = {});
  ~PackedSource() override;

  bool is_archive() const;
  /// Returns the names of the files of the archive, which is then at its end. Throws Error as
  /// read() does.
  std::vector<std::string> members();

  /// Throws Error for damage, and for a file that ends too soon.
  std::size_t read(std::span<char> buffer) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace howard::profiler
