// SPDX-License-Identifier: Apache-2.0
#include "engines/query/op_c.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace {

howard_tensor matrix(std::int64_t rows, std::int64_t columns) {
  howard_tensor tensor{};
  tensor.rank = 2;
  tensor.dims[0] = rows;
  tensor.dims[1] = columns;
  return tensor;
}

class OpModelOfC : public ::testing::Test {
 protected:
  void SetUp() override {
    std::array<char, 200> error{};
    model = howard_op_open(nullptr, nullptr, 1, 0, error.data(), error.size());
    ASSERT_NE(model, nullptr) << error.data();
  }
  void TearDown() override { howard_op_close(model); }

  howard_op_model* model = nullptr;
  std::array<howard_tensor, 2> factors{matrix(2048, 2048), matrix(2048, 2048)};
  howard_op_call call{.size = sizeof(howard_op_call),
                      .op = "matmul",
                      .attributes = nullptr,
                      .inputs = factors.data(),
                      .input_count = 2};
  howard_op_answer answer{.size = sizeof(howard_op_answer)};
};

TEST_F(OpModelOfC, AnswersACall) {
  ASSERT_EQ(howard_op_query(model, &call, &answer), HOWARD_OK);
  EXPECT_EQ(answer.legal, 1) << answer.reason;
  EXPECT_EQ(answer.circular_buffers, 655360U);
  EXPECT_GT(answer.kernel_ps, 0U);
  ASSERT_EQ(answer.output_count, 1U);
  EXPECT_EQ(answer.outputs[0].dims[3], 2048);
  EXPECT_EQ(std::string(answer.rests_on), "calibrated");
}

TEST_F(OpModelOfC, SaysWhyACallIsNotLegal) {
  factors[1] = matrix(64, 32);
  ASSERT_EQ(howard_op_query(model, &call, &answer), HOWARD_OK);
  EXPECT_EQ(answer.legal, 0);
  EXPECT_NE(std::string(answer.reason), "");
  factors[1].dims[0] = -1;
  ASSERT_EQ(howard_op_query(model, &call, &answer), HOWARD_OK);
  EXPECT_EQ(answer.legal, 0);
  call.attributes = "{";
  ASSERT_EQ(howard_op_query(model, &call, &answer), HOWARD_OK);
  EXPECT_EQ(answer.legal, 0);
}

TEST_F(OpModelOfC, KnowsWhatItCannotRead) {
  call.size = 1;
  EXPECT_EQ(howard_op_query(model, &call, &answer), HOWARD_BAD_ARGUMENT);
  call.size = sizeof call;
  EXPECT_EQ(howard_op_query(nullptr, &call, &answer), HOWARD_BAD_ARGUMENT);
  call.op = nullptr;
  EXPECT_EQ(howard_op_query(model, &call, &answer), HOWARD_BAD_ARGUMENT);
  std::array<char, 200> error{};
  EXPECT_EQ(howard_op_open("grayskull", nullptr, 0, 0, error.data(), error.size()), nullptr);
  EXPECT_NE(std::string(error.data()).find("grayskull"), std::string::npos) << error.data();
}

TEST_F(OpModelOfC, ABatchHasAnswersInTheOrderOfItsCalls) {
  std::array<howard_op_call, 2> calls{call, call};
  calls[1].op = "add";
  std::array<howard_op_answer, 2> answers{answer, answer};
  std::size_t answered = 0;
  ASSERT_EQ(howard_op_query_batch(model, calls.data(), 2, answers.data(), &answered), HOWARD_OK);
  EXPECT_EQ(answered, 2U);
  EXPECT_EQ(answers[0].circular_buffers, 655360U);
  EXPECT_EQ(answers[1].circular_buffers, 12288U);
}

TEST_F(OpModelOfC, NothingAliveIsNotTheSameAsMuch) {
  const howard_live live{.bytes = 1'200'000, .address = 0};
  call.live = &live;
  call.live_count = 1;
  ASSERT_EQ(howard_op_query(model, &call, &answer), HOWARD_OK);
  EXPECT_LT(answer.circular_buffers, 655360U);
}

}  // namespace
