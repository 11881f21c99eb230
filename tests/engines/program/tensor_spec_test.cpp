// SPDX-License-Identifier: Apache-2.0
#include "engines/program/tensor_spec.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/error.h"

namespace howard {
namespace {

TEST(Shape, LastTwoDimensionsAreTiled) {
  const Shape shape{2, 3, 33, 64};
  EXPECT_EQ(shape.batch(), 6);
  EXPECT_EQ(shape.tile_rows(), 2);
  EXPECT_EQ(shape.tile_columns(), 2);
  EXPECT_EQ(shape.tiles(), 24);
  EXPECT_FALSE(shape.is_tile_aligned());
  EXPECT_EQ(shape.text(), "2x3x33x64");
}

TEST(Shape, MissingLeadingDimensionsAreOne) {
  EXPECT_EQ((Shape{32, 64}), (Shape{1, 1, 32, 64}));
  EXPECT_EQ((Shape{32, 64}).text(), "32x64");
  EXPECT_EQ((Shape{64}), (Shape{1, 64}));
}

TEST(Shape, WithColumnsKeepsTheOtherDimensions) {
  EXPECT_EQ((Shape{2, 3, 4, 5}).with_columns(7), (Shape{2, 3, 4, 7}));
}

TEST(Shape, NonsenseIsAnError) {
  EXPECT_THROW((Shape{0, 32}), Error);
  EXPECT_THROW((Shape{-1}), Error);
  EXPECT_THROW((Shape{1, 1, 1, 1, 1}), Error);
  EXPECT_THROW((Shape{}), Error);
  EXPECT_THROW((Shape{std::int64_t{1} << 40, 1}), Error);
  EXPECT_THROW((Shape{1 << 24, 1 << 24, 1 << 24, 1 << 24}), Error);
}

TEST(TensorSpec, PaddedBytesCountWholeTilesOfEachFormat) {
  EXPECT_EQ((TensorSpec{{33, 32}, DataType::bfloat16}).padded_bytes(), Bytes(2 * 2048));
  EXPECT_EQ((TensorSpec{{32, 32}, DataType::float32}).padded_bytes(), Bytes(4096));
  EXPECT_EQ((TensorSpec{{32, 32}, DataType::bfloat8_b}).padded_bytes(), Bytes(1088));
  EXPECT_EQ((TensorSpec{{32, 32}, DataType::bfloat4_b}).padded_bytes(), Bytes(576));
  EXPECT_EQ((TensorSpec{{32, 32}, DataType::int32}).padded_bytes(), Bytes(4096));
  EXPECT_EQ((TensorSpec{{32, 32}, DataType::uint32}).padded_bytes(), Bytes(4096));
  EXPECT_EQ((TensorSpec{{32, 32}, DataType::uint16}).padded_bytes(), Bytes(2048));
  EXPECT_EQ((TensorSpec{{32, 32}, DataType::uint8}).padded_bytes(), Bytes(1024));
}

TEST(TensorSpec, HostBytesHaveNoPadding) {
  EXPECT_EQ((TensorSpec{{33, 3}, DataType::bfloat16}).host_bytes(), Bytes(2 * 99));
  EXPECT_EQ((TensorSpec{{33, 3}, DataType::float32}).host_bytes(), Bytes(4 * 99));
  EXPECT_EQ((TensorSpec{{33, 3}, DataType::int32}).host_bytes(), Bytes(4 * 99));
  EXPECT_EQ((TensorSpec{{33, 3}, DataType::uint16}).host_bytes(), Bytes(2 * 99));
  EXPECT_EQ((TensorSpec{{33, 3}, DataType::uint8}).host_bytes(), Bytes(99));
}

TEST(DataType, NamesRoundTripAndOthersAreErrors) {
  std::string names;
  for (const DataType dtype : kDataTypes) {
    names += std::string(names.empty() ? "" : " ") + std::string(name_of(dtype));
    EXPECT_EQ(parse_data_type(name_of(dtype)), dtype);
    EXPECT_EQ(is_whole(dtype), name_of(dtype).find("int") != std::string_view::npos);
  }
  EXPECT_EQ(names, "bfloat16 float32 bfloat8_b bfloat4_b uint32 int32 uint16 uint8");
  EXPECT_THROW(parse_data_type("bf16"), Error);
}

}  // namespace
}  // namespace howard
