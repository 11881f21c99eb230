// SPDX-License-Identifier: Apache-2.0
#include "engines/workload/ttnn_module.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "engines/program/eltwise.h"
#include "engines/program/fields.h"
#include "engines/workload/launch.h"
#include "engines/workload/mlir_text.h"

namespace howard::workload {
namespace {

/// Ops that make no program: what they give is there when it is asked for.
const std::set<std::string, std::less<>> kFree{
    "constant",    "deallocate", "empty",     "from_device",    "full", "get_device",
    "load_cached", "ones",       "to_device", "to_tensor_spec", "zeros"};

/// Ops of the dialect that have another name as a kind, and take no attributes here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kOtherNames{{
    {"concatenate_heads", "concat_heads"},
    {"assign", "copy"},
    {"pow_scalar", "pow"},
    {"clamp_scalar", "clamp"},
    {"logical_not", "logical_not"},
    {"to_memory_config", "copy"},
}};

/// The kernel of a call and what it is told, as JSON.
struct Kernel {
  std::string name;
  std::string attributes = "{}";
  std::size_t inputs = 8;  ///< It takes so many operands at most; weights of norms cost nothing.
};
using Choice = std::optional<Kernel>;

std::string list_of(const std::vector<std::int64_t>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ","));
}

/// Returns the place that a dimension of a tensor has among the last four.
std::int64_t place_of(std::int64_t dimension, int rank) {
  return dimension < 0 ? dimension + 4 : dimension + 4 - rank;
}

/// The operands and results of an op as tensors.
struct Call {
  const MlirOp& op;
  std::vector<MlirTensor> inputs, outputs;

  int rank() const { return inputs.empty() ? 4 : inputs[0].rank; }
  bool is_alike() const { return inputs[0].spec.layout == outputs[0].spec.layout; }
};

/// Returns what stands behind "key = " in an attribute's text, up to a comma or a bracket.
std::string_view value_in(std::string_view attribute, std::string_view key) {
  for (std::size_t at = attribute.find(key); at != std::string_view::npos;
       at = attribute.find(key, at + 1)) {
    const std::string_view rest = attribute.substr(at + key.size());
    const bool whole =
        at > 0 && std::string_view(" <").find(attribute[at - 1]) != std::string_view::npos;
    if (!whole || !rest.starts_with(" = ")) continue;
    return trimmed(rest.substr(3, rest.find_first_of(",>", 3) - 3));
  }
  return {};
}

/// Returns a program configuration of the dialect as one of a workload; "" if its class is none.
std::string config_of(std::string_view attribute) {
  const bool one_dimension = attribute.find("multi_cast_1d") != std::string_view::npos;
  const auto pair = [&](const char* first, const char* second) {
    return fmt::format("{}x{}", value_in(attribute, first), value_in(attribute, second));
  };
  const std::string shares =
      fmt::format("per_core={}:in0_block_w={}", pair("per_core_m", "per_core_n"),
                  value_in(attribute, "in0_block_w"));
  if (attribute.find("dram_sharded") != std::string_view::npos) return "dram_sharded:" + shares;
  if (attribute.find("multi_core_reuse") == std::string_view::npos) return "";
  std::string text = "reuse";
  if (one_dimension) {
    text = value_in(attribute, "mcast_in0") == "true" ? "1d_in0" : "1d_in1";
  } else if (attribute.find("multi_cast") != std::string_view::npos) {
    text = "2d";
  }
  const std::size_t grid = attribute.find("core_coord<");
  if (grid == std::string_view::npos) return "";
  const std::string_view sides = attribute.substr(grid + 11, attribute.find('>', grid) - grid - 11);
  const std::size_t comma = std::min(sides.find(','), sides.size());
  text += fmt::format(":grid={}x{}:{}:out_subblock={}", trimmed(sides.substr(0, comma)),
                      trimmed(sides.substr(std::min(comma + 1, sides.size()))), shares,
                      pair("out_subblock_h", "out_subblock_w"));
  if (!value_in(attribute, "out_block_h").empty()) {
    text += ":out_block=" + pair("out_block_h", "out_block_w");
  }
  if (value_in(attribute, "transpose_mcast") == "true") text += ":transpose_mcast=yes";
  if (value_in(attribute, "fuse_batch") == "false") text += ":fuse_batch=no";
  return text;
}

