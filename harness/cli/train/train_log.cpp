// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/train/train_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>

#include "base/file.h"
#include "base/json_dump.h"
#include "base/text.h"
#include "harness/environment.h"
#include "harness/statistics.h"
#include "reports/pictures/xy_chart.h"

namespace howard::cli {
namespace {

constexpr const char* kStepsFile = "steps.jsonl";
constexpr double kMegabyte = 1 << 20;

double megabytes(Bytes size) { return static_cast<double>(size.value()) / kMegabyte; }

/// Returns what a phase has left allocated, in MB, all its segments together.
double change_of(const profiler::MemoryUse& use, std::string_view phase) {
  double change = 0;
  for (const profiler::MemoryPhase& one : use.phases) {
    if (one.name == phase) change += megabytes(one.dram.change());
  }
  return change;
}

double most_of(const profiler::MemoryUse& use, std::string_view phase) {
  double most = 0;
  for (const profiler::MemoryPhase& one : use.phases) {
    if (one.name == phase) most = std::max(most, megabytes(one.dram.peak));
  }
  return most;
}

/// TTML's tools take the last loss of a long run as the mean of its last 36.
double last_loss(std::span<const double> losses) {
  constexpr std::size_t kLong = 360;
  constexpr std::size_t kMean = 36;
  if (losses.empty()) return 0;
  if (losses.size() < kLong) return losses.back();
  const auto last = losses.last(kMean);
  return std::accumulate(last.begin(), last.end(), 0.0) / static_cast<double>(kMean);
}

/// Returns the mean without the first two steps, as far as there are others.
double mean_time(std::span<const double> seconds) {
  constexpr std::size_t kLeftOut = 2;
  if (seconds.size() > kLeftOut) seconds = seconds.subspan(kLeftOut);
  if (seconds.empty()) return 0;
  return std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
}

/// Returns the least value that `percent` of 100 do not exceed.
double percentile(std::vector<double> values, std::size_t percent) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[(values.size() - 1) * percent / 100];
}

void add_memory(nlohmann::ordered_json& json, const profiler::MemoryUse& use) {
  const double total = megabytes(use.dram_peak().dram);
  const double model = change_of(use, "model");
  const double optimizer = change_of(use, "optimizer");
  const double activations = change_of(use, "forward");
  const double gradients = most_of(use, "backward");
  json["model_dram_mb"] = model;
  json["optimizer_dram_mb"] = optimizer;
  json["activations_dram_mb"] = activations;
  json["gradients_dram_mb"] = gradients;
  json["unaccounted_dram_mb"] = total - model - optimizer - activations - gradients;
  json["total_dram_mb"] = total;
}

/// Returns the number as a file would have it: 0.0003, not the digits of the nearest float32.
double as_written(float value) { return parse_number(fmt::format("{}", value)).value_or(0); }

nlohmann::ordered_json configuration(const training::TtmlConfig& config) {
  const training::TtmlTraining& training = config.training;
  const training::TtmlTransformer& model = config.transformer;
  if (training.mlp.input_features) {
    return {{"model", "mlp"},
            {"learning_rate", as_written(training.learning_rate)},
            {"batch_size", training.batch_size},
            {"max_steps", training.max_steps},
            {"seed", training.seed}};
  }
  return {{"model", model.model_type},
          {"num_heads", model.num_heads},
          {"num_groups", model.num_groups},
          {"embedding_dim", model.embedding_dim},
          {"num_blocks", model.num_blocks},
          {"dropout_prob",
           as_written(model.dropout_prob.value_or(model.model_type == "llama" ? 0.0F : 0.2F))},
          {"learning_rate", as_written(training.learning_rate)},
          {"weight_decay", as_written(training.weight_decay)},
          {"batch_size", training.batch_size},
          {"sequence_length", model.max_sequence_length},
          {"max_steps", training.max_steps},
          {"seed", training.seed},
          {"tokenizer_type", training.tokenizer_type},
          {"use_kahan_summation", training.use_kahan_summation},
          {"gradient_accumulation_steps", training.gradient_accumulation_steps},
          {"positional_embedding_type", model.positional_embedding_type},
          {"scheduler_type", training.scheduler_type},
          {"using_clip_grad_norm", training.use_clip_grad_norm},
          {"clip_grad_norm_max_norm", as_written(training.clip_grad_norm_max_norm)}};
}

}  // namespace

std::string ttml_step_lines(std::int64_t step, double loss, double seconds,
                            std::size_t cache_entries) {
  return fmt::format("Step: {}, Loss: {}\nFull step time {:.3f} ms, cache entries: {}\n", step,
                     static_cast<float>(loss), seconds * 1e3, cache_entries);
}

Bytes most_memory(const Device& device) {
  Bytes most;
  for (const MemoryPhase& phase : device.memory_phases()) most = std::max(most, phase.peak);
  return most;
}

