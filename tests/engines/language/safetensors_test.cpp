// SPDX-License-Identifier: Apache-2.0
#include "engines/language/weights/safetensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>

#include "base/error.h"
#include "engines/autograd/host_values.h"
#include "engines/host/host_device.h"
#include "engines/language/weights/model_weights.h"
#include "engines/models/language_model.h"
#include "engines/models/layers.h"

namespace howard::language {
namespace {

/// A file with this header and so many bytes behind it.
std::string file_of(const std::string& header, std::size_t data) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data, '\x40');
}

std::map<std::string, WeightTensor> some_tensors() {
  return {{"a", {{2, 3}, {0, 1.5F, -2, 3e-5F, 1e30F, -0.0F}}}, {"b", {{1}, {7}}}, {"c", {{0}, {}}}};
}

TEST(Safetensors, WhatIsWrittenIsReadBack) {
  const Safetensors file(safetensors_bytes(some_tensors(), WeightType::float32), "test");
  EXPECT_EQ(file.names(), (std::vector<std::string>{"a", "b", "c"}));
  for (const auto& [name, tensor] : some_tensors()) EXPECT_EQ(file.tensor(name), tensor) << name;
  EXPECT_THROW(static_cast<void>(file.tensor("d")), Error);
}

TEST(Safetensors, Bfloat16RoundsEachNumber) {
  const Safetensors file(safetensors_bytes(some_tensors(), WeightType::bfloat16), "test");
  const WeightTensor a = file.tensor("a");
  EXPECT_EQ(a.shape, (std::vector<std::int64_t>{2, 3}));
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const float expected = some_tensors().at("a").values[i];
    EXPECT_NEAR(a.values[i], expected, std::abs(expected) / 256);
  }
}

TEST(Safetensors, HalfPrecisionIsReadExactly) {
  std::string bytes = file_of(R"({"h":{"dtype":"F16","shape":[5],"data_offsets":[0,10]}})", 10);
  const std::uint16_t halves[] = {0x3c00, 0xc000, 0x0001, 0x7bff, 0x8000};
  std::memcpy(bytes.data() + bytes.size() - 10, halves, 10);
  const WeightTensor tensor = Safetensors(bytes, "test").tensor("h");
  EXPECT_EQ(tensor.values, (std::vector<float>{1, -2, std::ldexp(1.0F, -24), 65504, -0.0F}));
}

void expect_refused(const std::string& bytes, const std::string& words) {
  try {
    const Safetensors file(bytes, "bad.safetensors");
    FAIL() << words;
  } catch (const Error& failure) {
    const std::string text = failure.what();
    EXPECT_NE(text.find("bad.safetensors"), std::string::npos) << text;
    EXPECT_NE(text.find(words), std::string::npos) << text;
  }
}

TEST(Safetensors, DamagedAndHostileFilesAreRefusedByName) {
  expect_refused("", "truncated");
  expect_refused("1234567", "truncated");
  expect_refused(std::string(8, '\xff'), "a header of 18446744073709551615 bytes");
  expect_refused(file_of("{", 0).substr(0, 8), "in a file of 8");
  expect_refused(file_of("{", 0), "read the header of ");
  expect_refused(file_of("[]", 0), "accepted: an object");
  expect_refused(file_of(std::string(100000, '['), 0), "deep");
  const auto one = [](const std::string& rest) { return "{\"a\":{" + rest + "}}"; };
  const std::string float32 = R"("dtype":"F32",)";
  expect_refused(file_of(one(R"("dtype":"F32")"), 0), "at /a: ");
  expect_refused(file_of(one(R"("dtype":"F31","shape":[1],"data_offsets":[0,4])"), 4),
                 "at /a/dtype: \"F31\"");
  for (const char* const place :
       {R"("shape":[1],"data_offsets":[0,8])", R"("shape":[2],"data_offsets":[0,4])",
        R"("shape":[1],"data_offsets":[4,0])", R"("shape":[-1],"data_offsets":[0,4])",
        R"("shape":[4294967296,4294967296,4],"data_offsets":[0,0])"}) {
    expect_refused(file_of(one(float32 + place), 4), "accepted: a tensor that lies in the file");
  }
  expect_refused(file_of(one(float32 + R"("shape":[1],"data_offsets":[0,4])"), 8),
                 "behind its tensors");
  const std::string two =
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],)";
  expect_refused(file_of(two + R"("data_offsets":[8,12]}})", 12), "leave holes");
  expect_refused(file_of(two + R"("data_offsets":[0,4]}})", 4), "overlap");
  const std::string empty = R"("a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  expect_refused(file_of("{" + empty + "," + empty + "}", 0), "'a' is there twice");
}

