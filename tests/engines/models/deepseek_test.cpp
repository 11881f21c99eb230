// SPDX-License-Identifier: Apache-2.0
#include "engines/models/deepseek.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "engines/autograd/host_values.h"
#include "engines/autograd/steps/step_recorder.h"
#include "engines/chip/emulated_chip.h"
#include "engines/host/host_device.h"
#include "engines/models/layers.h"
#include "engines/models/llama.h"
#include "tests/engines/autograd/gradient_check.h"
#include "tests/engines/models/filled_model.h"
#include "tests/engines/models/program_list.h"

namespace howard::models {
namespace {

using autograd::Tape;
using reference::ReferenceDevice;

/// One block of it has experts. The heads of v are narrower than those of q and k.
const ModelOptions kTinyDeepSeek{.kind = ModelKind::deepseek,
                                 .batch = 1,
                                 .sequence = 3,
                                 .width = 4,
                                 .heads = 2,
                                 .layers = 2,
                                 .feed_forward = 3,
                                 .vocabulary = 5,
                                 .deepseek = {.dense_layers = 1,
                                              .experts = 4,
                                              .chosen = 2,
                                              .shared = 2,
                                              .groups = 2,
                                              .limited = 1,
                                              .expert_width = 2,
                                              .query_rank = 3,
                                              .latent_rank = 3,
                                              .plain_width = 3,
                                              .turned_width = 2,
                                              .value_width = 4},
                                 .parameters = DataType::float32,
                                 .compute = DataType::float32};

// The differences are so small that no token chooses other experts.
TEST(DeepSeek, GradientsAreThoseOfTheLossInEveryForm) {
  for (const bool other : {false, true}) {
    ReferenceDevice device;
    ModelOptions options = kTinyDeepSeek;
    options.memory_efficient = options.fused_attention = options.joined_swiglu = other;
    options.deepseek.query_rank = other ? 0 : 3;
    options.deepseek.scores = other ? ScoreFunction::softmax : ScoreFunction::sigmoid;
    DeepSeek model(device, options);
    fill_model(device, model);
    reference::expect_gradients(device, model.parameters(),
                                [&](Tape& tape) { return model.loss(tape); },
                                {.compute = DataType::float32});
  }
}

/// The same model as sums over numbers, as DeepSeek's papers and reference code state it.
class PlainDeepSeek {
 public:
  using Vector = std::vector<double>;

  PlainDeepSeek(ReferenceDevice& device, DeepSeek& model)
      : options_(model.options()), own_(model.options().deepseek) {
    for (const autograd::Parameter* parameter : model.parameters()) {
      weights_[parameter->name] = device.values(parameter->value);
    }
    for (const autograd::Parameter* bias : model.buffers()) {
      weights_[bias->name] = device.values(bias->value);
    }
  }

  /// Returns the logits of the last token of a text.
  Vector logits(const std::vector<std::uint32_t>& text) {
    std::vector<Vector> rows;
    for (const std::uint32_t token : text) {
      const Vector& table = weights_.at("DeepSeek/tok_emb/weight");
      const auto begin = table.begin() + static_cast<std::ptrdiff_t>(token) * options_.width;
      rows.emplace_back(begin, begin + options_.width);
    }
    for (int i = 0; i < options_.layers; ++i) block(i, rows);
    return product("DeepSeek/head/weight", norm("DeepSeek/norm/gamma", rows.back()));
  }
  /// The experts that tokens have chosen.
  const std::set<std::size_t>& used() const { return used_; }

 private:
  static std::size_t size_of(std::int64_t count) { return static_cast<std::size_t>(count); }

  Vector product(const std::string& name, const Vector& x) const {
    const Vector& weight = weights_.at(name);
    Vector y(weight.size() / x.size());
    for (std::size_t i = 0; i < weight.size(); ++i) y[i / x.size()] += weight[i] * x[i % x.size()];
    return y;
  }
  Vector norm(const std::string& name, Vector x) const {
    const double squares = std::inner_product(x.begin(), x.end(), x.begin(), 0.0);
    const double root = std::sqrt(squares / static_cast<double>(x.size()) + 1e-5);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] *= weights_.at(name)[i] / root;
    return x;
  }
  /// Turns all columns from `first` on to a place.
  Vector turned(Vector x, std::size_t first, std::size_t place) const {
    const std::size_t width = x.size() - first;
    for (std::size_t i = 0; i < width; i += 2) {
      const double angle =
          static_cast<double>(place) *
          std::pow(double{options_.theta}, -static_cast<double>(i) / static_cast<double>(width));
      const double a = x[first + i], b = x[first + i + 1];
      x[first + i] = a * std::cos(angle) - b * std::sin(angle);
      x[first + i + 1] = a * std::sin(angle) + b * std::cos(angle);
    }
    return x;
  }
  static Vector part(const Vector& x, std::size_t first, std::size_t count) {
    const auto begin = x.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
  }