/// Returns the members of a compute configuration, each behind a comma.
std::string compute_of(const MlirOp& op) {
  const std::string_view config = op.property("compute_config").value_or("");
  std::string members;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kFidelities{
      {{"lofi", "LoFi"}, {"hifi2", "HiFi2"}, {"hifi3", "HiFi3"}, {"hifi4", "HiFi4"}}};
  for (const auto& [word, name] : kFidelities) {
    if (value_in(config, "math_fidelity") == word) {
      members += fmt::format(",\"fidelity\":\"{}\"", name);
    }
  }
  for (const auto& [key, name] : {std::pair{"fp32_dest_acc_en", "fp32_accumulation"},
                                  {"packer_l1_acc", "packer_accumulates"}}) {
    const std::string_view value = value_in(config, key);
    if (value == "true" || value == "false") members += fmt::format(",\"{}\":{}", name, value);
  }
  return members;
}

/// A product with a configuration that is of no known class is not known.
Choice product(const Call& call) {
  std::string attributes =
      fmt::format("{{\"transpose_a\":{},\"transpose_b\":{}{}", call.op.flag("transpose_a"),
                  call.op.flag("transpose_b"), compute_of(call.op));
  if (const auto activation = call.op.property("activation")) {
    attributes += fmt::format(",\"activation\":{}", *activation);
  }
  if (const auto given = call.op.property("matmul_program_config")) {
    const std::string config = config_of(*given);
    if (config.empty()) return std::nullopt;
    attributes += fmt::format(",\"config\":\"{}\"", config);
  }
  return Kernel{"matmul", attributes + "}"};
}

/// A reduction of one dimension, or of all.
Choice reduction(const Call& call) {
  const auto dims = call.op.numbers("dim_arg");
  const bool all = dims.empty() || static_cast<int>(dims.size()) == call.rank();
  if (all && call.inputs[0].spec.shape.batch() == 1 && call.rank() > 1) {
    return Kernel{call.op.name, "{\"dimension\":\"all\"}"};
  }
  if (dims.size() != 1) return std::nullopt;
  const std::int64_t place = place_of(dims[0], call.rank());
  if (place != 2 && place != 3) return std::nullopt;
  return Kernel{call.op.name,
                fmt::format("{{\"dimension\":\"{}\"}}", place == 3 ? "columns" : "rows")};
}

Choice permutation(const Call& call) {
  std::vector<std::int64_t> order = call.op.numbers("permutation");
  const int rank = call.rank();
  if (call.op.name == "transpose") {
    for (int i = 0; i < rank; ++i) order.push_back(i);
    const auto a = call.op.numbers("dim0"), b = call.op.numbers("dim1");
    if (a.size() != 1 || b.size() != 1) return std::nullopt;
    const auto at = [&](std::int64_t dim) {
      return static_cast<std::size_t>(
          std::clamp<std::int64_t>(dim < 0 ? dim + rank : dim, 0, rank - 1));
    };
    std::swap(order[at(a[0])], order[at(b[0])]);
  }
  if (static_cast<int>(order.size()) != rank || rank > 4) return std::nullopt;
  std::vector<std::int64_t> places;
  for (int i = 0; i < 4 - rank; ++i) places.push_back(i);
  for (const std::int64_t from : order) places.push_back(from + 4 - rank);
  if (places == std::vector<std::int64_t>{0, 1, 3, 2}) return Kernel{"transpose"};
  return Kernel{"permute", fmt::format("{{\"order\":{}}}", list_of(places))};
}

/// Returns numbers for each of four dimensions; those in front are `otherwise`.
std::vector<std::int64_t> of_four(std::vector<std::int64_t> numbers, std::int64_t otherwise) {
  while (numbers.size() < 4) numbers.insert(numbers.begin(), otherwise);
  return numbers;
}

