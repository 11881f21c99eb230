// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "engines/language/tokens/corpus.h"
#include "engines/models/model_options.h"

namespace howard::training {

/// The word that stands for pictures that are made, in the place of a folder.
inline constexpr const char* kMadePictures = "synthetic";

/// The pictures of MNIST's training files, of which a plan counts the steps of an epoch.
inline constexpr std::int64_t kMnistPictures = 60'000;

/// Pictures with labels: to train on, and others to find the accuracy with. A sample has the
/// numbers of a picture (0 to 255) and its label behind them, as SampleForm::labelled says.
struct Pictures {
  language::Corpus trained;
  std::vector<std::uint32_t> held_out;
};

/// Reads MNIST's four files in the folder (train-images-idx3-ubyte, train-labels-idx1-ubyte,
/// t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte; a dot may stand before idx), or makes pictures
/// for "synthetic": a pattern of each class with noise. `model` says how many numbers a picture has
/// and how many classes there are. Throws Error for a file that is not there or not of this form,
/// and where sizes or labels are not those of the model.
Pictures read_pictures(const std::filesystem::path& folder, const models::ModelOptions& model);

}  // namespace howard::training
