// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "experiments/language_models/memory_account.h"
#include "experiments/language_models/model_calls.h"
#include "experiments/language_models/served_model.h"
#include "reports/published/reference.h"
#include "tests/error_of.h"
#include "tests/experiments/run_emulated.h"

namespace howard::experiments {
namespace {

using Axes = std::vector<harness::AxisOverride>;

/// Returns the one point with these values, on one N150 in the mode performance by default.
harness::PointResult point_of(Axes axes) {
  for (const auto& [axis, value] :
       {std::pair("model", "llama-3.2-1b"), {"machine", "n150"}, {"mode", "performance"}}) {
    const bool given = std::ranges::find(axes, axis, &harness::AxisOverride::axis) != axes.end();
    if (!given) axes.push_back({axis, {value}});
  }
  const auto points = run_emulated(*make_experiment("inference", built_in_box()), axes);
  EXPECT_EQ(points.size(), 1U);
  return points.front();
}

double rate(const Axes& axes) {
  const harness::PointResult point = point_of(axes);
  EXPECT_FALSE(point.skipped) << point.id() << ": " << *point.skipped;
  return point.skipped ? 0 : point.find_metric("tokens_per_second_per_user")->value;
}

double first_token(const Axes& axes) {
  return point_of(axes).find_metric("time_to_first_token")->value;
}

std::string refusal(const Axes& axes) {
  const harness::PointResult point = point_of(axes);
  EXPECT_TRUE(point.failed) << point.id();
  return point.skipped.value_or("");
}

TEST(Inference, AMachineOfOnesOwnIsAFile) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) /
                                       ("howard_machines_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const auto file = [&](const std::string& name, const std::string& text) {
    const std::string path = (folder / name).string();
    write_file(path, text);
    return path;
  };
  const std::string pair = file(
      "pair.json", R"({"chip": "wormhole_b0_n300", "chips": 2, "group": 2, "remote_chips": true})");
  EXPECT_EQ(rate({{"machine", {pair}}}), rate({{"machine", {"n300"}}}));
  const std::string apart =
      file("apart.json", R"({"chip": "wormhole_b0_n300", "chips": 2, "remote_chips": true})");
  EXPECT_EQ(rate({{"machine", {apart}}}), rate({{"machine", {"n300"}}, {"dp", {"2"}}}))
      << "each chip holds the model";
  const auto error = [&](const std::string& name, const std::string& text) {
    return error_of([&] { kMachine.parse(file(name, text)); });
  };
  EXPECT_NE(
      error("a.json", R"({"chip": "wormhole_b0_n300", "chips": 6, "group": 4})").find("divisor"),
      std::string::npos);
  EXPECT_NE(
      error("b.json", R"({"chip": "wormhole_b0_n300", "chips": 2, "links": 4})").find("links"),
      std::string::npos);
  EXPECT_NE(error("c.json", R"({"chip": "wormhole_b0_n3", "chips": 2})").find("wormhole_b0_n300"),
            std::string::npos);
  EXPECT_NE(error("d.json", R"({"chip": "wormhole_b0_n300", "chips": 33})"), "");
  std::filesystem::remove_all(folder);
}

TEST(Inference, FewerBytesFewerUsersAndMoreChipsAreFaster) {
  const double usual = rate({});
  EXPECT_GT(usual, rate({{"mode", {"accuracy"}}}));
  EXPECT_GT(usual, rate({{"batch", {"32"}}}));
  EXPECT_GT(usual, rate({{"context", {"30000"}}}));
  EXPECT_GT(usual, rate({{"model", {"llama-3.1-8b"}}}));
  EXPECT_GT(rate({{"machine", {"n300"}}}), usual);
  EXPECT_LT(rate({{"batch", {"32"}}, {"sampling", {"device"}}}), rate({{"batch", {"32"}}}))
      << "one core has the topk of a row of 128256 logits";
  EXPECT_GT(rate({{"batch", {"32"}}, {"sampling", {"argmax"}}}), rate({{"batch", {"32"}}}))
      << "the host neither reads 32 rows of logits nor looks for the largest";
}