  Vector attended(const std::string& name, const std::vector<Vector>& rows, std::size_t place) {
    const std::size_t plain = size_of(own_.plain_width), wide = size_of(own_.value_width);
    const std::size_t width = size_of(own_.head_columns()), rank = size_of(own_.latent_rank);
    const Vector queries =
        own_.query_rank == 0
            ? product(name + "wq/weight", rows[place])
            : product(name + "wq_b/weight",
                      norm(name + "q_norm/gamma", product(name + "wq_a/weight", rows[place])));
    Vector all;
    for (std::size_t h = 0; h < size_of(options_.heads); ++h) {
      const Vector query = turned(part(queries, h * width, width), plain, place);
      double sum = 0;
      Vector mixed(wide);
      for (std::size_t seen = 0; seen <= place; ++seen) {
        const Vector latent = product(name + "wkv_a/weight", rows[seen]);
        const Vector both =
            product(name + "wkv_b/weight", norm(name + "kv_norm/gamma", part(latent, 0, rank)));
        Vector key = part(both, h * (plain + wide), plain);
        const Vector end = turned(part(latent, rank, latent.size() - rank), 0, seen);
        key.insert(key.end(), end.begin(), end.end());
        const double score = std::inner_product(key.begin(), key.end(), query.begin(), 0.0);
        const double weight = std::exp(score / std::sqrt(static_cast<double>(width)));
        sum += weight;
        for (std::size_t i = 0; i < wide; ++i) {
          mixed[i] += weight * both[h * (plain + wide) + plain + i];
        }
      }
      for (const double value : mixed) all.push_back(value / sum);
    }
    return product(name + "wo/weight", all);
  }
  Vector fed_forward(const std::string& name, const Vector& x) const {
    Vector hidden = product(name + "/w1/weight", x);
    const Vector up = product(name + "/w3/weight", x);
    for (std::size_t i = 0; i < hidden.size(); ++i) {
      hidden[i] = hidden[i] / (1 + std::exp(-hidden[i])) * up[i];
    }
    return product(name + "/w2/weight", hidden);
  }
  /// Returns the experts of a token, by its scores and their biases.
  std::vector<std::size_t> choice(const Vector& ranked) const {
    const std::size_t size = size_of(own_.experts / own_.groups);
    const auto best = [&](Vector values, std::size_t count) {
      std::ranges::sort(values, std::greater());
      return std::accumulate(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count),
                             0.0);
    };
    std::vector<std::pair<double, std::size_t>> groups;
    for (std::size_t g = 0; g < size_of(own_.groups); ++g) {
      groups.emplace_back(-best(part(ranked, g * size, size), std::min<std::size_t>(2, size)), g);
    }
    std::ranges::sort(groups);
    std::vector<std::pair<double, std::size_t>> experts;
    for (std::size_t i = 0; i < size_of(own_.limited); ++i) {
      for (std::size_t j = 0; j < size; ++j) {
        const std::size_t expert = groups[i].second * size + j;
        experts.emplace_back(-ranked[expert], expert);
      }
    }
    std::ranges::sort(experts);
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < size_of(own_.chosen); ++i) chosen.push_back(experts[i].second);
    return chosen;
  }
  Vector experts_of(const std::string& name, const Vector& x) {
    Vector scores = product(name + "/gate/weight", x);
    Vector ranked;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      scores[i] = 1 / (1 + std::exp(-scores[i]));
      ranked.push_back(scores[i] + weights_.at(name + "/expert_bias")[i]);
    }
    const std::vector<std::size_t> chosen = choice(ranked);
    double sum = 0;
    for (const std::size_t expert : chosen) sum += scores[expert];
    Vector y = fed_forward(name + "/shared_experts", x);
    for (const std::size_t expert : chosen) {
      used_.insert(expert);
      const Vector result = fed_forward(name + "/experts/" + std::to_string(expert), x);
      for (std::size_t i = 0; i < y.size(); ++i) {
        y[i] += double{own_.route_scale} * scores[expert] / sum * result[i];
      }
    }
    return y;
  }
  void block(int index, std::vector<Vector>& rows) {
    const std::string name = "DeepSeek/blocks/" + std::to_string(index);
    std::vector<Vector> normalized;
    for (const Vector& row : rows) normalized.push_back(norm(name + "/attn_norm/gamma", row));
    for (std::size_t place = 0; place < rows.size(); ++place) {
      const Vector sum = attended(name + "/attn/", normalized, place);
      for (std::size_t i = 0; i < sum.size(); ++i) rows[place][i] += sum[i];
      const Vector x = norm(name + "/ffn_norm/gamma", rows[place]);
      const Vector y =
          index < own_.dense_layers ? fed_forward(name + "/ffn", x) : experts_of(name + "/ffn", x);
      for (std::size_t i = 0; i < y.size(); ++i) rows[place][i] += y[i];
    }
  }

  ModelOptions options_;
  DeepSeekOptions own_;
  std::map<std::string, Vector> weights_;
  std::set<std::size_t> used_;
};

