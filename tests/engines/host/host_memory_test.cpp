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
#include "tests/error_of.h"

namespace howard::host {
namespace {

/// Sanitizers reserve terabytes of address space, so a limit on it means nothing.
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
  return howard::error_of([&] { memory.allocate(spec); });
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

TensorSpec megabytes(std::int64_t count) {
  return {.shape = {count, 1 << 18}, .dtype = DataType::float32};
}

TEST(HostMemory, GivesTheValuesOfAReleasedBufferToTheNextOfItsSize) {
  HostMemory memory;
  const BufferId first = memory.allocate({.shape = {32, 32}, .dtype = DataType::float32});
  const std::byte* const values = memory.values(first).get();
  memory.release(first);
  const BufferId same = memory.allocate({.shape = {2, 1024}, .dtype = DataType::bfloat16});
  EXPECT_EQ(memory.values(same).get(), values);
  const BufferId another = memory.allocate({.shape = {32, 32}, .dtype = DataType::float32});
  EXPECT_NE(memory.values(another).get(), values) << "it has an owner";
}

TEST(HostMemory, GivesRecordedValuesToNobody) {
  HostMemory memory;
  const TensorSpec spec{.shape = {32, 32}};
  const BufferId recorded = memory.allocate(spec);
  memory.mark_recorded(recorded);
  const std::shared_ptr<std::byte[]> values = memory.values(recorded);
  memory.release(recorded);
  EXPECT_EQ(values.use_count(), 1);
  EXPECT_NE(memory.values(memory.allocate(spec)), values);
  EXPECT_THROW(memory.mark_recorded(recorded), Error);
}

TEST(HostMemory, KeepsNoMoreThanBuffersHaveHeldAtOnce) {
  HostMemory memory;
  const BufferId two = memory.allocate(megabytes(2));
  const BufferId one = memory.allocate(megabytes(1));
  const std::weak_ptr<std::byte[]> values_of_two = memory.values(two);
  const std::weak_ptr<std::byte[]> values_of_one = memory.values(one);
  memory.release(two);
  memory.release(one);
  EXPECT_EQ(memory.ledger().used(), Bytes(0));
  EXPECT_FALSE(values_of_two.expired() || values_of_one.expired()) << "3 MiB were held at once";
  memory.allocate({.shape = {1}});
  EXPECT_TRUE(values_of_two.expired());
  EXPECT_FALSE(values_of_one.expired()) << "no more than needed is given back";
  memory.allocate(megabytes(3));
  EXPECT_TRUE(values_of_one.expired());
}

TEST(HostMemory, GivesBackWhatItKeepsWhenTheSystemRefuses) {
  if (kSanitized) GTEST_SKIP() << "sanitizers reserve all of the address space";
  HostMemory memory;
  const BufferId largest = memory.allocate(megabytes(128));
  memory.release(memory.allocate(megabytes(40)));
  memory.release(largest);
  memory.release(memory.allocate(megabytes(48)));  // 40 and 48 are kept, and 168 were held.
  const AddressSpaceLimit limit(Bytes(8 << 20));
  EXPECT_NO_THROW(memory.allocate(megabytes(64)));
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
