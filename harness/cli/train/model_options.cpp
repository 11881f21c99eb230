// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/train/model_options.h"

namespace howard::cli {

using mesh::PipelineSchedule;

OptionList ttml_options(training::TtmlFiles& files) {
  return {
      {"-c, --config", "FILE",
       "Reads this training file. Its model_config and data_path are looked for in its folder and "
       "those above it, from here, and in $TT_METAL_HOME/tt-train",
       to(files.training)},
      {"--preset", "NAME",
       "Begins with the settings of a preset in the place of a training file: nano_gpt is TTML's "
       "character model, with 32 sequences a batch and 1000 steps",
       choice(files.preset, training::presets())},
      {"--model", "FILE", "Reads this model file in the place of model_config", to(files.model)},
      {"--device", "FILE", "Reads this device file", to(files.device)},
      {"--multihost", "FILE", "Reads this multihost file", to(files.multihost)},
      {"--with", "KEY=VALUE",
       "Sets a key over what the files say: max_steps=20, or with its section, "
       "training_config.max_steps=20. It can be given several times",
       to(files.keys)}};
}

OptionList data_options(training::TtmlFiles& files) {
  return {
      {"--data", "FILE", "Takes this text, or these examples (.jsonl), in the place of data_path",
       to(files.data)},
      {"--tokenizer", "FILE", "Reads this tokenizer.json in the place of tokenizer_path",
       to(files.tokenizer)}};
}

Option engine_option(training::Engine& engine) {
  using training::Engine;
  return {"--engine", "NAME", "Chooses dynamic (default, as TTML), static or traced",
          choice(engine, {{"dynamic", Engine::dynamic},
                          {"static", Engine::static_step},
                          {"traced", Engine::traced}})};
}

OptionList mesh_options(training::MeshSettings& mesh) {
  return {{"--schedule", "NAME",
           "Orders the work of a pipeline's stages: ttml (default: one micro-batch after the "
           "other), gpipe or 1f1b. Micro-batches are those of gradient_accumulation_steps",
           choice(mesh.schedule, {{"ttml", PipelineSchedule::sequential},
                                  {"gpipe", PipelineSchedule::gpipe},
                                  {"1f1b", PipelineSchedule::one_forward_one_back}})},
          {"--chunks", "N",
           "Cuts the blocks of each stage into N chunks, which 1f1b interleaves: the bubble is N "
           "times as short, and more is held and sent",
           whole(mesh.chunks, 1, training::MeshSettings::kMostChunks)},
          {"--tiers", "N",
           "Says who optimizes: with 3 (default) the optimizer has a rank of its own, with 2 it "
           "has the aggregator's",
           whole(mesh.tiers, 2, 3)}};
}

OptionList sampling_options(language::Sampling& sampling, std::string_view temperature,
                            const Applies& applies) {
  return {{"--temperature", "T", temperature, number(sampling.temperature, 0, 1e6), applies},
          {"--top-k", "K", "Draws from the K most likely tokens (default 0: all)",
           whole(sampling.top_k, 0, 1'000'000'000), applies},
          {"--top-p", "P", "Draws from the fewest tokens that together reach P (default 1: all)",
           number(sampling.top_p, 0, 1), applies},
          {"--repetition-penalty", "R",
           "Makes tokens that are in the text already less likely (default 1: no)",
           number(sampling.repetition_penalty, 0, 1e6), applies}};
}

}  // namespace howard::cli
