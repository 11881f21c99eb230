// SPDX-License-Identifier: Apache-2.0
// What ops compute, in numbers that can be checked by hand. ln 3 is 1.0986123: exp(0) and exp(ln 3)
// are 1 and 3. Functions of single values have theirs from PyTorch (eltwise_torch.json).
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "engines/ops/catalogue.h"
#include "engines/reference/reference_ops.h"

namespace howard::reference {
namespace {

constexpr double kLn3 = 1.0986122886681098;

struct Row {
  std::string call;
  std::vector<Values> inputs, results;
};

const std::vector<Row>& products() {
  static const std::vector<Row> kRows{
      {"matmul 2x2 2x2", {{1, 2, 3, 4}, {5, 6, 7, 8}}, {{19, 22, 43, 50}}},
      {"matmul:transpose_a 2x2 2x2", {{1, 2, 3, 4}, {5, 6, 7, 8}}, {{26, 30, 38, 44}}},
      {"matmul:transpose_b 2x2 2x2", {{1, 2, 3, 4}, {5, 6, 7, 8}}, {{17, 23, 39, 53}}},
      {"matmul:activation=relu 1x2 2x2 1x2", {{1, -1}, {5, 6, 7, 8}, {1, 3}}, {{0, 1}}},
      {"minimal_matmul 1x2 2x2 1x2", {{1, -1}, {5, 6, 7, 8}, {1, 3}}, {{-1, 1}}},
      {"swiglu 1x2 1x2 2x1 1x2", {{1, 2}, {1, 0}, {1, -1}, {0, 1}}, {{1.46211716, -1.46211716}}},
      {"attention:scale=1 1x1x2x1 1x1x2x1 1x1x2x1", {{0, kLn3}, {0, 1}, {4, 8}}, {{6, 7}}},
      {"attention:scale=1:causal 1x1x2x1 1x1x2x1 1x1x2x1", {{0, kLn3}, {0, 1}, {4, 8}}, {{4, 7}}},
      {"attention:scale=1 1x1x2x1 1x1x2x1 1x1x2x1 1x1x2x2",
       {{0, 0}, {0, 1}, {4, 8}, {0, -kLn3, -1e9, 0}},
       {{5, 8}}},
      {"attention:scale=1:causal:window=1 1x1x2x1 1x1x2x1 1x1x2x1",
       {{0, kLn3}, {0, 1}, {4, 8}},
       {{4, 8}}},
      {"attention:scale=1:window=2 1x1x3x1 1x1x3x1 1x1x3x1",
       {{0, 0, 0}, {0, 1, 2}, {4, 8, 12}},
       {{6, 8, 10}}},
      {"decode_attention:scale=1 1x1x1x1 1x1x3x1 1x1x3x1 1x1 uint32 row_major",
       {{0}, {0, 1, 2}, {4, 8, 99}, {1}},
       {{6}}},
      {"decode_attention:scale=1:window=2 1x1x1x1 1x1x3x1 1x1x3x1 1x1 uint32 row_major",
       {{0}, {0, 1, 2}, {4, 8, 10}, {2}},
       {{9}}},
      {"sparse_matmul 1x1x1x2 1x2x2x1 1x1x1x2 row_major",
       {{1, 2}, {3, 4, 5, 6}, {0, 7}},
       {{0, 17}}},
      {"sparse_matmul 2x1x1x1 1x2x1x1 2x1x1x2 row_major",
       {{1, 2}, {3, 5}, {1, 1, 0, 1}},
       {{3, 5, 0, 10}}},
      {"sparse_matmul:sparse_a 1x2x1x1 1x2x1x1 1x1x1x2 row_major",
       {{1, 2}, {3, 5}, {1, 0}},
       {{3, 0}}},
      {"sdpa_fw:scale=1:causal=false 1x1x2x1 1x1x2x1 1x1x2x1",
       {{0, kLn3}, {0, 1}, {4, 8}},
       {{6, 7}, {0, kLn3}, {0.5, 0.75}}},
      // The first row sees the second place, and the second one none, which is as if it saw all.
      {"sdpa_fw:scale=1:causal=false 1x1x2x1 1x1x2x1 1x1x2x1 1x1x2x2",
       {{kLn3, kLn3}, {0, 1}, {4, 8}, {0, 1, 0, 0}},
       {{8, 6}, {kLn3, -1e9}, {1, 0.5}}},
      // No gradient goes through a score that is hidden.
      {"sdpa_bw_q:scale=1:causal=false 1x1x1x1 1x1x2x1 1x1x2x1 1x1x1x1 1x1x1x1 1x1x1x1 1x1x1x1 "
       "1x1x1x2",
       {{kLn3}, {0, 1}, {4, 8}, {6}, {1}, {kLn3}, {0.5}, {0, 1}},
       {{1}}},
      {"sdpa_bw_q:scale=1:causal=false 1x1x2x1 1x1x2x1 1x1x2x1 1x1x2x1 1x1x2x1 1x1x2x1 1x1x2x1",
       {{0, kLn3}, {0, 1}, {4, 8}, {6, 7}, {1, 1}, {0, kLn3}, {0.5, 0.75}},
       {{1, 0.75}}},
      {"sdpa_bw_kv:scale=1:causal=false 1x1x2x1 1x1x2x1 1x1x2x1 1x1x2x1 1x1x2x1 1x1x2x1 1x1x2x1",
       {{0, kLn3}, {0, 1}, {4, 8}, {6, 7}, {1, 1}, {0, kLn3}, {0.5, 0.75}},
       {{-0.75 * kLn3, 0.75 * kLn3}, {0.75, 1.25}}},
  };
  return kRows;
}

const std::vector<Row>& of_rows() {
  static const std::vector<Row> kRows{
      {"add 1x2 1x1", {{1, 2}, {2}}, {{3, 4}}},
      {"add+relu 1x2 1x2", {{1, -5}, {1, 1}}, {{2, 0}}},
      {"subtract:scalar=1 1x2", {{1, 2}}, {{0, 1}}},
      {"gelu_backward 1x2 1x2", {{0, 1}, {2, 1}}, {{1, 1.08331547}}},
      {"swiglu_backward 1x2 1x2 1x2",
       {{0, 1}, {2, 1}, {3, 1}},
       {{3, 0.927670512}, {0, 0.731058579}}},
      {"dropout:probability=0 1x2", {{1, 2}}, {{1, 2}}},
      {"sum:dimension=columns 2x3", {{1, 2, 3, 4, 5, 6}}, {{6, 15}}},
      {"sum:dimension=rows 2x3", {{1, 2, 3, 4, 5, 6}}, {{5, 7, 9}}},
      {"sum:dimension=batch 2x1x2", {{1, 2, 3, 4}}, {{4, 6}}},
      {"sum:dimension=all 2x3", {{1, 2, 3, 4, 5, 6}}, {{21}}},
      {"mean:dimension=rows 2x3", {{1, 2, 3, 4, 5, 6}}, {{2.5, 3.5, 4.5}}},
      {"max:dimension=columns 2x3", {{1, 5, 2, -4, -3, -9}}, {{5, -3}}},
      {"cumsum 3x2", {{1, 2, 3, 4, 5, 6}}, {{1, 2, 4, 6, 9, 12}}},
      {"cumsum:flip 3x2", {{1, 2, 3, 4, 5, 6}}, {{9, 12, 8, 10, 5, 6}}},
      {"cumsum:dim=3 1x3", {{1, 2, 3}}, {{1, 3, 6}}},
      {"softmax 1x2", {{0, kLn3}}, {{0.25, 0.75}}},
      {"softmax_backward 1x2 1x2", {{0.25, 0.75}, {4, 8}}, {{-0.75, 0.75}}},
      {"layernorm:epsilon=3 1x2", {{1, 3}}, {{-0.5, 0.5}}},
      {"ttml_layernorm:epsilon=3 1x2 1x2 1x2", {{1, 3}, {2, 4}, {1, 1}}, {{0, 3}, {2}, {0.5}}},
      {"layernorm_backward 1x3 1x3 1x1 1x1 1x3",
       {{0, 1, 2}, {1, 1, 1}, {1}, {1}, {1, 0, 0}},
       {{1.0 / 3, -1.0 / 3, 0}, {-1, 0, 0}, {1, 0, 0}}},
      {"rms_norm:epsilon=0 1x2 1x2", {{1, 7}, {1, 2}}, {{0.2, 2.8}}},
      {"ttml_rms_norm:epsilon=0 1x2 1x2", {{1, 7}, {1, 2}}, {{0.2, 2.8}, {5}}},
      {"rms_norm_backward 1x2 1x2 1x1 1x2",
       {{1, 7}, {1, 1}, {5}, {1, 0}},
       {{0.196, -0.028}, {0.2, 0}}},
      {"rotary_embedding:style=pairs 1x4 1x4 1x4",
       {{1, 2, 3, 4}, {0, 0, 0, 0}, {1, 1, 1, 1}},
       {{-2, 1, -4, 3}}},
      {"rotary_embedding:style=halves 1x4 1x4 1x4",
       {{1, 2, 3, 4}, {0, 0, 0, 0}, {1, 1, 1, 1}},
       {{-3, -4, 1, 2}}},
  };
  return kRows;
}

const std::vector<Row>& losses_updates_and_choices() {
  static const std::vector<Row> kRows{
      {"cross_entropy 1x1x2 1x1 uint32 row_major", {{0, kLn3}, {0}}, {{1.38629436}}},
      {"nll_loss 1x1x2 1x1 uint32 row_major", {{-1, -2}, {1}}, {{2}}},
      {"cross_entropy_backward:scale=2 1x1x2 1x1 uint32 row_major",
       {{0, kLn3}, {0}},
       {{-1.5, 1.5}}},
      {"nll_loss_backward:scale=2 1x1x2 1x1 uint32 row_major", {{-1, -2}, {1}}, {{0, -2}}},
      {"adamw:learning_rate=0.5:beta1=0.5:beta2=0.75:weight_decay=0.5:step=1 1x1 1x1 1x1 1x1 -> "
       "1x1 1x1 1x1",
       {{1}, {2}, {0}, {0}},
       {{0.25}, {1}, {1}}},
      {"sgd:learning_rate=0.5:momentum=0.5:weight_decay=1 1x1 1x1 1x1 -> 1x1 1x1",
       {{1}, {1}, {2}},
       {{-0.5}, {3}}},
      {"sgd:learning_rate=0.5:momentum=0.5:weight_decay=1:nesterov 1x1 1x1 1x1 -> 1x1 1x1",
       {{1}, {1}, {2}},
       {{-0.75}, {3}}},
      {"argmax 2x3", {{1, 3, 2, 5, 5, 4}}, {{1, 0}}},
      {"topk:k=2 1x3", {{1, 3, 2}}, {{3, 2}, {1, 2}}},
      {"topk:k=2:largest=false 1x3", {{1, 3, 2}}, {{1, 2}, {0, 2}}},
      {"sort 2x3", {{1, 3, 2, 5, 5, 4}}, {{1, 2, 3, 4, 5, 5}, {0, 2, 1, 2, 0, 1}}},
      {"sort:descending 1x4", {{1, 3, 2, 3}}, {{3, 3, 2, 1}, {1, 3, 2, 0}}},
      {"plus_one 1x2 uint32 row_major", {{4, 7}}, {{5, 8}}},
      {"scatter 1x3 row_major 1x2 uint32 row_major 1x2 row_major",
       {{1, 2, 3}, {2, 0}, {9, 8}},
       {{8, 2, 9}}},
  };
  return kRows;
}

const std::vector<Row>& moved() {
  static const std::vector<Row> kRows{
      {"transpose 2x3", {{1, 2, 3, 4, 5, 6}}, {{1, 4, 2, 5, 3, 6}}},
      {"transpose_heads 2x3x1", {{1, 2, 3, 4, 5, 6}}, {{1, 4, 2, 5, 3, 6}}},
      {"permute:order=3,1,0,2 2x2x1x3",
       {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
       {{0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11}}},
      {"reshape 2x3 -> 3x2", {{1, 2, 3, 4, 5, 6}}, {{1, 2, 3, 4, 5, 6}}},
      {"repeat 2x1x1 -> 4x1x1", {{1, 2}}, {{1, 1, 2, 2}}},
      {"tilize 1x2 row_major", {{1, 2}}, {{1, 2}}},
      {"copy 1x2 -> 1x2 l1", {{1, 2}}, {{1, 2}}},
      {"concat 2x1 2x2 -> 2x3", {{1, 2}, {3, 4, 5, 6}}, {{1, 3, 4, 2, 5, 6}}},
      {"concat:dimension=1 2x1x2 1x1x2 -> 3x1x2", {{1, 2, 3, 4}, {5, 6}}, {{1, 2, 3, 4, 5, 6}}},
      {"split_heads:heads=2 1x1x1x6", {{1, 2, 3, 4, 5, 6}}, {{1, 2}, {3, 4}, {5, 6}}},
      {"split_heads:heads=1:transpose_k 1x1x2x3", {{1, 2, 3, 4, 5, 6}}, {{1, 4}, {2, 5}, {3, 6}}},
      {"split_groups:heads=2:groups=1 1x1x1x2 1x1x1x2", {{1, 2}, {3, 4}}, {{1, 2}, {3}, {4}}},
      {"concat_heads 1x2x2x1", {{1, 2, 3, 4}}, {{1, 3, 2, 4}}},
      {"slice:begins=0,0,1,0:steps=1,1,1,2 2x3 -> 1x2", {{1, 2, 3, 4, 5, 6}}, {{4, 6}}},
      {"pad:before=0,0,1,1:value=9 1x2 -> 2x4", {{1, 2}}, {{9, 9, 9, 9, 9, 1, 2, 9}}},
      {"write_rows:row=1 1x2 3x2", {{7, 8}, {1, 2, 3, 4, 5, 6}}, {{1, 2, 7, 8, 5, 6}}},
      {"update_cache 1x2 3x2 1x1 uint32 row_major",
       {{7, 8}, {1, 2, 3, 4, 5, 6}, {2}},
       {{1, 2, 3, 4, 7, 8}}},
      {"embedding 1x2 uint32 row_major 3x2 row_major",
       {{2, 0}, {1, 2, 3, 4, 5, 6}},
       {{5, 6, 1, 2}}},
      {"embedding_backward 1x3 uint32 row_major 1x3x2 -> 2x2",
       {{1, 0, 1}, {1, 2, 3, 4, 5, 6}},
       {{3, 4, 6, 8}}},
  };
  return kRows;
}

const std::vector<Row>& of_whole_numbers() {
  constexpr double kLeast = -2147483648, kMost = 2147483647, kAll = 4294967295;
  static const std::vector<Row> kRows{
      {"add 1x2 int32 1x2 int32", {{kMost, -1}, {1, -5}}, {{kLeast, -6}}},
      {"add:scalar=1 1x1 uint8", {{255}}, {{0}}},
      {"add:scalar=0.5 1x2 int32", {{1, -1}}, {{1, 0}}},
      {"subtract 1x1 uint32 1x1 uint32", {{0}, {1}}, {{kAll}}},
      {"multiply 1x1 uint16 1x1 uint16", {{300}, {300}}, {{24464}}},
      {"divide 1x2 int32 1x2 int32", {{1, -3}, {2, 4}}, {{0.5, -0.75}}},
      {"floor_div 1x3 int32 1x3 int32", {{-7, 7, 5}, {2, -2, 0}}, {{-4, -4, 0}}},
      {"trunc_div 1x3 int32 1x3 int32", {{-7, 7, 5}, {2, -2, 0}}, {{-3, -3, 0}}},
      {"remainder 1x3 int32 1x3 int32", {{-7, 7, 5}, {2, -2, 0}}, {{1, -1, 0}}},
      {"fmod 1x3 int32 1x3 int32", {{-7, 7, 5}, {2, -2, 0}}, {{-1, 1, 0}}},
      {"pow 1x3 int32 1x3 int32", {{3, -1, 2}, {4, -3, -1}}, {{81, -1, 0}}},
      {"bitwise_and 1x2 int32 1x2 int32", {{-1, 12}, {255, 10}}, {{255, 8}}},
      {"bitwise_not 1x1 uint16", {{0}}, {{65535}}},
      {"bitwise_left_shift 1x3 int32 1x3 int32", {{1, 1, 1}, {31, 32, -1}}, {{kLeast, 0, 0}}},
      {"bitwise_right_shift 1x2 int32 1x2 int32", {{-8, -8}, {1, 40}}, {{-4, -1}}},
      {"logical_right_shift 1x2 int32 1x2 int32", {{-1, -1}, {28, 32}}, {{15, 0}}},
      {"abs 1x2 int32", {{kLeast, -5}}, {{kLeast, 5}}},
      {"lt 1x2 uint32 1x2 uint32", {{kAll, 1}, {1, 2}}, {{0, 1}}},
      {"eq 1x2 1x2 -> 1x2 uint8", {{0.5, 2}, {0.5, 3}}, {{1, 0}}},
      {"clamp 1x3 int32", {{-7, 0, 7}}, {{-1, 0, 1}}},
      {"where 1x2 1x2 int32 1x2 int32", {{0, 0.5}, {1, 2}, {kMost, 4}}, {{kMost, 2}}},
      {"cast 1x5 -> 1x5 int32", {{2.9, -2.9, 3e9, -3e9, 0}}, {{2, -2, kMost, kLeast, 0}}},
      {"cast 1x4 -> 1x4 uint16", {{2.5, 0.49, -1, 7e4}}, {{3, 0, 0, 65535}}},
      {"cast 1x2 -> 1x2 uint8", {{257.5, -1}}, {{1, 255}}},
      {"cast 1x1 uint32 -> 1x1 int32", {{kAll}}, {{-1}}},
      {"cast 1x2 int32 -> 1x2 uint16", {{-5, 7e4}}, {{0, 65535}}},
      {"multiply 1x1 int32 1x1 int32 -> 1x1 uint16", {{300}, {300}}, {{65535}}},
      {"sum:dimension=columns 1x2 int32", {{kMost, 1}}, {{kLeast}}},
      {"max:dimension=columns 1x2 int32", {{-7, -9}}, {{-7}}},
      {"cumsum 2x1 uint16", {{65535, 2}}, {{65535, 1}}},
      {"plus_one 1x1 int32 row_major", {{kMost}}, {{kLeast}}},
  };
  return kRows;
}

const std::vector<Row>& of_images() {
  static const Values kNine{1, 2, 3, 4, 5, 6, 7, 8, 9};
  static const std::string kThree = ":height=3:width=3:window=2,2";
  static const std::string kPadded = kThree + ":padding=1,0,1,0";
  static const std::vector<Row> kRows{
      {"conv2d" + kThree + " 9x1 4x1", {kNine, {1, 10, 100, 1000}}, {{5421, 6532, 8754, 9865}}},
      {"conv2d" + kPadded + ":activation=relu 9x1 4x1 1x1",
       {kNine, {1, 10, 100, -1000}, {4300}},
       {{3300, 2400, 1500, 310, 0, 0, 0, 0, 0}}},
      {"halo" + kThree + " 9x1 row_major", {kNine}, {kNine}},
      {"max_pool2d" + kThree + " 9x1", {kNine}, {{5, 6, 8, 9}}},
      {"avg_pool2d" + kThree + " 9x1", {kNine}, {{3, 4, 6, 7}}},
      {"avg_pool2d" + kPadded + ":stride=2,2 9x1", {kNine}, {{0.25, 1.25, 2.75, 7}}},
      {"avg_pool2d" + kPadded + ":stride=2,2:counts_padding=false 9x1",
       {kNine},
       {{1, 2.5, 5.5, 7}}},
      {"avg_pool2d" + kPadded + ":stride=2,2:divisor=2 9x1", {kNine}, {{0.5, 2.5, 5.5, 14}}},
      {"avg_pool2d" + kThree + ":stride=2,2:beyond=1,1 9x1", {kNine}, {{3, 4.5, 7.5, 9}}},
      {"upsample:factor=1,2 1x2x2x1 row_major", {{0, 4, 8, 12}}, {{0, 0, 4, 4, 8, 8, 12, 12}}},
      {"upsample:factor=1,2:bilinear 1x2x2x1 row_major",
       {{0, 4, 8, 12}},
       {{0, 1, 3, 4, 8, 9, 11, 12}}},
      {"fold:stride=2,2 1x2x4x1 row_major", {{0, 1, 2, 3, 4, 5, 6, 7}}, {{0, 1, 4, 5, 2, 3, 6, 7}}},
      {"group_norm:groups=2:epsilon=0 1x1x2x2", {{1, 3, 5, 7}}, {{-1, -1, 1, 1}}},
      {"group_norm:epsilon=4 1x1x2x2", {{1, 3, 5, 7}}, {{-1, -1.0 / 3, 1.0 / 3, 1}}},
      {"batch_norm:epsilon=3 1x2x1x2 1x2x1x1 1x2x1x1 1x2x1x1 1x2x1x1",
       {{1, 3, 5, 7}, {1, 3}, {1, 3}, {1, 3}, {1, 3}},
       {{1, 2, 5.44948974, 7.89897949}}},
  };
  return kRows;
}

std::vector<Row> all_rows() {
  std::vector<Row> all;
  for (const auto* const part : {&products(), &of_rows(), &losses_updates_and_choices(), &moved(),
                                 &of_whole_numbers(), &of_images()}) {
    all.insert(all.end(), part->begin(), part->end());
  }
  return all;
}

TEST(ReferenceValues, AreThoseOfTheDefinition) {
  for (const auto& [call, inputs, results] : all_rows()) {
    SCOPED_TRACE(call);
    const Program program = ops::parse_program(call, DataType::float32);
    std::vector<const Values*> operands;
    for (const Values& input : inputs) operands.push_back(&input);
    ASSERT_EQ(program.inputs.size(), inputs.size());
    const std::vector<Values> computed = compute(program, operands);
    ASSERT_EQ(computed.size(), results.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      ASSERT_EQ(computed[i].size(), results[i].size()) << "result " << i;
      for (std::size_t j = 0; j < results[i].size(); ++j) {
        EXPECT_NEAR(computed[i][j], results[i][j], 5e-8) << "result " << i << ", element " << j;
      }
    }
  }
}

TEST(ReferenceValues, AreThereForEveryKind) {
  std::set<std::size_t> tested;
  for (const Row& row : all_rows()) {
    tested.insert(ops::parse_program(row.call, DataType::float32).attributes.index());
  }
  // They move data of which the device knows nothing, or draw numbers.
  for (const std::string_view other :
       {"move", "split_heads_decode", "concat_heads_decode", "paged_update_cache",
        "paged_fill_cache", "all_gather", "reduce_scatter", "all_gather_matmul",
        "matmul_reduce_scatter", "all_to_all_dispatch", "all_to_all_combine", "sampling"}) {
    tested.insert(op_named(other).index());
  }
  for (const Attributes& op : all_ops()) EXPECT_TRUE(tested.contains(op.index())) << name_of(op);
}

}  // namespace
}  // namespace howard::reference
