// SPDX-License-Identifier: Apache-2.0
#include "engines/chip/kernels/card_times.h"

#include <gtest/gtest.h>

#include <string>

#include "engines/chip/kernels/planner.h"
#include "tests/error_of.h"

namespace howard::chip {
namespace {

constexpr CoreGrid kAllCores{8, 8};

Program product(const MatmulAttributes& attributes = {}) {
  return make_program(attributes,
                      {TensorSpec{.shape = {512, 512}}, TensorSpec{.shape = {512, 512}}});
}

Program sum(std::int64_t rows, Storage storage = Storage::dram) {
  const TensorSpec spec{.shape = {rows, 512}, .storage = storage};
  return make_program(EltwiseAttributes{.function = Eltwise::add}, {spec, spec});
}

PlannedProgram planned(const Program& program, const Card* card = nullptr) {
  Profiles profiles = load_profiles();
  profiles.card = card;
  return plan_program(program, kAllCores, profiles);
}

CardKernel kernel_of(const PlannedProgram& launch, SimTime time) {
  return {.words = words_of(launch),
          .kind = kind_of(launch),
          .time = time,
          .built_in = launch.kernel.total,
          .runs = 3,
          .error = 0.01,
          .built_in_error = 0.08};
}

Card card_of(std::vector<CardKernel> kernels, std::vector<CardKind> kinds = {}) {
  const Card card{.name = "mine",
                  .chip = "wormhole_b0_n300",
                  .software = "tt_metal_2025_12",
                  .logs = {"a.csv"},
                  .kernels = std::move(kernels),
                  .kinds = std::move(kinds)};
  return Card::parse(card.to_json(), "mine.json");
}

TEST(CardTimes, ACallThatRanThereTakesTheMedianOfItsRuns) {
  const PlannedProgram before = planned(product());
  const Card card = card_of({kernel_of(before, 2 * before.kernel.total)});
  const PlannedProgram after = planned(product(), &card);
  EXPECT_EQ(after.kernel.total, 2 * before.kernel.total);
  EXPECT_EQ(after.kernel.reads_end, 2 * before.kernel.reads_end) << "parts keep their share";
  ASSERT_NE(after.learnt, nullptr);
  EXPECT_EQ(after.learnt->known, Known::measured);
  EXPECT_EQ(after.learnt->name, "measured by you (3 runs)");
  EXPECT_DOUBLE_EQ(after.learnt->share, 0.01);
  EXPECT_EQ(planned(sum(512), &card).kernel.total, planned(sum(512)).kernel.total);
  EXPECT_EQ(planned(sum(512), &card).learnt, nullptr);
}

TEST(CardTimes, OtherTypesOfTheSameShapesGainOnTheCardWhatTheyGainOnTheEmulator) {
  const PlannedProgram before = planned(product());
  const Card card = card_of({kernel_of(before, 2 * before.kernel.total)});
  const Program smaller = make_program(
      MatmulAttributes{}, {TensorSpec{.shape = {512, 512}},
                           TensorSpec{.shape = {512, 512}, .dtype = DataType::bfloat8_b}});
  EXPECT_EQ(planned(smaller, &card).kernel.total, 2 * planned(smaller).kernel.total);
  ASSERT_NE(planned(smaller, &card).learnt, nullptr);
  EXPECT_EQ(planned(smaller, &card).learnt->known, Known::learnt);
  EXPECT_DOUBLE_EQ(planned(smaller, &card).learnt->share, 0.08);
}

TEST(CardTimes, OthersOfAKindTakeAsMuchLongerAsTheCardSays) {
  const Card card = card_of({}, {{.kind = "add", .factor = 15'000, .calls = 4, .error = 0.04}});
  const PlannedProgram before = planned(sum(512));
  const PlannedProgram after = planned(sum(512), &card);
  EXPECT_EQ(after.kernel.total.ps(), before.kernel.total.ps() * 15'000 / 10'000);
  EXPECT_EQ(after.learnt->known, Known::learnt);
  EXPECT_EQ(after.learnt->name, "learnt from 4 kernels of your card");
  EXPECT_EQ(planned(sum(512, Storage::l1), &card).learnt, nullptr) << "L1 is a kind of its own";
}

TEST(CardTimes, WhatTheCallerSaidAndWhatThePlannerChoseHaveTheSameWords) {
  const PlannedProgram chosen = planned(product());
  const PlannedProgram said =
      planned(product({.compute = {.fidelity = chosen.matmul->fidelity,
                                   .fp32_accumulation = chosen.matmul->fp32_accumulation,
                                   .packer_accumulates = chosen.matmul->packer_accumulates},
                       .config = config_of(*chosen.matmul)}));
  EXPECT_EQ(words_of(said), words_of(chosen));
  const PlannedProgram other = planned(product({.compute = {.fidelity = MathFidelity::lofi}}));
  EXPECT_NE(words_of(other), words_of(chosen));
  EXPECT_NE(words_of(planned(sum(512))), words_of(planned(sum(1024))));
}

TEST(CardTimes, AScalarDoesNotTellCallsApart) {
  const auto times = [](float scalar) {
    return planned(make_program(EltwiseAttributes{.function = Eltwise::multiply, .scalar = scalar},
                                {TensorSpec{.shape = {64, 64}}}));
  };
  EXPECT_EQ(words_of(times(2)), words_of(times(0.125F)));
}

TEST(CardTimes, AFileComesBackAsItWasWritten) {
  const PlannedProgram launch = planned(product());
  const Card card = card_of({kernel_of(launch, SimTime::nanoseconds(12'345)),
                             kernel_of(planned(sum(64)), SimTime::picoseconds(1'234'500))},
                            {{.kind = "add", .factor = 12'345, .calls = 4, .error = 0.04}});
  const Card again = Card::parse(card.to_json(), "again.json");
  EXPECT_EQ(again.to_json(), card.to_json());
  ASSERT_EQ(again.kernels.size(), 2U);
  EXPECT_EQ(again.find(words_of(launch))->time, SimTime::nanoseconds(12'345));
  EXPECT_EQ(again.find("add")->factor, 12'345);
}

TEST(CardTimes, WhatNoCardHasIsRefusedWithItsPlace) {
  const PlannedProgram launch = planned(product());
  const std::string good = card_of({kernel_of(launch, SimTime::microseconds(5))}).to_json();
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return error_of([&] { static_cast<void>(Card::parse(text, "my.json")); });
  };
  EXPECT_EQ(with("\"us\": 5", "\"us\": 6"), "");
  EXPECT_NE(with("\"us\": 5", "\"us\": -5").find("/kernels/0/us"), std::string::npos)
      << with("\"us\": 5", "\"us\": -5");
  EXPECT_NE(with("\"us\": 5", "\"us\": 1e-9"), "") << "less than a picosecond";
  EXPECT_NE(with("\"us\": 5", "\"us\": 1e300"), "");
  EXPECT_NE(with("\"runs\": 3", "\"runs\": 0"), "");
  EXPECT_NE(with("\"kind\": \"card\"", "\"kind\": \"chip\""), "");
  const std::string line =
      good.substr(good.find("    {"), good.find("}\n  ],") - good.find("    {") + 1);
  EXPECT_NE(with(line, line + ",\n" + line).find("twice"), std::string::npos);
}

}  // namespace
}  // namespace howard::chip