TEST(Inference, FewerUsersAreNeverSlowerByMoreThanTheirUnevenShares) {
  std::vector<std::string> users;
  for (int i = 1; i <= 32; ++i) users.push_back(std::to_string(i));
  for (const char* model : {"llama-3.2-1b", "llama-3.1-8b"}) {
    const auto points = run_emulated(
        *make_experiment("inference", built_in_box()),
        {{"model", {model}}, {"machine", {"n150"}}, {"mode", {"performance"}}, {"batch", users}});
    ASSERT_EQ(points.size(), 32U);
    double more = points.back().find_metric("time")->value;
    for (std::size_t i = points.size(); i-- > 0;) {
      const double time = points[i].find_metric("time")->value;
      EXPECT_LE(time, 1.03 * more) << points[i].id();
      more = std::min(more, time);
    }
  }
}

/// Returns the step of the usual point on a box of this chip and these constants.
double step_on(const chip::ProfileChoice& choice, const std::string& machine) {
  const auto box =
      std::make_shared<const DevBox>(chip::load_constants(choice), host::HostOptions{}, 1);
  const auto points = run_emulated(
      *make_experiment("inference", box),
      {{"model", {"llama-3.2-1b"}}, {"machine", {machine}}, {"mode", {"performance"}}});
  EXPECT_EQ(points.size(), 1U);
  const harness::Metric* const time = points.front().find_metric("time");
  return time == nullptr ? 0 : time->value;
}

TEST(Inference, AConstantSetToItsOwnValueLeavesTheChipOfTheMachine) {
  const double usual = step_on({}, "n150");
  ASSERT_GT(usual, 0);
  EXPECT_EQ(step_on({{}, {"noc.link=28B/cycle"}}, "n150"), usual);
  EXPECT_EQ(step_on({{"wormhole_b0_n150"}, {}}, "n150"), usual);
  EXPECT_EQ(step_on({{"wormhole_b0_n150"}, {"noc.link=28B/cycle"}}, "n150"), usual);
  EXPECT_NE(step_on({{}, {"tensix.rows=8count"}}, "n150"), usual) << "what the user set stays";
  EXPECT_EQ(step_on({{"blackhole_p150"}, {}}, "p300"), step_on({{"blackhole_p300"}, {}}, "p300"));
}

TEST(Inference, AMachineThatHasNotTheChosenChipIsLeftOut) {
  EXPECT_EQ(step_on({{"wormhole_b0_n150"}, {}}, "n300"), 0);
  EXPECT_EQ(step_on({{"blackhole_galaxy"}, {}}, "p150"), 0);
  EXPECT_GT(step_on({{"blackhole_p150_120"}, {}}, "p150"), 0);
}

TEST(Inference, TheHeadsProductsFitEveryChip) {
  const auto box = std::make_shared<const DevBox>(
      chip::load_constants({.profiles = {"blackhole_p150"}, .settings = {}}), host::HostOptions{},
      1);
  const auto points =
      run_emulated(*make_experiment("inference", box), {{"model", {"llama-3.2-1b", "llama-3.1-8b"}},
                                                        {"machine", {"p150"}},
                                                        {"mode", {"performance"}}});
  ASSERT_EQ(points.size(), 2U);
  for (const harness::PointResult& point : points) {
    EXPECT_FALSE(point.skipped) << point.id() << ": " << *point.skipped;
  }
}

TEST(Inference, APublishedFigureStandsBesideItsOwnChip) {
  const auto published = [](const std::string& chip, const std::string& software) {
    harness::RunContext context;
    context.published_chip = false;
    context.chip.profile = chip;
    context.software.profile = software;
    return reports::reference_tables("inference", context).size();
  };
  const std::string software = "tt_metal_2025_12_blackhole";
  EXPECT_EQ(published("blackhole_p150", software), 6U) << "rates and first tokens, of boxes too";
  EXPECT_EQ(published("blackhole_p300", software), 3U);
  EXPECT_EQ(published("blackhole_p100a", software), 2U);
  EXPECT_EQ(published("blackhole_p150", "tt_metal_2026_07_blackhole"), 0U);
  EXPECT_EQ(published("blackhole_galaxy", software), 0U);
}

