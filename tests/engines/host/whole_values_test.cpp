// SPDX-License-Identifier: Apache-2.0
// What the kernels of the host compute of whole numbers is what the definitions of the ops say, bit
// by bit, for numbers of all sizes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "engines/host/host_device.h"
#include "engines/ops/catalogue.h"
#include "engines/program/whole_numbers.h"
#include "engines/reference/reference_device.h"

namespace howard::host {
namespace {

using Bytes1 = std::vector<std::byte>;

constexpr std::array kWholeTypes{DataType::int32, DataType::uint32, DataType::uint16,
                                 DataType::uint8};

/// Returns the numbers of an operand: any bits, of which one number in four is near 0 or a limit.
/// Places are below `places`.
Bytes1 random_operand(const TensorSpec& spec, bool is_place, std::int64_t places,
                      std::mt19937_64& generator) {
  const std::int64_t size = element_bytes(spec.dtype);
  Bytes1 bytes(static_cast<std::size_t>(spec.host_bytes().value()));
  for (std::int64_t i = 0; i < spec.shape.elements(); ++i) {
    std::byte* const to = bytes.data() + i * size;
    const auto drawn = static_cast<std::int64_t>(generator());
    if (spec.is_real()) {
      const float value = static_cast<float>(drawn % 2000001 - 1000000) / 8;
      std::memcpy(to, reinterpret_cast<const std::byte*>(&value) + 4 - size,
                  static_cast<std::size_t>(size));
    } else if (is_place) {
      write_whole(spec.dtype, static_cast<std::int64_t>(generator() & 0xFFFF) % places, to);
    } else {
      const std::int64_t edge = (drawn % 8 < 4 ? 0 : std::int64_t{1} << 31) + drawn / 8 % 40;
      write_whole(spec.dtype, drawn % 4 == 0 ? edge : drawn >> 7, to);
    }
  }
  return bytes;
}

/// Returns what a device computes.
std::vector<Bytes1> computed(Device& device, Program program, const std::vector<Bytes1>& inputs) {
  CommandQueue& queue = device.command_queue(0);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    program.inputs[i].buffer = device.allocate(program.inputs[i].spec);
    queue.write_buffer(program.inputs[i].buffer, inputs[i]);
  }
  std::vector<Bytes1> results;
  for (Operand& output : program.outputs) output.buffer = device.allocate(output.spec);
  queue.enqueue(program);
  for (const Operand& output : program.outputs) {
    results.emplace_back(static_cast<std::size_t>(output.spec.host_bytes().value()));
    queue.read_buffer(output.buffer, results.back());
  }
  return results;
}

void expect_equal(const std::string& call, DataType dtype, std::int64_t places = 1) {
  SCOPED_TRACE(fmt::format("{} of {}", call, name_of(dtype)));
  const Program program = ops::parse_program(call, dtype);
  std::mt19937_64 generator(17);
  std::vector<Bytes1> inputs;
  const auto roles = input_roles(program.attributes);
  for (const Operand& input : program.inputs) {
    const OperandRole& role = roles[std::min(inputs.size(), roles.size() - 1)];
    inputs.push_back(random_operand(input.spec, are_places(role.takes), places, generator));
  }
  HostDevice host;
  reference::ReferenceDevice exact(reference::Rounding::of_storage);
  EXPECT_EQ(computed(host, program, inputs), computed(exact, program, inputs));
}

TEST(HostWholeValues, FunctionsThatTakeWholeNumbers) {
  for (const DataType dtype : kWholeTypes) {
    int seen = 0;
    for (const EltwiseEntry& entry : eltwise_catalogue()) {
      if (!entry.takes_whole || entry.values == 0) continue;
      ++seen;
      const std::string name(entry.name);
      if (entry.values == 1) expect_equal(name + " 3x700", dtype);
      if (entry.values == 2) {
        expect_equal(name + " 3x5x700 5x1", dtype);
        expect_equal(name + ":scalar=3 3x70", dtype);
        expect_equal(name + ":scalar=0.5 3x70", dtype);
      }
      if (entry.values == 3) expect_equal(name + " 3x70 70 3x70", dtype);
    }
    EXPECT_GT(seen, 50);
  }
  expect_equal("where 3x70 bfloat16 3x70 3x70", DataType::int32);
  expect_equal("where 3x70 3x70 float32 3x70 float32", DataType::int32);
  expect_equal("add 3x70 float32 3x70", DataType::int32);
  expect_equal("add+relu 3x70 3x70", DataType::int32);
  expect_equal("fill:scalar=-7.5 -> 3x70", DataType::int32);
}

TEST(HostWholeValues, ConversionsBetweenAllTypes) {
  for (const DataType from : kDataTypes) {
    for (const DataType to : kDataTypes) {
      const auto block = [](DataType type) {
        return type == DataType::bfloat8_b || type == DataType::bfloat4_b;
      };
      if (block(from) || block(to) || (!is_whole(from) && !is_whole(to))) continue;
      expect_equal(fmt::format("cast 3x700 -> 3x700 {}", name_of(to)), from);
      if (is_whole(from)) {
        expect_equal(fmt::format("multiply 3x70 3x70 -> 3x70 {}", name_of(to)), from);
      }
    }
  }
}

TEST(HostWholeValues, MovesSumsAndOrders) {
  const std::vector<std::string> calls{"transpose 2x257x300",
                                       "transpose_heads 3x5x70x33",
                                       "permute:order=3,1,0,2 2x3x4x5",
                                       "reshape 3x70x50 -> 50x210",
                                       "untilize 3x70x50",
                                       "repeat 2x2x5x3 -> 2x6x5x3",
                                       "concat 2x3x40x5 2x3x40x1 2x3x40x90 -> 2x3x40x96",
                                       "slice:begins=1,0,1,0:steps=1,1,1,2 2x2x2x3 -> 1x2x1x2",
                                       "pad:before=0,0,1,1:value=9 1x2 -> 3x4",
                                       "argmax 33x31",
                                       "sort 2x3000",
                                       "sort:descending 33x31",
                                       "sum:dimension=columns 2x3x5x70",
                                       "sum:dimension=rows 2x300x25",
                                       "sum:dimension=batch 2x3x5x70",
                                       "sum:dimension=all 2x3x5x70",
                                       "max:dimension=columns 2x3x5x70",
                                       "max:dimension=rows 2x300x25",
                                       "cumsum 2x40x70",
                                       "cumsum:dim=3:flip 2x40x70"};
  for (const DataType dtype : kWholeTypes) {
    for (const std::string& call : calls) expect_equal(call, dtype);
    expect_equal("scatter 5x30 row_major 5x2 uint32 row_major 5x2 row_major", dtype, 30);
    expect_equal("scatter 5x30 row_major 5x2 uint16 row_major 5x2 row_major", dtype, 30);
  }
  for (const DataType dtype : {DataType::int32, DataType::uint32, DataType::uint16}) {
    expect_equal("plus_one 1x32 row_major", dtype, 1 << 16);
    expect_equal(fmt::format("topk:k=5 33x31 -> 33x5 33x5 {}", name_of(dtype)), DataType::bfloat16);
  }
}

TEST(HostWholeValues, PlacesOutsideARowAreNamed) {
  const Program program = ops::parse_program(
      "scatter 1x3 row_major 1x1 int32 row_major 1x1 row_major", DataType::bfloat16);
  HostDevice host;
  const auto run = [&](std::int64_t place) {
    Bytes1 at(4);
    write_whole(DataType::int32, place, at.data());
    return computed(host, program, {Bytes1(6), at, Bytes1(2)});
  };
  EXPECT_NO_THROW(run(2));
  EXPECT_THROW(run(3), Error);
  EXPECT_THROW(run(-1), Error);
}

}  // namespace
}  // namespace howard::host
