// SPDX-License-Identifier: Apache-2.0
//
// The best configurations as others take them: keys and recipes in the words of tt-metal's registry
// (ttnn/cpp/ttnn/operations/matmul/device/config/registry, @454d4aeaeb), a module for ttnn, and
// attributes of tt-mlir.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "base/json_dump.h"
#include "engines/program/matmul_config.h"
#include "experiments/questions/tuning_report.h"
#include "experiments/questions/work_tuning_report.h"
#include "reports/tables/format.h"

namespace howard::experiments {
namespace {

using Json = nlohmann::ordered_json;

/// The registry writes chips as numbers.
int architecture_number(std::string_view architecture) {
  constexpr int kWormhole = 2, kBlackhole = 3;
  return architecture == "blackhole" ? kBlackhole : kWormhole;
}

std::string memory_layout(const TensorSpec& spec) {
  return spec.sharding ? fmt::format("{}_sharded", name_of(spec.sharding->layout)) : "interleaved";
}

Json json_of(const TensorSpec& spec) {
  Json json{{"dtype", name_of(spec.dtype)},
            {"layout", spec.layout == Layout::tile ? "tile" : "row_major"},
            {"buffer_type", spec.storage == Storage::l1 ? "l1" : "dram"},
            {"memory_layout", memory_layout(spec)},
            {"tile_height", kTileSide},
            {"tile_width", kTileSide}};
  if (spec.sharding) json["shards"] = short_text(*spec.sharding);
  return json;
}

/// The sizes of a product as its kernel sees them.
struct Sizes {
  std::int64_t m, k, n, batch;
};
Sizes sizes_of(const Program& program, const MatmulAttributes& product) {
  const Shape& a = program.inputs[0].spec.shape;
  const Shape& b = program.inputs[1].spec.shape;
  const Shape& out = program.outputs[0].spec.shape;
  const bool batched_b = b.batch() > 1;
  return {.m = out.rows() * (batched_b ? 1 : out.batch()),
          .k = product.transpose_a ? a.rows() : a.columns(),
          .n = out.columns(),
          .batch = batched_b ? b.batch() : 1};
}

std::int64_t padded(std::int64_t size) { return kTileSide * ceil_div(size, kTileSide); }

Json key_of(const TunedCall& call, const MatmulAttributes& product, int architecture) {
  const Sizes sizes = sizes_of(call.program, product);
  const auto& inputs = call.program.inputs;
  return {{"schema_version", 1},
          {"architecture", architecture},
          {"compute_grid_x", call.grid.columns},
          {"compute_grid_y", call.grid.rows},
          {"device_count", 1},
          {"mesh_rows", 1},
          {"mesh_cols", 1},
          {"domain", "dense.matmul"},
          {"m", sizes.m},
          {"k", sizes.k},
          {"n", sizes.n},
          {"padded_m", padded(sizes.m)},
          {"padded_k", padded(sizes.k)},
          {"padded_n", padded(sizes.n)},
          {"batch", sizes.batch},
          {"input_a", json_of(inputs[0].spec)},
          {"input_b", json_of(inputs[1].spec)},
          {"output", json_of(call.program.outputs[0].spec)},
          {"has_bias", inputs.size() > 2},
          {"has_activation", product.activation.has_value()},
          {"transpose_a", product.transpose_a},
          {"transpose_b", product.transpose_b},
          {"bcast_batch", sizes.batch == 1},
          {"run_batched", sizes.batch > 1},
          {"untilize_out", false}};
}

std::string_view family_of(MatmulKind kind) {
  switch (kind) {
    case MatmulKind::multicast_2d:
      return "multi_core_reuse_multi_cast";
    case MatmulKind::multicast_1d_in0:
    case MatmulKind::multicast_1d_in1:
      return "multi_core_reuse_multi_cast_1d";
    case MatmulKind::reuse:
      return "multi_core_reuse";
    case MatmulKind::dram_sharded:
      return "multi_core_reuse_multi_cast_dram_sharded";
    case MatmulKind::multi_core:
      break;
  }
  return "multi_core";
}

Json recipe_of(const chip::MatmulPlan& plan) {
  const MatmulConfig config = config_of(plan);
  Json program{{"family", family_of(config.kind)}};
  if (config.kind != MatmulKind::multi_core) {
    program.update(Json{{"compute_grid", {{"x", config.grid.columns}, {"y", config.grid.rows}}},
                        {"in0_block_w", config.in0_block_w},
                        {"out_subblock_h", config.subblock_h},
                        {"out_subblock_w", config.subblock_w},
                        {"per_core_m", config.per_core_m},
                        {"per_core_n", config.per_core_n},
                        {"out_block_h", config.out_block_h},
                        {"out_block_w", config.out_block_w},
                        {"fuse_batch", config.fuse_batch},
                        {"mcast_in0", config.kind == MatmulKind::multicast_1d_in0},
                        {"transpose_mcast", config.transpose_mcast},
                        {"gather_in0", config.gather_in0},
                        {"untilize_out", false}});
  }
  return {{"program_config", std::move(program)},
          {"compute_kernel_config",
           {{"math_fidelity", name_of(plan.fidelity)},
            {"fp32_dest_acc_en", plan.fp32_accumulation},
            {"packer_l1_acc", plan.packer_accumulates},
            {"math_approx_mode", false},
            {"dst_full_sync_en", false}}}};
}

Json entry_of(const TunedCall& call, int architecture) {
  Json entry{{"op", call.program.name}, {"calls", call.calls}};
  const auto* const product = std::get_if<MatmulAttributes>(&call.program.attributes);
  if (product != nullptr && call.best.matmul) {
    entry["key"] = key_of(call, *product, architecture);
    entry["recipe"] = recipe_of(*call.best.matmul);
    entry["config"] = arguments_text(call.best);
  } else {
    Json key{{"architecture", architecture}, {"inputs", Json::array()}};
    for (const Operand& input : call.program.inputs) {
      Json operand{{"shape", input.spec.shape.text()}};
      operand.update(json_of(input.spec));
      key["inputs"].push_back(std::move(operand));
    }
    entry["key"] = std::move(key);
    Json arguments = Json::object();
    for (const auto& [name, value] : tuned_arguments(call.best.attributes)) {
      arguments[std::string(name)] = value;
    }
    entry["recipe"] = {{"arguments", std::move(arguments)}};
  }
  const auto nanoseconds = [](SimTime time) { return static_cast<double>(time.ps()) / 1e3; };
  entry["prediction"] = {{"baseline_ns", nanoseconds(call.now.time)},
                         {"candidate_ns", nanoseconds(call.best.time)},
                         {"baseline_expected_error", call.now.error},
                         {"candidate_expected_error", call.best.error},
                         {"gain", call.gain()},
                         {"work_ns", nanoseconds(call.best.whole)},
                         {"gain_of_work", call.gain_of_whole()}};
  return entry;
}

/// Returns what a line of a comment says of a call.
std::string comment_of(const TunedCall& call) {
  return fmt::format("{}, {:.6g} calls: {}, and {} so ({:.2f}x)", call_text(call), call.calls,
                     reports::format_time(call.now.time), reports::format_time(call.best.time),
                     call.gain());
}

std::string comments_above(const WorkTuning& tuning, const std::string& what,
                           std::string_view mark) {
  return fmt::format(
      "{0} The best configurations of {1}, as Howard predicts them:\n{0} {2}.\n{0} {3}.\n", mark,
      what, answer_text(tuning), left_out_text(tuning));
}

/// Returns a shape as the module has it in its keys: without leading ones.
std::string python_shape(const Shape& shape) {
  std::string text;
  const auto& all = shape.dimensions();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (text.empty() && i + 2 < all.size() && all[i] == 1) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", all[i]);
  }
  return "(" + text + ")";
}

std::string python_place(const TensorSpec& spec) {
  return fmt::format("\"{} {}\"", spec.storage == Storage::l1 ? "l1" : "dram", memory_layout(spec));
}

std::string_view python_truth(bool value) { return value ? "True" : "False"; }

std::string python_key(const TunedCall& call, const MatmulAttributes& product) {
  const TensorSpec& a = call.program.inputs[0].spec;
  const TensorSpec& b = call.program.inputs[1].spec;
  const TensorSpec& out = call.program.outputs[0].spec;
  return fmt::format(
      "({}, {}, {}, {}, {}, {}, \"{}\", \"{}\", \"{}\", {}, {}, {})", python_shape(a.shape),
      python_shape(b.shape), python_truth(product.transpose_a), python_truth(product.transpose_b),
      python_truth(call.program.inputs.size() > 2),
      product.activation ? fmt::format("\"{}\"", name_of(product.activation->function)) : "None",
      name_of(a.dtype), name_of(b.dtype), name_of(out.dtype), python_place(a), python_place(b),
      python_place(out));
}

std::string python_entry(const TunedCall& call, const MatmulAttributes& product) {
  const chip::MatmulPlan& plan = *call.best.matmul;
  const auto activation = plan.problem.activation;
  return fmt::format(
      "    # {}\n    {}: (\n        {},\n        ttnn.WormholeComputeKernelConfig(\n"
      "            math_fidelity=ttnn.MathFidelity.{},\n            math_approx_mode=False,\n"
      "            fp32_dest_acc_en={},\n            packer_l1_acc={},\n        ),\n"
      "        {},  # whether the kernel applies the activation\n    ),\n",
      comment_of(call), python_key(call, product),
      indented(python_text(config_of(plan), activation), 8), name_of(plan.fidelity),
      python_truth(plan.fp32_accumulation), python_truth(plan.packer_accumulates),
      python_truth(activation.has_value()));
}

std::string attention_key(const TunedCall& call, const AttentionAttributes& attention) {
  const TensorSpec& q = call.program.inputs[0].spec;
  return fmt::format("({}, {}, {}, {}, \"{}\")", python_shape(q.shape),
                     python_shape(call.program.inputs[1].spec.shape),
                     python_truth(attention.causal), python_truth(call.program.inputs.size() > 3),
                     name_of(q.dtype));
}

std::string attention_entry(const TunedCall& call, const AttentionAttributes& best) {
  return fmt::format(
      "    # {}\n    {}: ttnn.SDPAProgramConfig(\n"
      "        compute_with_storage_grid_size=ttnn.CoreCoord({}, {}),\n        q_chunk_size={},\n"
      "        k_chunk_size={},\n        exp_approx_mode={},\n    ),\n",
      comment_of(call), attention_key(call, best), call.grid.columns, call.grid.rows,
      best.query_chunk, best.key_chunk, python_truth(best.approximate));
}

constexpr std::string_view kPythonFunctions = R"(

def _name(value):
    return str(value).split(".")[-1].lower()


def _shape(tensor):
    sizes = [int(size) for size in tensor.shape]
    while len(sizes) > 2 and sizes[0] == 1:
        sizes.pop(0)
    return tuple(sizes)


def _place(config):
    return f"{_name(config.buffer_type)} {_name(config.memory_layout)}"


def find(a, b, *, bias=None, transpose_a=False, transpose_b=False, activation=None, dtype=None,
         memory_config=None):
    """Returns (program_config, compute_kernel_config, fuses) of such a product, or None."""
    place = _place(memory_config) if memory_config is not None else "dram interleaved"
    return CONFIGS.get((_shape(a), _shape(b), transpose_a, transpose_b, bias is not None, activation,
                        _name(a.dtype), _name(b.dtype), _name(dtype or a.dtype),
                        _place(a.memory_config()), _place(b.memory_config()), place))


def linear(a, b, *, bias=None, transpose_a=False, transpose_b=False, activation=None, dtype=None,
           memory_config=None, program_config=None, compute_kernel_config=None, **others):
    """ttnn.linear, with the configuration that was found for such a product, if one was."""
    call = dict(bias=bias, transpose_a=transpose_a, transpose_b=transpose_b, dtype=dtype,
                memory_config=memory_config)
    found = None
    if program_config is None and "core_grid" not in others:
        found = find(a, b, activation=activation, **call) or find(a, b, **call)
    call.update({name: value for name, value in others.items() if value is not None})
    if found is None:
        if program_config is not None:
            call["program_config"] = program_config
        if compute_kernel_config is not None:
            call["compute_kernel_config"] = compute_kernel_config
        return ttnn.linear(a, b, activation=activation, **call)
    return ttnn.linear(a, b, activation=None if found[2] else activation, program_config=found[0],
                       compute_kernel_config=compute_kernel_config or found[1], **call)


def matmul(a, b, **others):
    """ttnn.matmul in the same way."""
    return linear(a, b, **others)


def scaled_dot_product_attention(q, k, v, *, attn_mask=None, is_causal=True, program_config=None,
                                 **others):
    """ttnn's, with the chunks that were found for such an attention, if some were."""
    if program_config is None:
        program_config = ATTENTION.get((_shape(q), _shape(k), is_causal, attn_mask is not None,
                                        _name(q.dtype)))
    return ttnn.transformer.scaled_dot_product_attention(
        q, k, v, attn_mask=attn_mask, is_causal=is_causal, program_config=program_config, **others)
)";