Choice slice(const Call& call) {
  const auto begins = call.op.numbers("begins");
  if (call.rank() > 4 || static_cast<int>(begins.size()) != call.rank()) return std::nullopt;
  return Kernel{"slice", fmt::format("{{\"begins\":{},\"steps\":{}}}", list_of(of_four(begins, 0)),
                                     list_of(of_four(call.op.numbers("step"), 1)))};
}

Choice pad(const Call& call) {
  const auto both = call.op.numbers("padding");  // before and behind, for each dimension
  std::vector<std::int64_t> before;
  for (std::size_t i = 0; i < both.size(); i += 2) before.push_back(both[i]);
  if (call.rank() > 4 || static_cast<int>(before.size()) != call.rank()) return std::nullopt;
  return Kernel{"pad", fmt::format("{{\"before\":{}}}", list_of(of_four(before, 0)))};
}

Choice attention(const Call& call) {
  return Kernel{"attention", fmt::format("{{\"causal\":{}}}", call.op.flag("is_causal"))};
}

Choice heads(const Call& call) {
  const auto count = call.op.numbers("num_heads");
  const auto groups = call.op.numbers("num_kv_heads");
  if (count.empty()) return std::nullopt;
  return Kernel{"split_heads",
                fmt::format("{{\"heads\":{},\"groups\":{},\"transpose_k\":{}}}", count[0],
                            groups.empty() ? 0 : groups[0], call.op.flag("transpose_key"))};
}

Choice last_dimension(const Call& call, const char* key, const char* kernel) {
  const auto dim = call.op.numbers(key);
  if (dim.size() > 1 || (dim.size() == 1 && place_of(dim[0], call.rank()) != 3))
    return std::nullopt;
  return Kernel{kernel};
}

/// Returns the kernel of an op that is one program; absent if it is not known.
Choice kernel_of(const Call& call) {
  const std::string& name = call.op.name;
  if (name == "matmul" || name == "linear") return product(call);
  if (name == "sum" || name == "mean" || name == "max") return reduction(call);
  if (name == "permute" || name == "transpose") return permutation(call);
  if (name == "slice_static" || name == "slice") return slice(call);
  if (name == "pad") return pad(call);
  if (name == "softmax") return last_dimension(call, "dimension", "softmax");
  if (name == "argmax") return last_dimension(call, "dim", "argmax");
  if (name == "rms_norm") return Kernel{"rms_norm", "{}", 2};
  if (name == "layer_norm") return Kernel{"layernorm", "{}", 1};
  if (name == "reshape" || name == "embedding") return Kernel{name};
  if (name == "scaled_dot_product_attention") return attention(call);
  if (name == "split_query_key_value_and_create_heads") return heads(call);
  if (name == "concat") {
    const auto dim = call.op.numbers("dim");
    if (dim.size() != 1) return std::nullopt;
    return Kernel{name, fmt::format("{{\"dimension\":{}}}", place_of(dim[0], call.rank()))};
  }
  if (name == "to_layout" || name == "typecast") {
    if (call.is_alike()) return Kernel{"copy"};
    return Kernel{call.outputs[0].spec.layout == Layout::tile ? "tilize" : "untilize"};
  }
  const auto other =
      std::ranges::find(kOtherNames, name, [](const auto& pair) { return pair.first; });
  const std::string kind(other == kOtherNames.end() ? std::string_view(name) : other->second);
  if (kind == "copy" || kind == "concat_heads") return Kernel{kind};
  const auto function = find_eltwise(kind);
  if (!function) return std::nullopt;
  const auto values = static_cast<std::size_t>(arity_of(*function));
  if (values == call.inputs.size()) return Kernel{kind};
  if (values == call.inputs.size() + 1) return Kernel{kind, "{\"scalar\":1}"};
  return std::nullopt;
}

/// Says whether a reshape leaves the memory as it is: rows of whole tiles that are as long.
bool is_view(const Call& call) {
  if (call.op.name != "reshape") return false;
  const TensorSpec& in = call.inputs[0].spec;
  const TensorSpec& out = call.outputs[0].spec;
  const bool rows_fit = in.shape.rows() == out.shape.rows() ||
                        (in.shape.rows() % kTileSide == 0 && out.shape.rows() % kTileSide == 0);
  return in.shape.columns() == out.shape.columns() && rows_fit && in.layout == out.layout &&
         in.storage == out.storage && in.sharding == out.sharding;
}

