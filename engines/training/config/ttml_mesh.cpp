// SPDX-License-Identifier: Apache-2.0
#include "engines/training/config/ttml_mesh.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>

#include "base/bad_request.h"
#include "base/units.h"

namespace howard::training {
namespace {

constexpr std::int64_t kMostDevices = 32;  // A Galaxy has this many.
constexpr std::int64_t kMostWorkers = 64;

/// Holds what the files say of devices, and can refuse it.
struct MeshChecker {
  const TtmlSettings& settings;
  const Recipe& recipe;

  const TtmlDevices& devices() const { return settings.config.devices; }
  const TtmlMultihost& hosts() const { return settings.config.multihost; }

  const std::string& model_type() const { return settings.config.transformer.model_type; }
  void require(bool holds, const std::string& key, const std::string& value,
               const std::string& accepted, const std::string& hint = "") const {
    if (!holds) refuse_ttml(settings, key, value, accepted, hint);
  }
};

/// Throws Error for ways to share that nothing here follows.
void require_known_ways(const MeshChecker& check) {
  const TtmlDevices& devices = check.devices();
  const std::pair<const char*, bool> ways[] = {{"enable_cp", devices.enable_cp},
                                               {"enable_pp", devices.enable_pp}};
  for (const auto& [key, on] : ways) {
    check.require(!on, std::string("device_config.") + key, "true",
                  "false: devices share by enable_ddp, enable_fsdp, enable_tp and "
                  "pipeline_parallel_config");
  }
}

void read_mesh(const MeshChecker& check, MeshPlan& plan) {
  const TtmlDevices& devices = check.devices();
  const std::vector<std::int64_t>& shape = devices.mesh_shape;
  const std::string text = fmt::format("[{}]", fmt::join(shape, ", "));
  const bool is_mesh = shape.size() == 2 && shape[0] >= 1 && shape[1] >= 1 &&
                       shape[0] <= kMostDevices && shape[1] <= kMostDevices;
  check.require(is_mesh && shape[0] * shape[1] <= kMostDevices, "device_config.mesh_shape", text,
                fmt::format("[rows, columns] of {} devices at most", kMostDevices));
  const std::int64_t count = shape[0] * shape[1];
  const int ways = int{devices.enable_ddp} + int{devices.enable_fsdp} + int{devices.enable_tp};
  check.require(count == 1 || ways > 0, "device_config.mesh_shape",
                text + " devices that share nothing", "enable_ddp, enable_fsdp or enable_tp: true");
  check.require(ways <= 2, "device_config.enable_fsdp", "true beside enable_ddp and enable_tp",
                "two of the three: a mesh has two axes");
  check.require(devices.device_ids.empty() || std::ssize(devices.device_ids) == count,
                "device_config.device_ids", fmt::format("{} devices", devices.device_ids.size()),
                fmt::format("as many as mesh_shape {} has, or none", text));
  // The axes are in this order, and a single one has all devices.
  std::vector<int*> axes;
  if (devices.enable_ddp) axes.push_back(&plan.ddp);
  if (devices.enable_fsdp) axes.push_back(&plan.fsdp);
  if (devices.enable_tp) axes.push_back(&plan.tp);
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    *axes[axis] = static_cast<int>(axes.size() == 1 ? count : shape[axis]);
  }
  plan.lazy = plan.fsdp > 1 && check.settings.config.training.lazy_parameter_init;
  plan.sequence_parallel = devices.enable_sp;
}

/// Reads blocks_per_rank, which must name ranks 0, 1, 2 and so on, each once.
void read_pipeline(const MeshChecker& check, MeshPlan& plan) {
  const TtmlMultihost& hosts = check.hosts();
  const std::string section = "multihost_config.pipeline_parallel_config.";
  std::int64_t sum = 0;
  for (const auto& [rank, blocks] : hosts.pipeline.blocks_per_rank) {
    check.require(rank == std::ssize(plan.blocks), section + "blocks_per_rank",
                  fmt::format("rank {} where rank {} belongs", rank, plan.blocks.size()),
                  "ranks from 0 on, each once");
    check.require(blocks >= 1 && blocks <= check.recipe.model.layers, section + "blocks_per_rank",
                  fmt::format("{} blocks on rank {}", blocks, rank),
                  fmt::format("1 to {} blocks on each rank", check.recipe.model.layers));
    plan.blocks.push_back(static_cast<int>(blocks));
    sum += blocks;
  }
  check.require(std::ssize(plan.blocks) == hosts.num_workers, section + "blocks_per_rank",
                fmt::format("{} ranks", plan.blocks.size()),
                fmt::format("as many as num_workers, {}", hosts.num_workers));
  const std::int64_t blocks = hosts.pipeline.num_blocks.value_or(sum);
  check.require(blocks == check.recipe.model.layers, section + "num_blocks",
                fmt::format("{} blocks", blocks),
                fmt::format("the model's num_blocks, {}", check.recipe.model.layers));
  check.require(sum == blocks, section + "blocks_per_rank", fmt::format("{} blocks in all", sum),
                fmt::format("num_blocks, {}", blocks));
  check.require(check.recipe.model.kind == ModelKind::llama, "transformer_config.model_type",
                "'" + check.model_type() + "'", "llama: TTML's pipelines divide no other",
                "--model FILE, which describes a llama");
  check.require(!check.recipe.model.tied, "transformer_config.weight_tying", "'enabled'",
                "disabled: the first and the last stage cannot share a tensor");
  check.require(check.recipe.optimizer.clip == 0, "training_config.use_clip_grad_norm", "true",
                "false: no stage of a pipeline has all gradients");
}

void read_tiers(const MeshChecker& check, MeshPlan& plan) {
  check.require(check.recipe.optimizer.clip == 0, "training_config.use_clip_grad_norm", "true",
                "false: TTML's tiers do not clip");
  check.require(check.recipe.schedule.schedule == autograd::Schedule::identity,
                "training_config.scheduler_type", "it changes the learning rate",
                "identity: in TTML's tiers a schedule has no effect");
  plan.workers = static_cast<int>(check.hosts().num_workers);
}

void require_several(const MeshChecker& check, const MeshPlan& plan) {
  check.require(check.recipe.model.kind != ModelKind::deepseek || plan.ranks() == 1,
                "transformer_config.model_type",
                fmt::format("'deepseek' on {} devices", plan.ranks()),
                "one device: TTML's deepseek runs on no more",
                "files that say nothing of devices, or another model_type");
}

void require_shares(const MeshChecker& check, const MeshPlan& plan) {
  const Recipe& recipe = check.recipe;
  const bool whole = plan.tp == 1 && plan.stages() == 1 && plan.workers == 0;
  check.require(
      !recipe.examples || whole, "training_config.data_path",
      "'" + check.settings.config.training.data_path + "', examples for layers that devices divide",
      "devices that divide the batch (enable_ddp) or the parameters (enable_fsdp), or a text",
      "--with enable_tp=false --with enable_ddp=true");
  check.require(
      recipe.model.lora.rank == 0 || whole, "lora_config.rank",
      fmt::format("adapters of rank {} beside layers that devices divide", recipe.model.lora.rank),
      "devices that divide the batch (enable_ddp) or the parameters (enable_fsdp), or a rank of 0 "
      "with enable_tp or a multihost_config",
      "--with enable_tp=false --with enable_ddp=true");
  const auto divides = [&](std::int64_t size, int by, const char* key, const char* what) {
    check.require(size % by == 0, key, fmt::format("{} {} on {} devices", size, what, by),
                  fmt::format("a multiple of {}", by));
  };
  check.require(
      recipe.model.batch % plan.batch_shares() == 0, "training_config.batch_size",
      fmt::format("{} sequences on {} groups of devices", recipe.model.batch, plan.batch_shares()),
      "a multiple of them");
  if (plan.fsdp > 1) {
    check.require(recipe.optimizer.clip == 0, "training_config.use_clip_grad_norm", "true",
                  "false with enable_fsdp, as in TTML");
    check.require(!is_muon(recipe.optimizer.kind), "training_config.optimizer.type",
                  "'" + check.settings.config.training.optimizer.type.value_or("") + "'",
                  "an optimizer of single elements: with enable_fsdp no device has a whole matrix");
    check.require(plan.stages() == 1 && plan.workers == 0, "device_config.enable_fsdp", "true",
                  "false beside a multihost_config");
  }
  if (check.devices().enable_sp) {
    check.require(plan.tp > 1, "device_config.enable_sp", "true on groups of one device",
                  "enable_tp: true, whose devices divide the rows");
    check.require(recipe.model.kind == ModelKind::llama, "device_config.enable_sp",
                  "true for a " + check.model_type(), "a llama");
    const std::int64_t tiles = kTileSide * plan.tp;
    check.require(recipe.model.sequence % tiles == 0, "transformer_config.max_sequence_length",
                  fmt::format("{} rows on {} devices", recipe.model.sequence, plan.tp),
                  fmt::format("a multiple of {} with enable_sp", tiles));
  }
  if (plan.tp == 1) return;
  check.require(recipe.model.kind != ModelKind::qwen3, "transformer_config.model_type", "'qwen3'",
                "gpt2 or llama with enable_tp: TTML divides no other");
  divides(recipe.model.heads, plan.tp, "transformer_config.num_heads", "heads");
  if (recipe.model.kind == ModelKind::llama) {
    divides(recipe.model.groups, plan.tp, "transformer_config.num_groups", "groups");
    if (recipe.model.feed_forward > 0) {
      divides(recipe.model.feed_forward, plan.tp, "transformer_config.intermediate_dim", "columns");
    }
  }
  check.require(!recipe.model.tied, "transformer_config.weight_tying", "'enabled'",
                "disabled: the head is divided, the token table is on each device");
  check.require(recipe.optimizer.clip == 0, "training_config.use_clip_grad_norm", "true",
                "false with enable_tp, as in TTML");
}

/// Puts what the files do not say into `plan`, which is that of several devices.
void order_work(const MeshSettings& mesh, const Recipe& recipe, MeshPlan& plan) {
  plan.schedule = mesh.schedule;
  plan.chunks = mesh.chunks;
  plan.three_tiers = plan.workers > 0 && mesh.tiers == 3;
  require_chunks(plan, recipe.accumulate);
}

/// Throws BadRequest for a setting that `plan`, or one device, has no use for.
void require_used(const MeshSettings& mesh, const std::optional<MeshPlan>& plan) {
  const auto require = [](bool holds, const char* what, const char* accepted) {
    if (holds) return;
    throw BadRequest({.attempted = "share a run", .value = what, .accepted = accepted});
  };
  require(mesh.chunks >= 1 && mesh.chunks <= MeshSettings::kMostChunks, "too many or no chunks",
          "1 to 64");
  require(mesh.tiers == 2 || mesh.tiers == 3, "neither two nor three tiers", "2 or 3");
  using enum mesh::PipelineSchedule;
  const bool has_stages = plan && plan->stages() > 1;
  require(has_stages || mesh.schedule == sequential, "a schedule without stages",
          "--schedule for the stages of a pipeline_parallel_config");
  require(has_stages || mesh.chunks == 1, "chunks without stages",
          "--chunks for the stages of a pipeline_parallel_config");
  require((plan && plan->workers > 0) || mesh.tiers == 3, "tiers without workers",
          "--tiers for the workers of a multihost_config");
  require(mesh.chunks == 1 || mesh.schedule == one_forward_one_back,
          "chunks in another order than 1f1b's", "--chunks with --schedule 1f1b");
}

}  // namespace