std::string mlir_attribute(const TunedCall& call) {
  if (call.best.matmul && std::holds_alternative<MatmulAttributes>(call.best.attributes)) {
    const std::string text =
        mlir_text(config_of(*call.best.matmul), call.best.matmul->problem.activation);
    return text.empty() ? "" : "matmul_program_config = " + text;
  }
  const auto members = [&](std::string_view separator) {
    std::string text;
    for (const auto& [name, value] : tuned_arguments(call.best.attributes)) {
      const std::string word = value == "True" ? "true" : value == "False" ? "false" : value;
      text += fmt::format("{}{} = {}", text.empty() ? "" : separator, name, word);
    }
    return text;
  };
  const bool attends = std::holds_alternative<AttentionAttributes>(call.best.attributes) ||
                       std::holds_alternative<DecodeAttentionAttributes>(call.best.attributes);
  if (attends) {
    return fmt::format(
        "program_config = #ttnn.sdpa_program_config<compute_with_storage_grid_size = "
        "#ttnn.core_coord<{}, {}>, {}>",
        call.grid.columns, call.grid.rows, members(", "));
  }
  if (std::holds_alternative<Conv2dAttributes>(call.best.attributes)) {
    return fmt::format("conv2d_config = #ttnn.conv2d_config<{}>", members(", "));
  }
  return "";
}

}  // namespace

