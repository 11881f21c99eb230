// SPDX-License-Identifier: Apache-2.0
#include "engines/training/share.h"

#include <utility>

#include "engines/autograd/host_values.h"
#include "engines/models/language_model.h"
#include "engines/models/layers.h"

namespace howard::training {
namespace {

class WholeShare final : public Share {
 public:
  WholeShare(Device& device, const Recipe& recipe, std::int64_t vocabulary)
      : Share(recipe),
        device_(device),
        model_(models::make_model(device, recipe.model.with(vocabulary))) {}

  Device& device() override { return device_; }
  models::LanguageModel& model() override { return *model_; }
  bool is_whole() const override { return true; }
  void write_start_values() override {
    models::write_random(queue(), model_->parameters(), recipe().seed);
  }
  void begin_step() override { start_ = device_.now(); }
  StepOutcome end_step(float loss, std::int64_t /*number*/) override {
    return {.loss = double{loss}, .time = device_.now() - start_};
  }

 private:
  std::optional<Validation>& validation() override { return validation_; }

  Device& device_;
  std::unique_ptr<models::LanguageModel> model_;
  std::optional<Validation> validation_;
  SimTime start_;
};

}  // namespace

std::int64_t Share::parameters() {
  std::int64_t count = 0;
  for (const autograd::Parameter* parameter : model().parameters()) {
    count += parameter->value.spec().shape.elements();
  }
  return count;
}

autograd::StepFunction Share::step_function(std::span<const BatchTensors> data,
                                            const autograd::TapeOptions& tape,
                                            autograd::Optimizer* optimizer) {
  return autograd::training_step(
      [this, data](autograd::Tape& on, int number) {
        return models::batch_loss(on, model(), data[static_cast<std::size_t>(number)]);
      },
      *optimizer,
      {.tape = tape,
       .batches = recipe_.accumulate,
       .after_forward = [this](Device& on, const ops::Tensor& loss) {
         if (loss_reads_ != nullptr) loss_reads_->read(on, loss);
       }});
}

std::vector<NamedValues> Share::gathered(std::span<const SavedTensor> own) {
  std::vector<NamedValues> all;
  for (const auto& [name, tensor] : own) {
    all.push_back({name, autograd::read_values(queue(), tensor)});
  }
  return all;
}

language::ParameterShape Share::whole_shape(const SavedTensor& own) const {
  const Shape& shape = own.tensor.spec().shape;
  return {own.name, shape.rows(), shape.columns()};
}

void Share::write(const SavedTensor& own, const std::vector<float>& values) {
  autograd::write_values(queue(), own.tensor, values);
}

language::ImportedWeights Share::take_weights(std::span<const language::Safetensors> files) {
  return language::import_weights(queue(), model(), recipe_.model, files);
}

void Share::hold_out(std::vector<std::uint32_t> tokens, std::int64_t sequences) {
  validation().emplace(device(), model(), std::move(tokens), sequences, form_of(recipe_));
}

std::unique_ptr<language::TextReader> Share::reader() {
  return language::window_reader(device(), model());
}

std::unique_ptr<Share> whole_share(Device& device, const Recipe& recipe, std::int64_t vocabulary) {
  return std::make_unique<WholeShare>(device, recipe, vocabulary);
}

}  // namespace howard::training