std::vector<harness::Metric> training_metrics(const TrainedSteps& steps) {
  const std::vector<double>& seconds = steps.seconds;
  std::vector<harness::Metric> metrics{
      {.name = "loss", .value = steps.losses.back(), .unit = "", .samples = steps.losses},
      {.name = "time",
       .value = harness::median(seconds).value_or(0),
       .unit = "s",
       .samples = seconds,
       .ci95 = harness::median_interval95(seconds)},
      {.name = "tokens",
       .value = steps.tokens_per_second,
       .unit = "1/s",
       .better = harness::Better::higher},
      {.name = "learning_rate", .value = steps.rates.back(), .unit = "", .samples = steps.rates},
      {.name = "memory", .value = static_cast<double>(steps.memory.value()), .unit = "B"}};
  const std::vector<double>& validated = steps.validation_losses;
  if (validated.empty()) return metrics;
  metrics.push_back(
      {.name = "validation_loss", .value = validated.back(), .unit = "", .samples = validated});
  return metrics;
}

std::string left_aside_text(const language::ImportedWeights& weights, const std::string& verb,
                            const std::filesystem::path& source) {
  std::string text;
  for (const std::string& name : weights.unfilled) {
    text += fmt::format("{}: {} has no values in {}: random ones\n", verb, name, source.string());
  }
  for (const std::string& name : weights.unused) {
    text += fmt::format("{}: {} of {} is not used\n", verb, name, source.string());
  }
  return text;
}

std::string ttml_metrics_json(const TtmlRun& run) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  nlohmann::ordered_json json;
  json["test_ts"] = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  json["model_name"] = run.name;
  json["model_filename"] = run.file;
  json["binary_name"] = "run_experiment";
  json["git_commit_hash"] = harness::git_commit();
  if (run.memory) add_memory(json, *run.memory);
  if (run.device_memory > 0) json["device_memory_mb"] = run.device_memory / kMegabyte;
  json["last_loss"] = last_loss(run.losses);
  json["average_iteration_time_ms"] = mean_time(run.seconds) * 1e3;
  if (!run.seconds.empty()) json["step_time_1st"] = run.seconds[0] * 1e3;
  if (run.seconds.size() > 1) json["step_time_2nd"] = run.seconds[1] * 1e3;
  for (const auto& [name, percent] :
       {std::pair("step_time_p50", 50), {"step_time_p95", 95}, {"step_time_p99", 99}}) {
    json[name] = percentile(run.seconds, static_cast<std::size_t>(percent)) * 1e3;
  }
  json["arch_name"] = run.device;
  const double seconds = mean_time(run.seconds);
  if (run.peak_flops > 0 && seconds > 0) {
    json["mfu"] = run.flops_per_step / seconds / run.peak_flops;
  }
  return json_dump(json, 2) + "\n";
}

TtmlStepLog::TtmlStepLog(const std::filesystem::path& folder, const training::TtmlConfig& config,
                         std::string_view name, double parameters, std::int64_t done)
    : folder_(folder) {
  if (folder_.empty()) return;
  require_writable_folder(folder_);
  const nlohmann::ordered_json head{{"project", config.training.project_name},
                                    {"name", name},
                                    {"parameters", parameters},
                                    {"config", configuration(config)}};
  lines_ = json_dump(head) + "\n";
  const std::filesystem::path file = folder_ / kStepsFile;
  if (done > 0 && std::filesystem::exists(file)) keep(read_file(file), done);
}

void TtmlStepLog::keep(std::string_view earlier, std::int64_t done) {
  std::string kept;
  for (const std::string& line : split(earlier, '\n')) {
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object()) continue;
    if (json.contains("Step")) {
      const std::int64_t step = json.value("Step", std::int64_t{0});
      if (step < 1 || step > done) continue;
      losses_.emplace_back(step, json.value("Loss", 0.0));
    }
    kept += line + "\n";
  }
  if (!kept.empty()) lines_ = kept;
}

void TtmlStepLog::add(std::int64_t step, double samples, double loss, float learning_rate) {
  if (folder_.empty()) return;
  losses_.emplace_back(step, loss);
  const nlohmann::ordered_json line{{"Step", step},
                                    {"Samples", samples},
                                    {"Loss", loss},
                                    {"Learning rate", as_written(learning_rate)}};
  lines_ += json_dump(line) + "\n";
}

void TtmlStepLog::write(const reports::Canvas& canvas) const {
  if (folder_.empty()) return;
  write_file(folder_ / kStepsFile, lines_);
  if (losses_.empty()) return;
  reports::Canvas here = canvas;
  here.folder = folder_;
  reports::XyChart chart{.name = "loss",
                         .title = "Loss of each step",
                         .x = {},
                         .y = {},
                         .x_label = "step",
                         .y_label = "loss",
                         .series = {{.title = "", .dots = false, .marks = {}}}};
  std::vector<double> losses;
  for (const auto& [step, loss] : losses_) {
    chart.series.front().marks.push_back({.x = static_cast<double>(step), .y = loss});
    losses.push_back(loss);
  }
  constexpr double kAcross = 800;
  constexpr double kUp = 450;
  const auto [least, most] = std::ranges::minmax(losses);
  chart.x = reports::whole_axis(static_cast<double>(losses_.front().first),
                                static_cast<double>(losses_.back().first), kAcross);
  chart.y = reports::linear_axis_upwards(least, most, kUp);
  static_cast<void>(reports::write_xy_chart(chart, here));
}

}  // namespace howard::cli