TEST(DeepSeek, ItsLogitsAreThoseOfTheFormulas) {
  for (const float bias : {0.0F, 3.0F}) {
    for (const int rank : {0, 3}) {
      ReferenceDevice device;
      ModelOptions options = kTinyDeepSeek;
      options.deepseek.query_rank = rank;
      DeepSeek model(device, options);
      fill_model(device, model);
      ASSERT_EQ(model.buffers().size(), 1U) << "a block with experts";
      // With the bias no token chooses experts 0 and 1, which are a group.
      const std::vector<float> biases{0, 0, bias, bias};
      autograd::write_values(device.command_queue(0), model.buffers()[0]->value, biases);
      Tape tape(device, {.compute = DataType::float32, .records = false});
      const auto logits = device.values(tape.tensor(model.logits(tape, model.tokens())));
      const std::vector<std::uint32_t> tokens = tokens_of(options);
      PlainDeepSeek plain(device, model);
      const auto expected = plain.logits({tokens[0], tokens[1], tokens[2]});
      ASSERT_EQ(expected.size(), 5U);
      for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(logits[2 * 5 + i], expected[i], 1e-6) << i;
      EXPECT_EQ(plain.used().contains(0) || plain.used().contains(1), bias == 0.0F);
    }
  }
}

std::vector<std::vector<float>> deepseek_gradients(Device& device, const ModelOptions& options) {
  DeepSeek model(device, options);
  write_random(device.command_queue(0), model.parameters(), 3);
  fill_tokens(device, model);
  Tape tape(device, {.compute = DataType::float32});
  tape.backward(model.loss(tape));
  std::vector<std::vector<float>> result;
  for (const autograd::Parameter* parameter : model.parameters()) {
    result.push_back(autograd::read_values(device.command_queue(0), *parameter->gradient));
  }
  return result;
}

TEST(DeepSeek, TheHostsGradientsAreThoseOfTheReference) {
  ModelOptions options = kTinyDeepSeek;
  options.sequence = 32;
  options.width = 32;
  options.deepseek.plain_width = options.deepseek.turned_width = 32;
  ReferenceDevice reference;
  const auto expected = deepseek_gradients(reference, options);
  for (const bool fused : {false, true}) {
    host::HostDevice host;
    options.fused_attention = fused;
    const auto actual = deepseek_gradients(host, options);
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      float largest = 0;
      for (const float value : expected[i]) largest = std::max(largest, std::abs(value));
      for (std::size_t j = 0; j < expected[i].size(); ++j) {
        ASSERT_NEAR(actual[i][j], expected[i][j], 1e-4F * largest) << i << " " << j;
      }
    }
  }
}

TEST(DeepSeek, AnUpdateMakesExpertsLessLikelyThatManyTokensHaveChosen) {
  ReferenceDevice device;
  DeepSeek model(device, kTinyDeepSeek);
  fill_model(device, model);
  CommandQueue& queue = device.command_queue(0);
  autograd::Parameter& bias = *model.buffers()[0];
  // All three tokens choose experts 2 and 3.
  autograd::write_values(queue, bias.value, std::vector<float>{0, 0, 3, 3});
  Tape forward(device, {.compute = DataType::float32, .records = false});
  static_cast<void>(model.loss(forward));
  model.after_update(queue);
  const std::vector<float> centred{-1.5F, -1.5F, 1.5F, 1.5F};
  EXPECT_EQ(autograd::read_values(queue, bias.value), centred)
      << "what does not train is not counted";

  const auto count = [&] {
    Tape tape(device, {.compute = DataType::float32});
    static_cast<void>(model.loss(tape));
  };
  count();
  count();  // the batches of an update are counted together
  model.after_update(queue);
  const std::vector<float> moved = autograd::read_values(queue, bias.value);
  const auto step = static_cast<float>(kBiasStep);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_FLOAT_EQ(moved[i], centred[i] + (i < 2 ? step : -step)) << i;
  }
  model.after_update(queue);
  EXPECT_EQ(autograd::read_values(queue, bias.value), moved) << "nothing was counted since";
}