std::string work_tuning_json(const WorkTuning& tuning, const std::string& what,
                             const harness::RunContext& context) {
  const int architecture = architecture_number(tuning.architecture);
  Json parameters = Json::object();
  for (const auto& [axis, value] : tuning.point) parameters[axis] = value;
  Json constants = Json::array();  // those that the user set
  for (const auto* const profile : {&context.chip, &context.software}) {
    for (const std::string& setting : profile->settings) constants.push_back(setting);
  }
  Json entries = Json::array();
  for (const TunedCall& call : tuning.calls) entries.push_back(entry_of(call, architecture));
  const Json json{
      {"schema", "howard.tuned/1"},
      {"what", what},
      {"experiment", tuning.experiment},
      {"parameters", std::move(parameters)},
      {"chip", tuning.chip},
      {"chip_profile", context.chip.text()},
      {"software", context.software.text()},
      {"picoseconds", tuning.time.ps()},
      {"tuned_picoseconds", tuning.best_time.ps()},
      {"gain", tuning.gain()},
      {"expected_error", tuning.error},
      {"distinct_calls", tuning.distinct},
      {"left_out",
       {{"gain_below_expected_error", tuning.below_error}, {"gain_nothing", tuning.best_already}}},
      {"notes", tuning.notes},
      {"entries", std::move(entries)}};
  return json_dump(json, 2) + "\n";
}