std::optional<MeshPlan> mesh_plan_of(const TtmlSettings& settings, const Recipe& recipe,
                                     const MeshSettings& mesh) {
  const MeshChecker check{settings, recipe};
  require_known_ways(check);
  MeshPlan plan;
  read_mesh(check, plan);
  const TtmlMultihost& hosts = check.hosts();
  if (hosts.enabled) {
    check.require(hosts.num_workers >= 1 && hosts.num_workers <= kMostWorkers,
                  "multihost_config.num_workers", fmt::format("{}", hosts.num_workers),
                  fmt::format("1 to {}", kMostWorkers));
    plan.fabric = hosts.socket_type == "fabric";
    hosts.pipeline.blocks_per_rank.empty() && !hosts.pipeline.num_blocks
        ? read_tiers(check, plan)
        : read_pipeline(check, plan);
  }
  require_several(check, plan);
  require_shares(check, plan);
  std::optional<MeshPlan> shared = plan.ranks() == 1 ? std::nullopt : std::optional(plan);
  require_used(mesh, shared);
  if (shared) order_work(mesh, recipe, *shared);
  return shared;
}

std::vector<std::string> idle_keys(const TtmlSettings& settings, const Recipe& recipe,
                                   const std::optional<MeshPlan>& plan) {
  if (!recipe.model.divided_table || (plan && plan->tp > 1)) return {};
  return {settings.name_of("transformer_config.embedding_placement") +
          ": feature_parallel changes nothing here: it is for the devices of enable_tp"};
}

}  // namespace howard::training