TEST(Safetensors, AnyCutAndAnyByteIsAnErrorOrATensor) {
  const std::string whole = safetensors_bytes(some_tensors(), WeightType::float32);
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    EXPECT_THROW(Safetensors(whole.substr(0, cut), "cut"), Error) << cut;
  }
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string changed = whole;
    changed[random() % changed.size()] = static_cast<char>(random());
    try {
      const Safetensors file(changed, "changed");
      for (const std::string& name : file.names()) static_cast<void>(file.tensor(name));
    } catch (const Error&) {
      continue;
    }
  }
}

models::ModelOptions llama_sizes() {
  models::ModelOptions options;
  options.batch = 1;
  options.sequence = 16;
  options.width = 32;
  options.heads = 4;
  options.layers = 2;
  options.dropout = 0;
  options.compute = DataType::float32;
  options.kind = models::ModelKind::llama;
  options.groups = 2;
  options.feed_forward = 48;
  return options;
}

models::ModelOptions gpt2_sizes() {
  models::ModelOptions options = llama_sizes();
  options.kind = models::ModelKind::nano_gpt;
  return options;
}

models::ModelOptions qwen3_sizes() {
  models::ModelOptions options = llama_sizes();
  options.kind = models::ModelKind::qwen3;
  options.head_width = 12;
  return options;
}

std::vector<NamedValues> values_of(CommandQueue& queue, models::LanguageModel& model) {
  std::vector<NamedValues> values;
  for (const autograd::Parameter* parameter : model.parameters()) {
    values.push_back({parameter->name, autograd::read_values(queue, parameter->value)});
  }
  return values;
}

void expect_round_trip(const models::ModelOptions& options) {
  host::HostDevice device;
  CommandQueue& queue = device.command_queue(0);
  const auto from = models::make_model(device, options.with(64));
  models::write_random(queue, from->parameters(), 5);
  const auto to = models::make_model(device, options.with(64));
  models::write_random(queue, to->parameters(), 6);
  const std::string bytes =
      safetensors_bytes(exported_weights(values_of(queue, *from), options), WeightType::float32);
  const std::vector<Safetensors> files{Safetensors(bytes, "exported")};
  const ImportedWeights report = import_weights(queue, *to, options, files);
  EXPECT_TRUE(report.unused.empty());
  EXPECT_TRUE(report.unfilled.empty());
  for (std::size_t i = 0; i < from->parameters().size(); ++i) {
    EXPECT_EQ(autograd::read_values(queue, to->parameters()[i]->value),
              autograd::read_values(queue, from->parameters()[i]->value))
        << from->parameters()[i]->name;
  }
}

TEST(Weights, AnExportedModelIsImportedAsItWas) {
  for (const models::ModelOptions& options : {llama_sizes(), gpt2_sizes(), qwen3_sizes()}) {
    for (const bool tied : {false, true}) {
      models::ModelOptions one = options;
      one.tied = tied;
      expect_round_trip(one);
    }
  }
}