std::string work_tuning_python(const WorkTuning& tuning, const std::string& what) {
  std::string text =
      comments_above(tuning, what, "#") +
      "# linear(), matmul() and scaled_dot_product_attention() below take them; all else runs as "
      "ttnn\n# chooses.\n"
      "import ttnn\n\n# Shapes of A and B, what is transposed, bias, activation, "
      "types and places of A, B, result.\nCONFIGS = {\n";
  std::set<std::string> keys;  // Of two alike, the one that saves most is there.
  std::string attentions, others;
  for (const TunedCall& call : tuning.calls) {
    const auto* const product = std::get_if<MatmulAttributes>(&call.program.attributes);
    const auto* const attention = std::get_if<AttentionAttributes>(&call.best.attributes);
    if (product != nullptr && call.best.matmul) {
      if (keys.insert(python_key(call, *product)).second) text += python_entry(call, *product);
    } else if (attention != nullptr) {
      if (keys.insert(attention_key(call, *attention)).second) {
        attentions += attention_entry(call, *attention);
      }
    } else {
      others += fmt::format("# {}\n#     {}\n", comment_of(call), arguments_text(call.best));
    }
  }
  text += "}\n\n# Shapes of Q and K, whether it is causal and masked, type of Q.\nATTENTION = {\n" +
          attentions + "}\n";
  if (!others.empty()) text += "\n# Other calls, with their arguments:\n" + others;
  return text + std::string(kPythonFunctions);
}

std::string work_tuning_mlir(const WorkTuning& tuning, const std::string& what) {
  std::string text = comments_above(tuning, what, "//");
  for (const TunedCall& call : tuning.calls) {
    const std::string attribute = mlir_attribute(call);
    text += fmt::format("\n// {}\n{}\n", comment_of(call),
                        attribute.empty() ? "// " + arguments_text(call.best) : attribute);
  }
  return text;
}

}  // namespace howard::experiments