TEST(DeepSeek, ACopyHasTheBiasesOfTheExpertsToo) {
  ReferenceDevice device;
  DeepSeek model(device, kTinyDeepSeek);
  CommandQueue& queue = device.command_queue(0);
  autograd::write_values(queue, model.buffers()[0]->value, std::vector<float>{1, 2, 3, -6});
  const auto copy = model.of_one_sequence(device);
  copy_parameters(queue, model, *copy);
  EXPECT_EQ(autograd::read_values(queue, copy->buffers()[0]->value),
            (std::vector<float>{1, 2, 3, -6}));
}

TEST(DeepSeek, ItsParametersHaveTtmlsNamesAndShapes) {
  chip::EmulatedChip chip(chip::load_profiles());
  autograd::StepRecorder nowhere(chip);
  // TTML's nano_deepseek_char.
  ModelOptions options{.kind = ModelKind::deepseek,
                       .batch = 1,
                       .sequence = 256,
                       .width = 512,
                       .heads = 8,
                       .layers = 8,
                       .feed_forward = 1536,
                       .vocabulary = 96};
  DeepSeek model(nowhere, options);
  std::map<std::string, Shape> shapes;
  std::int64_t elements = 0;
  for (const autograd::Parameter* parameter : model.parameters()) {
    shapes.emplace(parameter->name, parameter->value.spec().shape);
    elements += parameter->value.spec().shape.elements();
  }
  const std::map<std::string, Shape> expected{
      {"tok_emb/weight", {96, 512}},
      {"head/weight", {96, 512}},
      {"norm/gamma", {1, 512}},
      {"blocks/0/attn_norm/gamma", {1, 512}},
      {"blocks/0/attn/wq_a/weight", {256, 512}},
      {"blocks/0/attn/q_norm/gamma", {1, 256}},
      {"blocks/0/attn/wq_b/weight", {8 * 96, 256}},
      {"blocks/7/attn/wkv_a/weight", {160, 512}},
      {"blocks/7/attn/kv_norm/gamma", {1, 128}},
      {"blocks/7/attn/wkv_b/weight", {8 * 128, 128}},
      {"blocks/7/attn/wo/weight", {512, 512}},
      {"blocks/7/ffn_norm/gamma", {1, 512}},
      {"blocks/1/ffn/w1/weight", {1536, 512}},
      {"blocks/1/ffn/w2/weight", {512, 1536}},
      {"blocks/2/ffn/gate/weight", {8, 512}},
      {"blocks/2/ffn/experts/7/w3/weight", {256, 512}},
      {"blocks/2/ffn/shared_experts/w2/weight", {512, 256}}};
  for (const auto& [name, shape] : expected) {
    ASSERT_TRUE(shapes.contains("DeepSeek/" + name)) << name;
    EXPECT_EQ(shapes.at("DeepSeek/" + name), shape) << name;
  }
  EXPECT_FALSE(shapes.contains("DeepSeek/blocks/0/attn/wq/weight"));
  EXPECT_FALSE(shapes.contains("DeepSeek/blocks/1/ffn/gate/weight"));
  // 8 (attention and norms) + 2 dense + 6 (gate and 9 experts) + table, head and norm.
  EXPECT_EQ(elements,
            8 * (512 * 256 + 256 + 768 * 256 + 160 * 512 + 128 + 1024 * 128 + 512 * 512 + 2 * 512) +
                2 * 3 * 1536 * 512 + 6 * (8 * 512 + 9 * 3 * 256 * 512) + 2 * 96 * 512 + 512);
  EXPECT_EQ(idle_parameters(options), 6 * 6 * 3 * 256 * 512);
}