// Hugging Face's Llama turns column i with i + d/2, TTML's 2i with 2i + 1.
TEST(Weights, RowsOfHeadsAreThoseOfPairs) {
  const models::ModelOptions options = llama_sizes();
  host::HostDevice device;
  CommandQueue& queue = device.command_queue(0);
  const auto model = models::make_model(device, options.with(32));
  models::write_random(queue, model->parameters(), 5);
  auto tensors = exported_weights(values_of(queue, *model), options);
  WeightTensor& query = tensors.at("model.layers.0.self_attn.q_proj.weight");
  for (std::size_t i = 0; i < query.values.size(); ++i) {
    query.values[i] = static_cast<float>(i / 32);  // its row
  }
  const std::vector<Safetensors> files{
      Safetensors(safetensors_bytes(tensors, WeightType::float32), "test")};
  import_weights(queue, *model, options, files);
  ASSERT_EQ(model->parameters()[2]->name, "llama/llama_block_0/attention/q_linear/weight");
  const auto values = autograd::read_values(queue, model->parameters()[2]->value);
  const float expected[] = {0, 4, 1, 5, 2, 6, 3, 7, 8, 12};
  for (std::size_t row = 0; row < 10; ++row) EXPECT_EQ(values[32 * row], expected[row]) << row;
}

// So do the columns of the norms over a Qwen3's heads.
TEST(Weights, ColumnsOfTheNormsOfHeadsAreThoseOfPairs) {
  const models::ModelOptions options = qwen3_sizes();
  host::HostDevice device;
  CommandQueue& queue = device.command_queue(0);
  const auto model = models::make_model(device, options.with(32));
  models::write_random(queue, model->parameters(), 5);
  auto tensors = exported_weights(values_of(queue, *model), options);
  WeightTensor& norm = tensors.at("model.layers.1.self_attn.k_norm.weight");
  ASSERT_EQ(norm.shape, std::vector<std::int64_t>{12});
  for (std::size_t i = 0; i < 12; ++i) norm.values[i] = static_cast<float>(i);
  const std::vector<Safetensors> files{
      Safetensors(safetensors_bytes(tensors, WeightType::float32), "test")};
  import_weights(queue, *model, options, files);
  const auto parameters = model->parameters();
  const auto found = std::ranges::find(parameters, "qwen3/blocks/1/self_attn/k_norm/weight",
                                       &autograd::Parameter::name);
  ASSERT_NE(found, parameters.end());
  EXPECT_EQ(autograd::read_values(queue, (*found)->value),
            (std::vector<float>{0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11}));
}

TEST(Weights, ASmallerVocabularyKeepsTheOtherRowsAndWhatDoesNotFitIsNamed) {
  const models::ModelOptions options = llama_sizes();
  host::HostDevice device;
  CommandQueue& queue = device.command_queue(0);
  const auto model = models::make_model(device, options.with(64));
  models::write_random(queue, model->parameters(), 5);
  const auto before = autograd::read_values(queue, model->parameters()[0]->value);
  const auto with = [&](const std::string& name, WeightTensor tensor) {
    return std::vector<Safetensors>{
        Safetensors(safetensors_bytes({{name, std::move(tensor)}}, WeightType::float32), "test")};
  };
  const auto report = import_weights(
      queue, *model, options, with("embed_tokens.weight", {{40, 32}, std::vector<float>(1280, 9)}));
  EXPECT_EQ(report.unfilled.size() + 1, model->parameters().size());
  const auto after = autograd::read_values(queue, model->parameters()[0]->value);
  EXPECT_EQ(after[1279], 9);
  EXPECT_EQ(after[1280], before[1280]);
  EXPECT_EQ(import_weights(queue, *model, options, with("extra", {{1}, {1}})).unused,
            std::vector<std::string>{"extra"});
  EXPECT_THROW(
      import_weights(queue, *model, options, with("norm.weight", {{31}, std::vector<float>(31)})),
      Error);
}

}  // namespace
}  // namespace howard::language
