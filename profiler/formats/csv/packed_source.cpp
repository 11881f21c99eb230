// SPDX-License-Identifier: Apache-2.0
#include "profiler/formats/csv/packed_source.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"

namespace howard::profiler {
namespace {

constexpr std::size_t kTarMagic = 257;

std::string pathname_of(archive_entry* entry) {
  const char* const name = ::archive_entry_pathname(entry);
  return name == nullptr ? std::string() : std::string(name);
}

}  // namespace

bool is_packed(std::string_view beginning) {
  constexpr std::array<std::string_view, 4> kMagics{"\x1f\x8b", "\x28\xb5\x2f\xfd", "\xfd\x37zXZ",
                                                    "PK\x03\x04"};
  return std::ranges::any_of(kMagics, [&](auto magic) { return beginning.starts_with(magic); }) ||
         (beginning.size() > kTarMagic && beginning.substr(kTarMagic).starts_with("ustar"));
}

struct PackedSource::State {
  ByteSource& packed;
  std::string name;
  archive* reader = nullptr;
  bool is_archive = false;
  archive_entry* entry = nullptr;  ///< Null at the end.
  std::array<char, 64 * 1024> input{};
  std::string failure{};  ///< What the packed source said.

  [[noreturn]] void fail(std::string value) const {
    throw Error({.attempted = "unpack " + name,
                 .value = std::move(value),
                 .accepted = "a whole gzip, zstd or xz file, a tar archive or a zip archive"});
  }
  [[noreturn]] void fail() const {
    if (!failure.empty()) fail(failure);
    const char* const text = ::archive_error_string(reader);
    fail(text == nullptr ? "it is damaged" : text);
  }

  void open() {
    reader = ::archive_read_new();
    if (reader == nullptr) fail("there is no memory");
    ::archive_read_support_filter_gzip(reader);
    ::archive_read_support_filter_zstd(reader);
    ::archive_read_support_filter_xz(reader);
    ::archive_read_support_format_tar(reader);
    ::archive_read_support_format_zip_streamable(reader);
    ::archive_read_support_format_raw(reader);
    ::archive_read_support_format_empty(reader);
    const auto read = [](archive*, void* self, const void** buffer) -> la_ssize_t {
      auto& state = *static_cast<State*>(self);
      try {
        *buffer = state.input.data();
        return static_cast<la_ssize_t>(state.packed.read(state.input));
      } catch (const Error& error) {  // no exception passes through C
        state.failure = error.text().value;
        return -1;
      }
    };
    if (::archive_read_open(reader, this, nullptr, read, nullptr) != ARCHIVE_OK) fail();
    next();
    const int format = ::archive_format(reader);
    is_archive = format != ARCHIVE_FORMAT_RAW && format != ARCHIVE_FORMAT_EMPTY;
  }

  void next() {
    const int result = ::archive_read_next_header(reader, &entry);
    if (result == ARCHIVE_EOF) {
      entry = nullptr;
    } else if (result != ARCHIVE_OK && result != ARCHIVE_WARN) {
      fail();
    }
  }
};

PackedSource::PackedSource(ByteSource& packed, std::string name, const std::string& member)
    : state_(std::make_unique<State>(State{.packed = packed, .name = std::move(name)})) {
  state_->open();
  while (!member.empty() && state_->entry != nullptr && pathname_of(state_->entry) != member) {
    state_->next();
  }
  if (!member.empty() && state_->entry == nullptr) state_->fail("it has no " + member);
}

PackedSource::~PackedSource() { ::archive_read_free(state_->reader); }

bool PackedSource::is_archive() const { return state_->is_archive; }

std::vector<std::string> PackedSource::members() {
  std::vector<std::string> names;
  for (; state_->entry != nullptr; state_->next()) {
    if (::archive_entry_filetype(state_->entry) == AE_IFREG)
      names.push_back(pathname_of(state_->entry));
  }
  return names;
}

std::size_t PackedSource::read(std::span<char> buffer) {
  if (state_->entry == nullptr) return 0;
  const la_ssize_t size = ::archive_read_data(state_->reader, buffer.data(), buffer.size());
  if (size < 0) state_->fail();
  return static_cast<std::size_t>(size);
}

}  // namespace howard::profiler