TEST(Inference, MachinesOfBothFamiliesStandBesideTheirPublishedFigures) {
  const auto points = run_emulated(
      *make_experiment("inference", built_in_box()),
      {{"model", {"llama-3.1-8b"}}, {"machine", {"n150", "p150"}}, {"mode", {"performance"}}});
  ASSERT_EQ(points.size(), 2U);
  EXPECT_FALSE(points[0].own_chip);
  ASSERT_TRUE(points[1].own_chip);
  EXPECT_EQ(points[1].own_chip->chip.text(), "blackhole_p150");
  EXPECT_EQ(points[1].own_chip->software.text(), "tt_metal_2025_12_blackhole");
  for (const harness::PointResult& point : points) {
    ASSERT_TRUE(point.reference) << point.id();
    EXPECT_LT(std::abs(point.relative_error().value()), 0.15) << point.id();
  }
  const auto chosen = std::make_shared<const DevBox>(
      chip::load_constants({.profiles = {"blackhole_p150"}, .settings = {}}), host::HostOptions{},
      1);
  const auto same =
      run_emulated(*make_experiment("inference", chosen),
                   {{"model", {"llama-3.1-8b"}}, {"machine", {"p150"}}, {"mode", {"performance"}}});
  EXPECT_EQ(points[1].find_metric("time")->value, same.at(0).find_metric("time")->value);
}

TEST(Inference, OnABoardWithoutEthernetTheTensixCoresDispatch) {
  const chip::ProfileConstants constants =
      chip::load_constants({.profiles = {"blackhole_p100a"}, .settings = {}});
  EXPECT_EQ(widest_dispatch(read_profiles(constants).chip), chip::DispatchCoreType::worker);
}

TEST(Inference, ATokenReadsAllWeightsOnceAtNoMoreThanTheChipsRate) {
  const harness::PointResult point = point_of({{"model", {"llama-3.1-8b"}}});
  const double table = 128256.0 * 4096 * 2;
  const double read = point.find_metric("weights")->value - table - 2e6;
  EXPECT_GT(point.find_metric("time")->value, read / 288e9);
}

TEST(Inference, APromptsProgramsAreWrittenToEachChip) {
  // Llama-3.2-1B on eight chips waits for its host: 16 layers of 24 programs and some 15 more.
  const Axes machine{{"machine", {"t3k"}}};
  const double time = first_token(machine);
  EXPECT_GT(time, 399 * (48e-6 + 7 * 2e-6));
  EXPECT_LT(time, 420 * 75e-6);
}

TEST(Inference, ALongerPromptTakesLonger) {
  EXPECT_LT(first_token({}), first_token({{"prompt", {"1024"}}}));
  EXPECT_LT(first_token({{"prompt", {"1024"}}}), first_token({{"prompt", {"4096"}}}));
  EXPECT_EQ(first_token({{"prompt", {"100"}}}), first_token({})) << "it is padded to 128";
}

TEST(Inference, GroupsOfChipsAreServedOneAfterTheOther) {
  const double one = rate({});
  const double eight = rate({{"machine", {"t3k"}}, {"dp", {"8"}}});
  EXPECT_LT(eight, one);
  EXPECT_GT(8 * eight, 4 * one);
}

std::string reason_to_leave_out(const Axes& axes) {
  const harness::PointResult point = point_of(axes);
  EXPECT_FALSE(point.failed) << point.id();
  return point.skipped.value_or("");
}

TEST(Inference, AModelThatDoesNotFitIsLeftOutAndSaysWhatWould) {
  const std::string text = reason_to_leave_out({{"model", {"llama-3.1-70b"}}});
  EXPECT_NE(text.find("does not fit a chip of n150"), std::string::npos) << text;
  EXPECT_NE(text.find("-a machine=t3k"), std::string::npos) << text;
  const std::string cache =
      reason_to_leave_out({{"model", {"llama-3.1-8b"}}, {"batch", {"32"}}, {"context", {"20000"}}});
  EXPECT_NE(cache.find("-a batch="), std::string::npos) << cache;
}

/// Returns what follows `words` in a text, up to the next space.
std::string behind(const std::string& text, const std::string& words) {
  const std::size_t at = text.find(words);
  EXPECT_NE(at, std::string::npos) << words << " in " << text;
  if (at == std::string::npos) return "";
  const std::size_t begin = at + words.size();
  return text.substr(begin, text.find(' ', begin) - begin);
}

