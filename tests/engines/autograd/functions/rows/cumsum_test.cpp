// SPDX-License-Identifier: Apache-2.0
#include "engines/autograd/functions/rows/cumsum.h"

#include <gtest/gtest.h>

#include "engines/autograd/functions/elementwise/arithmetic.h"
#include "engines/autograd/host_values.h"
#include "engines/chip/emulated_chip.h"
#include "engines/host/host_device.h"
#include "tests/engines/autograd/gradient_check.h"

namespace howard::autograd {
namespace {

using reference::ReferenceDevice;

/// The sums of [2, 3] numbers, worked out by hand.
void expect_sums(Device& device) {
  const Calls calls(device);
  const ops::Tensor x = calls.make({{2, 3}, DataType::float32});
  write_values(calls.queue(), x, std::array{1.0F, 2.0F, 3.0F, 10.0F, 20.0F, 30.0F});
  const auto sums = [&](int dim, bool flip) {
    return read_values(calls.queue(), calls.call(CumsumAttributes{.dim = dim, .flip = flip}, {x}));
  };
  using Values = std::vector<float>;
  EXPECT_EQ(sums(2, false), (Values{1, 2, 3, 11, 22, 33}));
  EXPECT_EQ(sums(2, true), (Values{11, 22, 33, 10, 20, 30}));
  EXPECT_EQ(sums(3, false), (Values{1, 3, 6, 10, 30, 60}));
  EXPECT_EQ(sums(3, true), (Values{6, 5, 3, 60, 50, 30}));
  const ops::Tensor matrices = calls.make({{2, 2, 1, 2}, DataType::float32});
  write_values(calls.queue(), matrices, std::array{1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F, 7.0F, 8.0F});
  const auto of_matrices = [&](int dim) {
    return read_values(calls.queue(), calls.call(CumsumAttributes{.dim = dim}, {matrices}));
  };
  EXPECT_EQ(of_matrices(0), (Values{1, 2, 3, 4, 6, 8, 10, 12}));
  EXPECT_EQ(of_matrices(1), (Values{1, 2, 4, 6, 5, 6, 12, 14}));
}

TEST(Cumsum, IsTheSumUpToEachPlaceOrFromItOn) {
  host::HostDevice host;
  expect_sums(host);
  ReferenceDevice reference;
  expect_sums(reference);
}

TEST(Cumsum, ItsGradientsAreThoseOfFloat64) {
  ReferenceDevice device;
  Parameter x{"x", {device, {.shape = {2, 1, 3, 5}, .dtype = DataType::float32}}, {}};
  reference::fill_random(device, x.value, 1);
  Parameter* all[] = {&x};
  for (const int dim : {2, 3}) {
    reference::expect_gradients(device, all,
                                [&](Tape& tape) {
                                  const Value sums = cumsum(tape, tape.parameter(x), dim);
                                  const ops::Tensor weights(device, tape.spec(sums));
                                  reference::fill_random(device, weights, 2);
                                  return mean(tape, multiply(tape, sums, tape.constant(weights)));
                                },
                                {.compute = DataType::float32});
  }
}

TEST(Cumsum, OnTheChipACoreGoesThroughALineOfTiles) {
  chip::EmulatedChip device(chip::load_profiles());
  const Calls calls(device);
  const auto time = [&](const Shape& shape, int dim) {
    const ops::Tensor x = calls.make({.shape = shape});
    const Program program =
        make_program(CumsumAttributes{.dim = dim}, {x.operand()}, {x.operand()});
    return device.explain(program).kernel.total;
  };
  EXPECT_EQ(time({32, 2048}, 2), time({2048, 32}, 3)) << "64 lines of one tile each";
  EXPECT_GT(time({32, 2048}, 3), time({32, 2048}, 2)) << "one line of 64 tiles";
  EXPECT_EQ(time({3, 1, 32, 256}, 0), time({96, 256}, 2)) << "three tiles of each of 8 lines";
  EXPECT_EQ(time({1, 3, 32, 256}, 1), time({96, 256}, 2));
}

}  // namespace
}  // namespace howard::autograd
