// SPDX-License-Identifier: Apache-2.0
//
// Expected times are worked out from the constants by hand. Each test changes one thing.
#include "engines/chip/kernels/plan/footprint.h"

#include <gtest/gtest.h>

namespace howard::chip {
namespace {

class DispatchCost : public ::testing::Test {
 protected:
  SimTime time(const Footprint& footprint) const {
    return dispatch_time(footprint, DispatchCoreType::worker, software_);
  }
  /// Returns what a change of the footprint adds.
  SimTime added(const Footprint& more, const Footprint& less) const {
    return time(more) - time(less);
  }
  SimTime written(std::int64_t bytes) const {
    return transfer_time(Bytes(bytes), software_.dispatch.write);
  }

  SoftwareProfile software_ = load_profiles().software;
  const DispatchCosts& cost_ = software_.dispatch;
  Footprint one_{.cores = 1, .binaries = 1, .binary_bytes = Bytes(1024)};
  Footprint full_{.cores = 56,
                  .kernel_groups = 1,
                  .binaries = 5,
                  .binary_bytes = Bytes(5 * 1024),
                  .circular_buffers = 4,
                  .semaphores = 2,
                  .unique_arguments = 12};
};

TEST_F(DispatchCost, AnEmptyProgramCostsItsLaunchMessageAndItsBinary) {
  EXPECT_EQ(time(one_), cost_.program + cost_.binary + written(1024));
}

TEST_F(DispatchCost, CoresCostNothingWithoutArgumentsOfTheirOwn) {
  Footprint many = one_;
  many.cores = 56;
  EXPECT_EQ(time(many), time(one_));
}

TEST_F(DispatchCost, UniqueArgumentsCostEachCore) {
  Footprint more = full_;
  more.cores = 57;
  const SimTime words = added(more, full_) - cost_.core_arguments;
  EXPECT_NEAR(words.seconds(), written(4 * 12).seconds(), 2e-12);
}

TEST_F(DispatchCost, TheFirstConfigurationIsWrittenOnce) {
  Footprint with = one_;
  with.common_arguments = 1;
  EXPECT_NEAR(added(with, one_).seconds(), (cost_.configuration + written(4)).seconds(), 2e-12);
  Footprint two = with;
  two.common_arguments = 2;
  EXPECT_NEAR(added(two, with).seconds(), written(4).seconds(), 2e-12);
}

TEST_F(DispatchCost, AFurtherKernelGroupSendsItsBinariesAndArguments) {
  Footprint two = full_;
  two.kernel_groups = 2;
  EXPECT_EQ(added(two, full_),
            std::max(cost_.group_least, cost_.group + 5 * cost_.binary + written(5 * 1024)) +
                cost_.configuration);
}

TEST_F(DispatchCost, AFurtherCircularBufferGroupSendsThemAgain) {
  Footprint two = full_;
  two.circular_buffer_groups = 2;
  EXPECT_NEAR(added(two, full_).seconds(),
              (cost_.circular_buffer_group + written(4 * 16)).seconds(), 2e-12);
}

TEST_F(DispatchCost, EthernetCoresAreSlower) {
  EXPECT_EQ(dispatch_time(full_, DispatchCoreType::eth, software_) - time(full_), cost_.from_eth);
}

TEST_F(DispatchCost, GoCountsCoresAndBinaries) {
  EXPECT_EQ(go_time(one_, software_), cost_.go + cost_.go_core);
  EXPECT_EQ(go_time(full_, software_, DispatchCoreType::eth) - go_time(full_, software_),
            cost_.from_eth)
      << "in series with the kernel";
  EXPECT_EQ(go_time(full_, software_), cost_.go + 56 * cost_.go_core + 4 * cost_.go_binary);
}

TEST_F(DispatchCost, ConfigurationAndTraceSizesCountWhatIsSent) {
  EXPECT_EQ(configuration_bytes(full_), Bytes(5 * 1024 + 4 * 16 + 2 * 16 + 12 * 4));
  // The data take 64 + 32 + 56 * 48 bytes, which are one page of 4 KiB; binaries stay where they
  // are.
  EXPECT_EQ(trace_bytes(full_, software_), Bytes(4096));
  Footprint more = full_;
  more.unique_arguments = 128;
  EXPECT_EQ(trace_bytes(more, software_), Bytes(8 * 4096));
}

}  // namespace
}  // namespace howard::chip