TEST(Inference, WhatWouldFitIsTheMostThatDoes) {
  const Axes all{{"model", {"llama-3.1-8b"}},
                 {"mode", {"performance"}},
                 {"batch", {"4"}},
                 {"context", {"40000"}}};
  const std::string text = reason_to_leave_out(all);
  const auto fits = [&](const char* axis, std::int64_t value) {
    Axes axes = all;
    const auto found = std::ranges::find(axes, axis, &harness::AxisOverride::axis);
    found->values = {std::to_string(value)};
    return reason_to_leave_out(axes).empty();
  };
  const std::int64_t batch = std::stoll(behind(text, "-a batch="));
  EXPECT_TRUE(fits("batch", batch));
  EXPECT_FALSE(fits("batch", batch + 1));
  const std::int64_t context = std::stoll(behind(text, "-a context="));
  EXPECT_TRUE(fits("context", context));
  EXPECT_FALSE(fits("context", context + 1)) << "room is given in units of 1024";
}

TEST(Inference, TheTraceOfAStepIsInARegionBesideTheDram) {
  const harness::PointResult point = point_of({{"model", {"llama-3.2-1b"}}});
  const double trace = point.find_metric("trace_bytes")->value;
  EXPECT_GT(trace, 0);
  EXPECT_LT(trace, point.find_metric("trace_region")->value);
  // A region without room for the trace is refused with the one that has.
  const auto box = std::make_shared<const DevBox>(chip::load_constants({{}, {"trace.region=1MiB"}}),
                                                  host::HostOptions{}, 1);
  const auto points =
      run_emulated(*make_experiment("inference", box),
                   {{"model", {"llama-3.2-1b"}}, {"machine", {"n300"}}, {"mode", {"performance"}}});
  ASSERT_TRUE(points.front().failed);
  EXPECT_NE(points.front().skipped.value_or("").find("--set trace.region="), std::string::npos)
      << points.front().skipped.value_or("");
}

TEST(Inference, WhatAMeshOrACacheCannotHoldIsRefused) {
  const Axes mesh{{"model", {"phi-4"}}, {"machine", {"t3k"}}};
  EXPECT_FALSE(point_of(mesh).failed) << "a table of machines goes on without it";
  const std::string heads = point_of(mesh).skipped.value_or("");
  EXPECT_NE(heads.find("8 chips do not divide the model's 10 heads of keys"), std::string::npos)
      << heads;
  EXPECT_NE(heads.find("2 would: -a dp=4"), std::string::npos) << heads;
  EXPECT_NE(refusal({{"batch", {"33"}}}).find("33 users"), std::string::npos);
  EXPECT_NE(refusal({{"context", {"200000"}}}).find("131072 positions"), std::string::npos);
  EXPECT_NE(refusal({{"context", {"128"}}, {"room", {"128"}}}).find("129 tokens"),
            std::string::npos);
  EXPECT_NE(refusal({{"machine", {"n300"}}, {"tp", {"1"}}, {"dp", {"1"}}}).find("2 chips"),
            std::string::npos);
  EXPECT_EQ(rate({{"machine", {"n300"}}, {"tp", {"1"}}}),
            rate({{"machine", {"n300"}}, {"dp", {"2"}}}));
}

TEST(Inference, TheFeedForwardPartIsPaddedAsTtTransformersPadsIt) {
  const auto wide = [](const char* model, int chips) {
    Serving serving{.model = model_named(model), .machine = machines().front()};
    serving.tensor_parallel = chips;
    return serving.wide();
  };
  // Qwen2.5-7B on 2 chips: 18944 become 19456; QwQ-32B on 8: 27648 become 28672.
  EXPECT_EQ(wide("qwen2.5-7b", 2), 19456 / 2);
  EXPECT_EQ(wide("qwq-32b", 8), 28672 / 8);
  EXPECT_EQ(wide("qwen2.5-32b", 8), 27648 / 8) << "its products are as they are";
  EXPECT_EQ(wide("llama-3.1-8b", 8), 14336 / 8);
}

TEST(Inference, LargerBoxesHoldAModelInGroupsAsTheirServersDo) {
  const double galaxy = rate({{"machine", {"galaxy"}}});
  EXPECT_EQ(galaxy, rate({{"machine", {"galaxy"}}, {"dp", {"4"}}})) << "four groups of eight";
  EXPECT_EQ(galaxy, rate({{"machine", {"galaxy"}}, {"tp", {"8"}}}));
  EXPECT_GT(galaxy, rate({{"machine", {"n150x4"}}})) << "a model on each chip";
  EXPECT_EQ(rate({{"machine", {"n150x4"}}, {"dp", {"4"}}}), rate({{"machine", {"n150x4"}}}));
  const std::string all = refusal({{"machine", {"galaxy"}}, {"dp", {"1"}}});
  EXPECT_NE(all.find("32 chips do not divide the model's 8 heads of keys"), std::string::npos)
      << all;
}

