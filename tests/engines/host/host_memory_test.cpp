// SPDX-License-Identifier: Apache-2.0
#include "engines/host/host_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/error.h"

namespace howard::host {
namespace {

/// Sanitizers reserve terabytes of address space, so that no limit on it means anything.
constexpr bool kSanitized = !std::string_view(HOWARD_SANITIZE).empty();

/// Lets the process map no more than `more` beyond what it has, as ulimit -v does, until its end.
class AddressSpaceLimit {
 public:
  explicit AddressSpaceLimit(Bytes more) {
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    HOWARD_CHECK(getrlimit(RLIMIT_AS, &before_) == 0 && pages > 0, "the limit can be read");
    constexpr std::int64_t kPage = 4096;
    const rlimit limit{static_cast<rlim_t>(pages * kPage + more.value()), before_.rlim_max};
    HOWARD_CHECK(setrlimit(RLIMIT_AS, &limit) == 0, "a process may lower its limit");
  }
  ~AddressSpaceLimit() { setrlimit(RLIMIT_AS, &before_); }
  AddressSpaceLimit(const AddressSpaceLimit&) = delete;
  AddressSpaceLimit& operator=(const AddressSpaceLimit&) = delete;

 private:
  rlimit before_{};
};

std::string error_of(HostMemory& memory, const TensorSpec& spec) {
  try {
    memory.allocate(spec);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

void expect_part(const std::string& text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(HostMemory, AlignsBuffersToVectorRegisters) {
  HostMemory memory;
  for (int i = 0; i < 10; ++i) {
    const BufferId buffer = memory.allocate({.shape = {1, 1}, .dtype = DataType::bfloat16});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.values(buffer).get()) % 64, 0U);
  }
}

TEST(HostMemory, RefusesBlockFormats) {
  HostMemory memory;
  for (const DataType dtype : {DataType::bfloat8_b, DataType::bfloat4_b}) {
    const std::string text = error_of(memory, {.shape = {32, 32}, .dtype = dtype});
    expect_part(text, name_of(dtype));
    expect_part(text, "bfloat16 and float32");
  }
}

TEST(HostMemory, NamesTheHoldersWhenTheSystemRefuses) {
  if (kSanitized) GTEST_SKIP() << "sanitizers reserve all of the address space";
  HostMemory memory;
  const BufferId held = memory.allocate({.shape = {64, 96}, .dtype = DataType::bfloat16});
  const TensorSpec wanted{.shape = {4096, 4096}, .dtype = DataType::float32};
  {
    const AddressSpaceLimit limit(Bytes(8 << 20));
    const std::string text = error_of(memory, wanted);
    expect_part(text, "the system refuses 67108864 bytes");
    expect_part(text, "buffer 1 (64x96 bfloat16)");
  }
  const std::string later = error_of(memory, {.shape = {16777216, 16777216}});
  EXPECT_EQ(later.find("4096x4096"), std::string::npos)
      << "what was refused is not held: " << later;
  memory.allocate(wanted);
  memory.release(held);
}

TEST(HostMemory, KnowsNoBufferThatWasReleased) {
  HostMemory memory;
  const BufferId buffer = memory.allocate({.shape = {32, 32}});
  memory.release(buffer);
  EXPECT_THROW(memory.values(buffer), Error);
  EXPECT_THROW(memory.release(buffer), Error);
}

TEST(HostMemory, OffersWhatTheSystemHasAvailable) {
  std::ifstream meminfo("/proc/meminfo");
  std::string word;
  std::int64_t total_kibibytes = 0;
  while (meminfo >> word && word != "MemTotal:") {
  }
  ASSERT_TRUE(meminfo >> total_kibibytes);
  EXPECT_GT(available_memory(), Bytes(0));
  EXPECT_LT(available_memory(), Bytes(total_kibibytes * 1024));
}

}  // namespace
}  // namespace howard::host
