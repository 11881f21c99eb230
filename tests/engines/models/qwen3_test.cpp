// SPDX-License-Identifier: Apache-2.0
#include "engines/models/qwen3.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "engines/autograd/host_values.h"
#include "engines/autograd/steps/step_recorder.h"
#include "engines/chip/emulated_chip.h"
#include "engines/host/host_device.h"
#include "engines/models/layers.h"
#include "tests/engines/autograd/gradient_check.h"
#include "tests/engines/models/filled_model.h"
#include "tests/engines/models/program_list.h"

namespace howard::models {
namespace {

using autograd::Tape;
using reference::ReferenceDevice;

/// Its heads are together wider than the model.
const ModelOptions kTinyQwen{.kind = ModelKind::qwen3,
                             .batch = 2,
                             .sequence = 3,
                             .width = 6,
                             .heads = 4,
                             .groups = 2,
                             .head_width = 4,
                             .layers = 2,
                             .feed_forward = 6,
                             .vocabulary = 5,
                             .parameters = DataType::float32,
                             .compute = DataType::float32};

TEST(Qwen3, GradientsAreThoseOfTheLossInEveryForm) {
  for (const bool memory_efficient : {false, true}) {
    for (const bool tied : {false, true}) {
      ReferenceDevice device;
      ModelOptions options = kTinyQwen;
      options.memory_efficient = memory_efficient;
      options.tied = tied;
      options.groups = tied ? 4 : 2;
      Qwen3 model(device, options);
      fill_model(device, model);
      reference::expect_gradients(device, model.parameters(),
                                  [&](Tape& tape) { return model.loss(tape); },
                                  {.compute = DataType::float32});
    }
  }
}

/// The same model as sums over numbers, as its paper and PyTorch's modules state it, with rotary
/// positions that turn columns 2i and 2i + 1.
class PlainQwen3 {
 public:
  using Vector = std::vector<double>;

  PlainQwen3(ReferenceDevice& device, Qwen3& model) : options_(model.options()) {
    for (const autograd::Parameter* parameter : model.parameters()) {
      weights_[parameter->name] = device.values(parameter->value);
    }
  }

  /// Returns the logits of the last token of a text.
  Vector logits(const std::vector<std::uint32_t>& text) const {
    std::vector<Vector> rows;
    for (const std::uint32_t token : text) {
      const Vector& table = weights_.at("qwen3/tok_emb/weight");
      const auto begin = table.begin() + static_cast<std::ptrdiff_t>(token) * options_.width;
      rows.emplace_back(begin, begin + options_.width);
    }
    for (int i = 0; i < options_.layers; ++i) block("qwen3/blocks/" + std::to_string(i), rows);
    return product("qwen3/fc/weight", norm("qwen3/ln_fc/weight", rows.back()));
  }

 private:
  Vector product(const std::string& name, const Vector& x) const {
    const Vector& weight = weights_.at(name);
    Vector y(weight.size() / x.size());
    for (std::size_t i = 0; i < weight.size(); ++i) y[i / x.size()] += weight[i] * x[i % x.size()];
    return y;
  }
  Vector norm(const std::string& name, Vector x) const {
    double squares = 0;
    for (const double value : x) squares += value * value;
    const double root = std::sqrt(squares / static_cast<double>(x.size()) + 1e-6);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] *= weights_.at(name)[i] / root;
    return x;
  }
  /// Returns head `index` of x, with its norm and turned to its place.
  Vector head(const std::string& name, const Vector& x, std::size_t index,
              std::size_t place) const {
    const auto width = static_cast<std::size_t>(options_.head_width);
    const auto begin = x.begin() + static_cast<std::ptrdiff_t>(index * width);
    Vector y = norm(name, Vector(begin, begin + static_cast<std::ptrdiff_t>(width)));
    for (std::size_t i = 0; i < width; i += 2) {
      const double angle =
          static_cast<double>(place) *
          std::pow(double{options_.theta}, -static_cast<double>(i) / static_cast<double>(width));
      const double a = y[i];
      const double b = y[i + 1];
      y[i] = a * std::cos(angle) - b * std::sin(angle);
      y[i + 1] = a * std::sin(angle) + b * std::cos(angle);
    }
    return y;
  }
  Vector attended(const std::string& name, const std::vector<Vector>& rows,
                  std::size_t place) const {
    const auto width = static_cast<std::size_t>(options_.head_width);
    const auto heads = static_cast<std::size_t>(options_.heads);
    const std::size_t shared = heads / static_cast<std::size_t>(options_.groups);
    Vector all(heads * width);
    for (std::size_t h = 0; h < heads; ++h) {
      const Vector query =
          head(name + "q_norm/weight", product(name + "q_proj/weight", rows[place]), h, place);
      double sum = 0;
      Vector mixed(width);
      for (std::size_t seen = 0; seen <= place; ++seen) {
        const Vector key = head(name + "k_norm/weight", product(name + "k_proj/weight", rows[seen]),
                                h / shared, seen);
        const Vector value = product(name + "v_proj/weight", rows[seen]);
        double score = 0;
        for (std::size_t i = 0; i < width; ++i) score += query[i] * key[i];
        const double weight = std::exp(score / std::sqrt(static_cast<double>(width)));
        sum += weight;
        for (std::size_t i = 0; i < width; ++i) mixed[i] += weight * value[h / shared * width + i];
      }
      for (std::size_t i = 0; i < width; ++i) all[h * width + i] = mixed[i] / sum;
    }
    return product(name + "o_proj/weight", all);
  }
  void block(const std::string& name, std::vector<Vector>& rows) const {
    std::vector<Vector> normalized;
    for (const Vector& row : rows) {
      normalized.push_back(norm(name + "/input_layernorm/weight", row));
    }
    for (std::size_t place = 0; place < rows.size(); ++place) {
      const Vector sum = attended(name + "/self_attn/", normalized, place);
      for (std::size_t i = 0; i < sum.size(); ++i) rows[place][i] += sum[i];
      const Vector x = norm(name + "/post_attention_layernorm/weight", rows[place]);
      Vector hidden = product(name + "/mlp/gate_proj/weight", x);
      const Vector up = product(name + "/mlp/up_proj/weight", x);
      for (std::size_t i = 0; i < hidden.size(); ++i) {
        hidden[i] = hidden[i] / (1 + std::exp(-hidden[i])) * up[i];
      }
      const Vector down = product(name + "/mlp/down_proj/weight", hidden);
      for (std::size_t i = 0; i < down.size(); ++i) rows[place][i] += down[i];
    }
  }