class ModuleReader {
 public:
  ModuleReader(std::string_view text, const std::string& name, ModuleNotes& notes)
      : text_(text), notes_(notes) {
    made_.source = name;
  }

  Workload read() {
    // The last row of a Wormhole's cores computes if ethernet cores dispatch.
    constexpr CoreGrid kWormhole{8, 8};
    text_.each_op([&] { forget(); }, [&](const MlirOp& op) { read(op); });
    forget();
    add(Step::finish, 0);
    made_.eth_dispatch = most_.rows == kWormhole.rows && most_.columns <= kWormhole.columns;
    return std::move(made_);
  }

 private:
  void add(Step step, std::uint32_t what) { made_.commands.push_back({step, 0, what}); }

  /// Ends a function: its values are released.
  void forget() {
    for (const TensorNumber tensor : owned_) add(Step::release, tensor);
    values_.clear();
    owned_.clear();
  }

  void needs(CoreGrid grid) {
    most_.columns = std::max(most_.columns, grid.columns);
    most_.rows = std::max(most_.rows, grid.rows);
  }

  TensorNumber make(const TensorSpec& spec) {
    if (spec.sharding && spec.storage == Storage::l1) needs(spec.sharding->grid);
    made_.tensors.push_back({.spec = spec, .view_of = {}});
    const auto tensor = static_cast<TensorNumber>(made_.tensors.size() - 1);
    add(Step::make, tensor);
    owned_.insert(tensor);
    return tensor;
  }

  void leave_out(const MlirOp& op, std::string_view why = "") {
    ++notes_.left_out[op.name + std::string(why)];
  }

  void read(const MlirOp& op) {
    ++notes_.ops;
    if (op.name == "deallocate") release(op);
    if (kFree.contains(op.name)) {
      ++notes_.free;
      return;
    }
    const std::optional<Call> call = call_of(op);
    if (!call) return leave_out(op, " (of tensors without a layout)");
    const bool host = std::ranges::any_of(call->inputs, &MlirTensor::on_host) ||
                      std::ranges::any_of(call->outputs, &MlirTensor::on_host);
    if (host) {  // between host and device; what it gives is made where it is asked for
      ++notes_.free;
      return;
    }
    if (is_view(*call)) return view(*call);
    const Choice kernel = kernel_of(*call);
    if (!kernel) return leave_out(op);
    Call taken = *call;
    taken.inputs.resize(std::min(taken.inputs.size(), kernel->inputs),
                        MlirTensor{.spec = taken.inputs[0].spec});
    if (!is_taken(*kernel, taken))
      return leave_out(op, " (its kernel does not take such operands)");
    launch(*kernel, taken);
  }

  std::optional<Call> call_of(const MlirOp& op) const {
    Call call{.op = op, .inputs = {}, .outputs = {}};
    for (const std::string& type : op.operand_types) {
      const auto tensor = text_.tensor(type);
      if (tensor) call.inputs.push_back(*tensor);
    }
    for (const std::string& type : op.result_types) {
      const auto tensor = text_.tensor(type);
      if (!tensor) return std::nullopt;
      call.outputs.push_back(*tensor);
    }
    if (call.inputs.empty() || call.outputs.empty()) return std::nullopt;
    return call;
  }

