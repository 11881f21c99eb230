// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/dispatch/sub_device_owners.h"

#include <gtest/gtest.h>

namespace howard::chip {
namespace {

TEST(SubDeviceOwners, AFreshSubDeviceIsFreeAndItsUserOwnsIt) {
  SubDeviceOwners owners(2);
  EXPECT_EQ(owners.obstacle(1, 0), std::nullopt);
  owners.launched(0, 0);
  EXPECT_EQ(owners.obstacle(0, 0), std::nullopt);
  EXPECT_EQ(owners.obstacle(1, 0), 0);
  EXPECT_EQ(owners.obstacle(1, 1), std::nullopt) << "the other sub-device";
}

TEST(SubDeviceOwners, AFinishOfTheOwnerFreesIt) {
  SubDeviceOwners owners(1);
  owners.launched(0, 0);
  owners.finished(1);
  EXPECT_EQ(owners.obstacle(1, 0), 0) << "another queue's finish says nothing";
  owners.finished(0);
  EXPECT_EQ(owners.obstacle(1, 0), std::nullopt);
}

TEST(SubDeviceOwners, AWaitForAnEventBehindTheLastProgramHandsItOver) {
  SubDeviceOwners owners(1);
  owners.launched(0, 0);
  owners.recorded(0, 5);
  EXPECT_EQ(owners.obstacle(1, 0), 0) << "recorded, not yet waited for";
  owners.waited(1, 5);
  EXPECT_EQ(owners.obstacle(1, 0), std::nullopt);
  owners.launched(1, 0);
  EXPECT_EQ(owners.obstacle(0, 0), 1);
}

TEST(SubDeviceOwners, TheFirstOfSeveralEventsBehindTheLastProgramIsEnough) {
  SubDeviceOwners owners(1);
  owners.launched(0, 0);
  owners.recorded(0, 5);
  owners.recorded(0, 6);
  owners.waited(1, 5);
  EXPECT_EQ(owners.obstacle(1, 0), std::nullopt);
}

TEST(SubDeviceOwners, AnEventBeforeTheLastProgramIsNotEnough) {
  SubDeviceOwners owners(1);
  owners.launched(0, 0);
  owners.recorded(0, 5);
  owners.launched(0, 0);
  owners.waited(1, 5);
  EXPECT_EQ(owners.obstacle(1, 0), 0);
  owners.recorded(0, 6);
  owners.waited(1, 5);
  EXPECT_EQ(owners.obstacle(1, 0), 0) << "still the older event";
  owners.recorded(0, 7);
  owners.waited(1, 7);
  EXPECT_EQ(owners.obstacle(1, 0), std::nullopt) << "any later event of the owner will do";
}

TEST(SubDeviceOwners, AnEventOfAnotherQueueIsNotEnough) {
  SubDeviceOwners owners(1);
  owners.launched(0, 0);
  owners.recorded(0, 5);
  owners.recorded(1, 6);
  owners.waited(1, 6);
  EXPECT_EQ(owners.obstacle(1, 0), 0);
}

}  // namespace
}  // namespace howard::chip