TEST(DeepSeek, TheOrderOfABlocksCallsIsThatOfTtml) {
  chip::EmulatedChip device(chip::load_profiles());
  const auto names = [&](bool backward) {
    autograd::StepRecorder recorder(device);
    DeepSeek model(recorder, {.kind = ModelKind::deepseek,
                              .batch = 1,
                              .sequence = 128,
                              .width = 128,
                              .heads = 2,
                              .layers = 1,
                              .deepseek = {.dense_layers = 0, .experts = 4, .groups = 1},
                              .fused_attention = true,
                              .joined_swiglu = true});
    Tape tape(recorder, {.calls = {.products = kTtmlProducts}, .records = backward});
    const autograd::Value loss = model.loss(tape);
    if (backward) tape.backward(loss);
    return names_of(recorder.programs());
  };
  const std::string forward = names(false);
  for (const std::string& part :
       {std::string("rms_norm matmul.b rms_norm matmul.b reshape transpose slice slice "
                    "rotary_embedding concat matmul.b slice slice rotary_embedding concat rms_norm "
                    "matmul.b reshape transpose slice slice concat attention concat_heads "
                    "matmul.b add rms_norm matmul.b sigmoid cast add topk"),
        std::string("scatter tilize multiply sum add divide scale matmul.b matmul.b multiply "
                    "matmul.b matmul.b matmul.b multiply matmul.b slice multiply add")}) {
    EXPECT_NE(forward.find(part), std::string::npos) << part << "\n" << forward;
  }
  EXPECT_EQ(forward.find("tilize cast sum add"), std::string::npos) << "nothing is counted";
  const std::string back = names(true);
  for (const std::string& part :
       {std::string("tilize cast sum add multiply"),
        std::string("multiply multiply sum pad add matmul.a matmul.none swiglu_backward"),
        std::string("multiply sum subtract divide multiply scale rsub multiply multiply matmul.a "
                    "matmul.none add rms_norm_backward"),
        std::string("attention_backward_kv attention_backward_q slice slice pad pad add transpose "
                    "reshape matmul.a matmul.none rms_norm_backward sum sum rotary_embedding pad "
                    "pad add matmul.a matmul.none slice slice rotary_embedding pad pad add "
                    "transpose reshape")}) {
    EXPECT_NE(back.find(part), std::string::npos) << part << "\n" << back;
  }
}

// Its heads of v are narrower than those of q and k.
TEST(DeepSeek, OnTheChipNarrowerValuesMakeEachKernelOfAttentionFaster) {
  chip::EmulatedChip device(chip::load_profiles());
  const auto times = [&](std::int64_t wide, std::int64_t values) {
    const TensorSpec q{.shape = {1, 8, 256, wide}};
    const TensorSpec v{.shape = {1, 8, 256, values}};
    const TensorSpec row = attention_statistics(q);
    const auto time = [&](const Attributes& op, const SpecList& in) {
      std::vector<Operand> inputs, outputs;
      for (const TensorSpec& spec : in) inputs.emplace_back(spec);
      for (const TensorSpec& spec : results_of(op, in)) outputs.emplace_back(spec);
      return device.explain(make_program(op, inputs, outputs)).kernel.total;
    };
    const SpecList gradients{q, q, v, v, v, row, row};
    return std::vector{time(TtmlAttentionAttributes{.causal = true}, {q, q, v}),
                       time(AttentionBackwardQAttributes{.causal = true}, gradients),
                       time(AttentionBackwardKvAttributes{.causal = true}, gradients)};
  };
  const auto narrow = times(64, 64), mixed = times(96, 64), wide = times(96, 96);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_LT(narrow[i], mixed[i]) << i;
    EXPECT_LT(mixed[i], wide[i]) << i;
  }
}

TEST(DeepSeek, RefusesWhatItCannotBe) {
  ReferenceDevice device;
  const auto refuses = [&](const auto& change) {
    ModelOptions options = kTinyDeepSeek;
    change(options);
    EXPECT_THROW(DeepSeek(device, options), Error);
  };
  refuses([](ModelOptions& options) { options.deepseek.groups = 3; });
  refuses([](ModelOptions& options) { options.deepseek.limited = 3; });
  refuses([](ModelOptions& options) { options.deepseek.chosen = 3; });
  refuses([](ModelOptions& options) { options.deepseek.shared = 0; });
  refuses([](ModelOptions& options) { options.deepseek.turned_width = 3; });
  refuses([](ModelOptions& options) { options.dropout = 0.1F; });
  refuses([](ModelOptions& options) { options.tied = true; });
  refuses([](ModelOptions& options) { options.lora.rank = 2; });
  refuses([](ModelOptions& options) { options.first_block = 1; });
}

}  // namespace
}  // namespace howard::models