  ModelOptions options_;
  std::map<std::string, Vector> weights_;
};

TEST(Qwen3, ItsLogitsAreThoseOfTheFormulas) {
  ReferenceDevice device;
  Qwen3 model(device, kTinyQwen);
  fill_model(device, model);
  Tape tape(device, {.compute = DataType::float32, .records = false});
  const auto logits = device.values(tape.tensor(model.logits(tape, model.tokens())));
  const std::vector<std::uint32_t> tokens = tokens_of(kTinyQwen);
  const PlainQwen3 plain(device, model);
  const auto expected = plain.logits({tokens[0], tokens[1], tokens[2]});
  ASSERT_EQ(expected.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(logits[2 * 5 + i], expected[i], 1e-6) << i;
}

std::vector<std::vector<float>> qwen3_gradients(Device& device, const ModelOptions& options) {
  Qwen3 model(device, options);
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

TEST(Qwen3, TheHostsGradientsAreThoseOfTheReference) {
  ModelOptions options = kTinyQwen;
  options.sequence = 64;
  options.width = 64;
  options.head_width = 32;
  ReferenceDevice reference;
  const auto expected = qwen3_gradients(reference, options);
  for (const bool fused : {false, true}) {
    host::HostDevice host;
    options.fused_attention = fused;
    const auto actual = qwen3_gradients(host, options);
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

// As published: 0.6B and 1.7B, whose head is the token table.
TEST(Qwen3, HasTheParametersOfTheModelsItIs) {
  const auto count = [](std::int64_t width, std::int64_t wide) {
    chip::EmulatedChip chip(chip::load_profiles());
    autograd::StepRecorder nowhere(chip);
    Qwen3 model(nowhere, {.kind = ModelKind::qwen3,
                          .batch = 1,
                          .sequence = 32,
                          .width = width,
                          .heads = 16,
                          .groups = 8,
                          .head_width = 128,
                          .layers = 28,
                          .feed_forward = wide,
                          .vocabulary = 151936,
                          .tied = true});
    std::int64_t elements = 0;
    for (const autograd::Parameter* parameter : model.parameters()) {
      elements += parameter->value.spec().shape.elements();
    }
    return elements;
  };
  EXPECT_EQ(count(1024, 3072), 596'049'920);
  EXPECT_EQ(count(2048, 6144), 1'720'574'976);
}

TEST(Qwen3, TheOrderOfABlocksCallsIsThatOfTtml) {
  chip::EmulatedChip device(chip::load_profiles());
  const auto names = [&](bool backward) {
    autograd::StepRecorder recorder(device);
    Qwen3 model(recorder, {.kind = ModelKind::qwen3,
                           .batch = 1,
                           .sequence = 128,
                           .head_width = 64,
                           .layers = 1,
                           .fused_attention = true});
    Tape tape(recorder, {.calls = {.products = kTtmlProducts}, .records = backward});
    const autograd::Value loss = model.loss(tape);
    if (backward) tape.backward(loss);
    return names_of(recorder.programs());
  };
  const std::string norm = "square mean add rsqrt multiply multiply ";
  const std::string forward = names(false);
  EXPECT_NE(forward.find(norm + "matmul.b matmul.b matmul.b concat split_heads " + norm +
                         "rotary_embedding " + norm + "rotary_embedding attention concat_heads "),
            std::string::npos)
      << forward;
  const std::string back = names(true);
  EXPECT_NE(
      back.find("multiply multiply sum sum multiply multiply mean multiply subtract multiply"),
      std::string::npos)
      << back;
}

TEST(Qwen3, RefusesWhatItCannotBe) {
  ReferenceDevice device;
  const auto refuses = [&](const auto& change) {
    ModelOptions options = kTinyQwen;
    change(options);
    EXPECT_THROW(Qwen3(device, options), Error);
  };
  refuses([](ModelOptions& options) { options.groups = 3; });
  refuses([](ModelOptions& options) { options.head_width = 5; });
  refuses([](ModelOptions& options) { options.dropout = 0.1F; });
  refuses([](ModelOptions& options) { options.first_block = 1; });
}

}  // namespace
}  // namespace howard::models