  /// Says whether the kernel takes such operands, as a device would say.
  static bool is_taken(const Kernel& kernel, const Call& call) {
    try {
      std::vector<Operand> inputs, outputs;
      for (const MlirTensor& one : call.inputs) {
        require_legal_shards(one.spec);
        inputs.emplace_back(one.spec);
      }
      for (const MlirTensor& one : call.outputs) {
        require_legal_shards(one.spec);
        outputs.emplace_back(one.spec);
      }
      static_cast<void>(make_launch(call.op.name, parse_attributes(kernel.name, kernel.attributes),
                                    std::move(inputs), std::move(outputs)));
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  /// Returns the tensors of an op's operands, made where no call has made them.
  std::vector<TensorNumber> operands_of(const Call& call) {
    std::vector<TensorNumber> tensors;
    const std::size_t named = std::min(call.op.operands.size(), call.op.operand_types.size());
    for (std::size_t i = 0; i < named && tensors.size() < call.inputs.size(); ++i) {
      const auto tensor = text_.tensor(call.op.operand_types[i]);
      if (!tensor) continue;
      const auto known = values_.find(call.op.operands[i]);
      tensors.push_back(known != values_.end() ? known->second : make(tensor->spec));
      values_.emplace(call.op.operands[i], tensors.back());
    }
    return tensors;
  }

  void view(const Call& call) {
    const TensorNumber of = operands_of(call).at(0);
    made_.tensors.push_back({.spec = call.outputs[0].spec, .view_of = root_of(made_, of)});
    if (!call.op.results.empty()) {
      values_[call.op.results[0]] = static_cast<TensorNumber>(made_.tensors.size() - 1);
    }
    ++notes_.free;
  }

  void launch(const Kernel& kernel, const Call& call) {
    CallLine line{
        .op = op_number(kernel, call.op.name), .inputs = operands_of(call), .outputs = {}};
    if (const auto given = call.op.property("matmul_program_config")) {
      const auto attributes = parse_attributes(kernel.name, kernel.attributes);
      const auto* const matmul = std::get_if<MatmulAttributes>(&attributes);
      if (matmul != nullptr && matmul->config) needs(matmul->config->grid);
    }
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
      line.outputs.push_back(make(call.outputs[i].spec));
      if (i < call.op.results.size()) values_[call.op.results[i]] = line.outputs.back();
    }
    made_.calls.push_back(std::move(line));
    add(Step::call, static_cast<std::uint32_t>(made_.calls.size() - 1));
    ++notes_.launched;
  }

  std::uint32_t op_number(const Kernel& kernel, const std::string& name) {
    const std::string key = name + " " + kernel.name + kernel.attributes;
    const auto [known, is_new] = ops_.emplace(key, static_cast<std::uint32_t>(made_.ops.size()));
    if (is_new) {
      made_.ops.push_back({.name = name, .kernel = kernel.name, .attributes = kernel.attributes});
    }
    return known->second;
  }

  /// Gives back a tensor, unless others use its memory under another shape.
  void release(const MlirOp& op) {
    if (op.operands.empty()) return;
    const auto known = values_.find(op.operands[0]);
    if (known == values_.end()) return;
    const TensorNumber tensor = known->second;
    values_.erase(known);
    const bool is_shared = std::ranges::any_of(
        values_, [&](const auto& value) { return root_of(made_, value.second) == tensor; });
    if (is_shared || owned_.erase(tensor) == 0) return;
    add(Step::release, tensor);
  }

  MlirText text_;
  ModuleNotes& notes_;
  Workload made_;
  std::map<std::string, TensorNumber> values_;
  std::set<TensorNumber> owned_;  ///< Those with memory of their own that is not given back.
  std::map<std::string, std::uint32_t> ops_;
  CoreGrid most_;  ///< The cores that shards and configurations name.
};

}  // namespace

Workload workload_of_module(std::string_view text, const std::string& name, ModuleNotes& notes) {
  Workload made = ModuleReader(text, name, notes).read();
  if (notes.launched > 0) return made;
  std::string left_out;
  for (const auto& [op, times] : notes.left_out) {
    left_out += fmt::format("{}{} x {}", left_out.empty() ? "" : ", ", op, times);
  }
  throw Error({.attempted = "read the module " + name,
               .value = notes.ops == 0
                            ? "it has no op of the dialect ttnn in generic form, \"ttnn.add\"(...)"
                        : left_out.empty() ? "none of its ops takes time of a chip"
                                           : "none of its ops can be run: " + left_out,
               .accepted = "a module of tt-mlir after its passes, as text in generic form"});
}

}  // namespace howard::workload