TEST(Inference, Gemma3SeesAWindowInFiveLayersOfSix) {
  const LanguageModel small = model_named("google/gemma-3-4b-it");
  EXPECT_EQ(small.local_layers, 29) << "five of 34 see all";
  EXPECT_EQ(small.local_window, 1024);
  EXPECT_TRUE(small.norms_results && small.norms_heads && small.tied);
  // What Hugging Face's file of the 4B model leaves out is what its class has.
  const LanguageModel file = parse_model_config(
      R"({"model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"],
          "text_config": {"hidden_size": 2560, "intermediate_size": 10240,
                          "num_hidden_layers": 34, "sliding_window": 1024}})",
      "file", "config.json");
  EXPECT_EQ(file.parameters(), small.parameters());
  EXPECT_EQ(file.local_layers, small.local_layers);
  EXPECT_EQ(file.heads, 8);
  const auto of = [](const char* context) {
    return rate({{"model", {"gemma-3-4b"}}, {"context", {context}}});
  };
  // A token sees at most 1024 others in 29 layers: 8 times the places cost a sixth of it.
  EXPECT_GT(of("1023"), of("8191"));
  EXPECT_GT(of("8191") / of("1023"), 0.8);
}

TEST(Inference, ModelsOfServersAreKnownByTheirNames) {
  for (const char* const name :
       {"tiiuae/Falcon3-7B-Instruct", "Qwen/Qwen2.5-VL-32B-Instruct", "Qwen/Qwen3-VL-32B-Instruct",
        "mistralai/Mistral-7B-Instruct-v0.3", "deepseek-ai/DeepSeek-R1-Distill-Llama-70B"}) {
    EXPECT_GT(model_named(name).layers, 20) << name;
  }
  EXPECT_EQ(model_named("falcon3-7b").head_width, 256);
}

TEST(Inference, PhiHasHeadsOfThreeTilesAndQwenABias) {
  EXPECT_NEAR(rate({{"model", {"phi-3.5-mini"}}}), 43.2, 4);
  EXPECT_NEAR(rate({{"model", {"phi-4"}}, {"machine", {"n300"}}, {"mode", {"accuracy"}}}), 20.5, 2);
  EXPECT_GT(rate({{"model", {"qwen2.5-7b"}}, {"machine", {"n300"}}}), 5);
  EXPECT_GT(rate({{"model", {"qwen3-8b"}}}), 5);
}

TEST(MemoryAccount, EachPartHasItsPublishedFormat) {
  Serving serving{.model = model_named("llama-3.1-8b"),
                  .machine = machines().front(),
                  .batch = 1,
                  .context = 128,
                  .prompt = 128,
                  .room = 1024};
  const MemoryAccount account = memory_account(serving, Bytes(12'000'000'000));
  // 8 heads of 128 columns in 32 layers, keys and values, in bfloat8_b: blocks of 32 tokens.
  EXPECT_EQ(account.block.value(), 2 * 32 * 8 * 4 * 1088);
  EXPECT_EQ(account.blocks(), 1024 / 32);
  EXPECT_EQ(account.most_blocks(),
            (account.capacity - account.needed() + account.cache).value() / account.block.value());
  // 31 layers have two matrices of 4096 x 14336 in 0.5625 bytes a number and the rest in 1.0625.
  const double ff = 4096.0 * 14336, attention = 4096.0 * (6144 + 4096), head = 4096.0 * 128256;
  const double expected = 31 * 2 * ff * 0.5625 + (2 + 32) * ff * 1.0625 +
                          (32 * attention + head) * 1.0625 + 32 * 2 * 4096 * 2;
  EXPECT_NEAR(static_cast<double>(account.weights.value()), expected, 1);
  // Keys and values of 8 heads of 128 columns, in 1.0625 bytes a number.
  EXPECT_EQ(account.cache.value(), 2 * 32 * 8 * 1024 * 128 * 17 / 16);
  serving.cache = CacheKind::contiguous;
  EXPECT_EQ(memory_account(serving, Bytes()).cache.value(), 32 * account.cache.value());
}

}  // namespace
}  // namespace howard::experiments
