// SPDX-License-Identifier: Apache-2.0
#include "engines/ops/catalogue.h"

#include <algorithm>

#include "base/error.h"
#include "tests/engines/ops/op_test.h"

namespace howard::ops {
namespace {

class Catalogue : public OpTest {
 protected:
  /// The program of an op on a first tensor of `first`, as a list of ops calls it.
  Program program_of(const OpCall& call, const TensorSpec& first) {
    std::vector<TensorSpec> specs{first};
    for (const TensorSpec& more : call.beside(first)) specs.push_back(more);
    const SpecList results = call.results(specs);
    return call.program({specs.begin(), specs.end()}, {results.begin(), results.end()});
  }
};

TEST_F(Catalogue, EveryOpIsFoundByItsNameAndMakesAProgramThatTakesTime) {
  EXPECT_TRUE(std::ranges::is_sorted(op_catalogue(), {}, &OpEntry::name));
  for (const OpEntry& op : op_catalogue()) {
    SCOPED_TRACE(op.name);
    EXPECT_EQ(find_op(op.name), &op);
    EXPECT_EQ(parse_op_call(op.name).has_value(), true);
    EXPECT_FALSE(op.meaning.empty());
    const OpCall call = *parse_op_call(op.name);
    EXPECT_EQ(call.beside({{2, 1, 64, 96}}).size() + 1, op.tensors);
    const Program program = program_of(call, {{2, 1, 64, 96}});
    EXPECT_EQ(program.inputs.size(), op.tensors);
    EXPECT_GT(device_.explain(program).kernel.total, SimTime());
  }
  EXPECT_EQ(find_op("sillu"), nullptr);
  EXPECT_FALSE(parse_op_call("sillu:1+relu"));
}

TEST_F(Catalogue, NumbersAndWhatFollowsAreRead) {
  const auto call = parse_op_call("clamp:0:6+leaky_relu:0.5+square");
  ASSERT_TRUE(call);
  const Program program = program_of(*call, {{32, 32}});
  const auto& attributes = std::get<EltwiseAttributes>(program.attributes);
  EXPECT_EQ(attributes.function, Eltwise::clamp);
  EXPECT_EQ(attributes.numbers, (std::array{0.0F, 6.0F}));
  ASSERT_EQ(attributes.then.size(), 2U);
  EXPECT_EQ(attributes.then[0], (EltwiseStep{Eltwise::leaky_relu, {0.5F, 0.0F}}));
  EXPECT_EQ(attributes.then[1], step_of(Eltwise::square));
}

TEST_F(Catalogue, WhatFollowsTakesItsTimeInTheSameLaunch) {
  const auto time = [&](const char* text) {
    return device_.explain(program_of(*parse_op_call(text), {{32, 32}})).kernel.total;
  };
  const auto alone = [functions = chip::load_profiles().software.tiles.functions](Eltwise of) {
    return functions[static_cast<std::size_t>(of)];
  };
  // What it takes more than a copy, as the tile is in the registers.
  EXPECT_EQ(time("add+silu"), time("add") + alone(Eltwise::silu) - alone(Eltwise::identity));
}

TEST_F(Catalogue, WhatIsWrittenWronglyIsRefused) {
  for (const char* const text : {"clamp:a:1", "clamp:0:1:2", "silu:1", "softmax+relu", "add+divide",
                                 "add+nothing", "relu+clamp:0:1:2", "add+clamp:x"}) {
    EXPECT_THROW(parse_op_call(text), Error) << text;
  }
}

TEST_F(Catalogue, OperandsThatDoNotFitAreRefused) {
  const OpCall rms = *parse_op_call("rms_norm");
  const TensorSpec x{{64, 96}};
  EXPECT_THROW(rms.program({x, TensorSpec{{1, 64}}}, {x}), Error);
  const OpCall rotary = *parse_op_call("rotary_embedding");
  EXPECT_THROW(rotary.program({x, x, TensorSpec{{32, 96}}}, {x}), Error);
  const OpCall where = *parse_op_call("where");
  EXPECT_THROW(where.results(std::vector{x, x}), Error);
}

}  // namespace
}  // namespace howard::ops
