// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "engines/host/host_device.h"
#include "engines/training/accuracy.h"
#include "engines/training/config/ttml_recipe.h"
#include "engines/training/pictures.h"
#include "engines/training/trainer.h"
#include "tests/error_of.h"

namespace howard::training {
namespace {

bool has_words(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TtmlSettings mlp_settings(const std::string& keys, const std::string& more = "") {
  TtmlSettings settings;
  read_ttml("training_config:\n" + keys +
                "  mlp_config: {input_features: 64, hidden_features: [32, 16], "
                "output_features: 4}\n" +
                more,
            "mnist.yaml", settings);
  return settings;
}

TEST(TtmlMlp, AFileOfMnistMlpHasItsProgramsDefaults) {
  const Recipe recipe = recipe_of(mlp_settings("  seed: 7\n"));
  EXPECT_EQ(recipe.model.kind, ModelKind::mlp);
  EXPECT_EQ(recipe.model.batch, 128);
  EXPECT_EQ(recipe.model.width, 64);
  EXPECT_EQ(recipe.model.hidden, (std::vector<std::int64_t>{32, 16}));
  EXPECT_EQ(recipe.model.vocabulary, 4);
  EXPECT_EQ(recipe.optimizer.kind, OptimizerKind::sgd);
  EXPECT_FLOAT_EQ(recipe.optimizer.learning_rate, 0.1F);
  EXPECT_FLOAT_EQ(recipe.optimizer.sgd.momentum, 0.9F);
  EXPECT_EQ(recipe.optimizer.sgd.weight_decay, 0);
  EXPECT_EQ(recipe.seed, 7U);
  EXPECT_EQ(mlp_settings("").config.training.num_epochs, 10);
  // What is printed is the same run.
  TtmlSettings printed;
  read_ttml(ttml_text(mlp_settings("  batch_size: 64\n").config), "printed.yaml", printed);
  EXPECT_EQ(recipe_of(printed), recipe_of(mlp_settings("  batch_size: 64\n")));
}

TEST(TtmlMlp, ItsRateIsThatOfBatchesOf128UnlessAnOptimizerSaysIt) {
  const Recipe single = recipe_of(
      mlp_settings("  batch_size: 64\n  learning_rate: 0.2\n  momentum: 0.5\n  nesterov: true\n"));
  EXPECT_FLOAT_EQ(single.optimizer.learning_rate, 0.1F);
  EXPECT_FLOAT_EQ(single.optimizer.sgd.momentum, 0.5F);
  EXPECT_TRUE(single.optimizer.sgd.nesterov);
  const Recipe map = recipe_of(
      mlp_settings("  batch_size: 64\n  optimizer: {type: AdamW, lr: 0.02}\n  num_epochs: 3\n"));
  EXPECT_EQ(map.optimizer.kind, OptimizerKind::fused_adamw);
  EXPECT_FLOAT_EQ(map.optimizer.learning_rate, 0.02F);
}

TEST(TtmlMlp, TheConfigMayStandAtTheTopToo) {
  TtmlSettings settings;
  read_ttml(
      "mlp_config: {input_features: 9, hidden_features: [8], output_features: 3}\n"
      "training_config: {momentum: 0.25}\n",
      "top.yaml", settings);
  EXPECT_EQ(recipe_of(settings).model.width, 9);
  EXPECT_FLOAT_EQ(recipe_of(settings).optimizer.sgd.momentum, 0.25F);
}

TEST(TtmlMlp, TheModelMayStandInAFileOfItsOwn) {
  TtmlSettings settings;
  read_ttml("training_config: {logging_interval: 50, momentum: 0.25, model_config: mlp.yaml}\n",
            "mnist.yaml", settings);
  read_ttml("mlp_config: {input_features: 9, hidden_features: [8], output_features: 3}\n",
            "mlp.yaml", settings);
  EXPECT_EQ(recipe_of(settings).model.width, 9);
  EXPECT_FLOAT_EQ(recipe_of(settings).optimizer.sgd.momentum, 0.25F);
}

TEST(TtmlMlp, WhatItsProgramDoesNotReadIsRefused) {
  const auto refused = [](const std::string& keys, const std::string& more = "") {
    return error_of([&] { recipe_of(mlp_settings(keys, more)); });
  };
  EXPECT_TRUE(has_words(refused("  scheduler_type: warmup_linear\n"), "mnist.yaml:2: "));
  EXPECT_TRUE(has_words(refused("", "device_config: {mesh_shape: [1, 2], enable_ddp: true}\n"),
                        "no such key beside an mlp_config"));
  TtmlSettings part;
  read_ttml("mlp_config: {input_features: 9, hidden_features: [8]}\n", "part.yaml", part);
  EXPECT_TRUE(has_words(error_of([&] { recipe_of(part); }), "--with output_features=10"));
  // Without an mlp_config a momentum beside training_config's keys is misplaced.
  TtmlSettings text;
  EXPECT_THROW(read_ttml("training_config: {momentum: 0.25}\n", "text.yaml", text), Error);
}

TEST(TtmlMlp, LearnsMadePicturesAndGoesOnFromACheckpointToTheSameBits) {
  host::HostDevice device;
  Recipe recipe = recipe_of(mlp_settings("  batch_size: 32\n"));
  const Pictures pictures = read_pictures(kMadePictures, recipe.model);
  Trainer whole(device, recipe, pictures.trained, {});
  Trainer begun(device, recipe, pictures.trained, {});
  const double before = accuracy(device, whole.model(), pictures.held_out);
  std::vector<double> losses;
  for (int i = 0; i < 60; ++i) losses.push_back(whole.step().loss);
  for (int i = 0; i < 30; ++i) static_cast<void>(begun.step());
  Trainer resumed(device, recipe, pictures.trained, {});
  resumed.restore(begun.checkpoint());
  for (std::size_t i = 30; i < 60; ++i) ASSERT_EQ(resumed.step().loss, losses[i]) << i;
  EXPECT_NEAR(losses[0], std::log(4), 0.2);
  EXPECT_LT(before, 0.5);
  EXPECT_GT(accuracy(device, whole.model(), pictures.held_out), 0.85);
}

/// Writes MNIST's files in a small form.
class IdxFolder : public testing::Test {
 protected:
  IdxFolder() {
    std::filesystem::create_directories(folder_);
    put("train-images-idx3-ubyte", 3, {3, 2, 2}, "abcdefghijkl");
    put("train-labels-idx1-ubyte", 1, {3}, std::string{'\0', '\1', '\2'});
    put("t10k-images-idx3-ubyte", 3, {1, 2, 2}, "mnop");
    put("t10k-labels-idx1-ubyte", 1, {1}, std::string{'\2'});
  }
  ~IdxFolder() override { std::filesystem::remove_all(folder_); }

  void put(const std::string& name, char dimensions, const std::vector<char>& sizes,
           const std::string& values) const {
    std::string bytes{'\0', '\0', '\x08', dimensions};
    for (const char size : sizes) bytes += std::string{'\0', '\0', '\0', size};
    write_file(folder_ / name, bytes + values);
  }
  Pictures read(std::int64_t width = 4, std::int64_t classes = 3) const {
    return read_pictures(folder_, {.width = width, .vocabulary = classes});
  }
  std::string refusal(std::int64_t width = 4, std::int64_t classes = 3) const {
    return error_of([&] { static_cast<void>(read(width, classes)); });
  }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                  testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(IdxFolder, HasPicturesWithTheirLabelsBehind) {
  const Pictures pictures = read();
  EXPECT_EQ(pictures.trained.tokens, (std::vector<std::uint32_t>{97, 98, 99, 100, 0, 101, 102, 103,
                                                                 104, 1, 105, 106, 107, 108, 2}));
  EXPECT_EQ(pictures.held_out, (std::vector<std::uint32_t>{109, 110, 111, 112, 2}));
}

TEST_F(IdxFolder, ThatIsNotOfTheFormatOrOfAnotherModelIsRefused) {
  EXPECT_TRUE(has_words(refusal(5), "--with input_features=4")) << refusal(5);
  EXPECT_TRUE(has_words(refusal(4, 2), "label 2 of picture 2")) << refusal(4, 2);
  put("train-labels-idx1-ubyte", 1, {2}, std::string{'\0', '\1'});
  EXPECT_TRUE(has_words(refusal(), "2 labels of 3 pictures")) << refusal();
  put("train-labels-idx1-ubyte", 1, {3}, "ab");
  EXPECT_TRUE(has_words(refusal(), "2 values where its sizes say 3 x 1")) << refusal();
  put("train-images-idx3-ubyte", 1, {3}, "ab");
  EXPECT_TRUE(has_words(refusal(), "first bytes")) << refusal();
  std::filesystem::remove(folder_ / "train-images-idx3-ubyte");
  EXPECT_TRUE(has_words(refusal(), "there is no train-images-idx3-ubyte")) << refusal();
}

}  // namespace
}  // namespace howard::training
