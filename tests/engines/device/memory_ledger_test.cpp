// SPDX-License-Identifier: Apache-2.0
#include "engines/device/memory_ledger.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/error_of.h"

namespace howard {
namespace {

const TensorSpec kTile{{32, 32}};

TEST(MemoryLedger, CountsWhatIsUsed) {
  MemoryLedger ledger("DRAM", Bytes(10'000));
  const BufferId a = ledger.reserve(kTile, Bytes(4000));
  const BufferId b = ledger.reserve(kTile, Bytes(6000));
  EXPECT_NE(a, b);
  EXPECT_EQ(ledger.used(), Bytes(10'000));
  ledger.release(a);
  EXPECT_EQ(ledger.used(), Bytes(6000));
}

TEST(MemoryLedger, AFullMemoryNamesTheLargestHolders) {
  MemoryLedger ledger("DRAM of a test", Bytes(10 << 20));
  ledger.reserve({{1024, 1024}}, Bytes(2 << 20));
  ledger.reserve({{2048, 1024}}, Bytes(4 << 20));
  const ErrorText refusal = error_parts_of([&] { ledger.reserve({{2048, 2048}}, Bytes(8 << 20)); });
  EXPECT_EQ(
      refusal.value,
      "it needs 8.0 MiB, and 4.0 MiB of the DRAM of a test are free; largest holders: buffer 2 "
      "(2048x1024 bfloat16) 4.0 MiB, buffer 1 (1024x1024 bfloat16) 2.0 MiB");
  EXPECT_EQ(ledger.used(), Bytes(6 << 20)) << "a failed reservation holds nothing";
}

TEST(MemoryLedger, APhaseThatComesAgainGoesOnWhereItWas) {
  MemoryLedger ledger("DRAM", Bytes(10'000));
  const BufferId before = ledger.reserve(kTile, Bytes(100));
  ledger.begin_phase("forward");
  const BufferId a = ledger.reserve(kTile, Bytes(1000));
  ledger.begin_phase("backward");
  ledger.release(a);
  ledger.begin_phase("forward");
  const BufferId b = ledger.reserve(kTile, Bytes(3000));
  ledger.release(b);
  ledger.release(before);
  ASSERT_EQ(ledger.phases().size(), 2U);
  const MemoryPhase& forward = ledger.phases()[0];
  EXPECT_EQ(forward.name, "forward");
  EXPECT_EQ(forward.allocated, Bytes(4000));
  EXPECT_EQ(forward.released, Bytes(3100));
  EXPECT_EQ(forward.peak, Bytes(3100));
  EXPECT_EQ(forward.current, Bytes(0));
  const MemoryPhase& backward = ledger.phases()[1];
  EXPECT_EQ(backward.peak, Bytes(1100)) << "what it found";
  EXPECT_EQ(backward.released, Bytes(1000));
  EXPECT_EQ(backward.current, Bytes(100));
  EXPECT_EQ(ledger.peak(), Bytes(3100));
}

TEST(MemoryLedger, AReleasedBufferIsGone) {
  MemoryLedger ledger("DRAM", Bytes(10'000));
  const BufferId a = ledger.reserve(kTile, Bytes(1));
  ledger.release(a);
  EXPECT_THROW(ledger.release(a), Error);
  EXPECT_THROW(static_cast<void>(ledger.spec(a)), Error);
}

}  // namespace
}  // namespace howard
