// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "engines/device/collective.h"
#include "engines/device/matmul_config.h"
#include "engines/device/tensor_spec.h"
#include "engines/workload/launch.h"

namespace howard::workload {
namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse_attributes(std::string_view kernel, std::string value,
                                    std::string accepted) {
  throw Error({.attempted = fmt::format("read the attributes of {}", kernel),
               .value = std::move(value),
               .accepted = std::move(accepted),
               .hint = ""});
}

/// Takes attributes out of an object, so that the ones that are left are unknown.
class AttributeReader {
 public:
  AttributeReader(std::string_view kernel, Json object)
      : kernel_(kernel), object_(std::move(object)) {}

  bool flag(const char* name) {
    const Json value = take(name);
    if (value.is_null()) return false;
    if (!value.is_boolean()) refuse(name, value, "true or false");
    return value.get<bool>();
  }
  std::optional<double> number(const char* name) {
    const Json value = take(name);
    if (value.is_null()) return std::nullopt;
    if (!value.is_number()) refuse(name, value, "a number");
    return value.get<double>();
  }
  std::optional<std::string> word(const char* name) {
    const Json value = take(name);
    if (value.is_null()) return std::nullopt;
    if (!value.is_string()) refuse(name, value, "a word");
    return value.get<std::string>();
  }
  std::optional<CoreGrid> grid(const char* name) {
    const Json value = take(name);
    if (value.is_null()) return std::nullopt;
    const bool pair = value.is_array() && value.size() == 2 && value[0].is_number_integer() &&
                      value[1].is_number_integer();
    if (!pair || value[0] < 1 || value[1] < 1 || value[0] > 64 || value[1] > 64) {
      refuse(name, value, "[columns, rows], each from 1 to 64");
    }
    return CoreGrid{value[0].get<int>(), value[1].get<int>()};
  }
  /// Returns a whole number from `least` to `most`, or `otherwise` if it is missing.
  std::int64_t whole(const char* name, std::int64_t least, std::int64_t most,
                     std::int64_t otherwise) {
    const Json value = take(name);
    if (value.is_null()) return otherwise;
    if (!value.is_number_integer() || value < least || value > most) {
      refuse(name, value, fmt::format("a whole number from {} to {}", least, most));
    }
    return value.get<std::int64_t>();
  }
  /// Returns `count` whole numbers from `least` to `most`, or all `otherwise` if they are missing.
  template <class Number, std::size_t count>
  std::array<Number, count> numbers(const char* name, std::int64_t least, std::int64_t most,
                                    std::array<Number, count> otherwise) {
    const Json value = take(name);
    if (value.is_null()) return otherwise;
    const auto fits = [&](const Json& one) {
      return one.is_number_integer() && one >= least && one <= most;
    };
    if (!value.is_array() || value.size() != count || !std::ranges::all_of(value, fits)) {
      refuse(name, value, fmt::format("{} whole numbers from {} to {}", count, least, most));
    }
    std::array<Number, count> numbers{};
    for (std::size_t i = 0; i < count; ++i) numbers[i] = value[i].get<Number>();
    return numbers;
  }
  /// Returns a function of one value by its name, or nothing if it is missing.
  std::optional<EltwiseStep> step(const char* name) {
    const Json value = take(name);
    if (value.is_null()) return std::nullopt;
    return step_named(name, value);
  }
  /// Returns functions of one value, each by its name: ["relu", "exp"].
  std::vector<EltwiseStep> steps(const char* name) {
    const Json value = take(name);
    std::vector<EltwiseStep> found;
    if (value.is_null()) return found;
    constexpr std::size_t kMost = 16;
    if (!value.is_array() || value.size() > kMost) refuse(name, value, "a list of 16 at most");
    for (const Json& one : value) found.push_back(step_named(name, one));
    return found;
  }
  void require_empty() const {
    if (object_.empty()) return;
    refuse_attributes(kernel_, fmt::format("'{}' is not one of them", object_.begin().key()), "");
  }

 private:
  EltwiseStep step_named(const char* name, const Json& value) const {
    const auto function = value.is_string() ? find_eltwise(value.get<std::string>()) : std::nullopt;
    if (!function || arity_of(*function) != 1) refuse(name, value, "functions of one value");
    return step_of(*function);
  }
  Json take(const char* name) {
    const auto found = object_.find(name);
    if (found == object_.end()) return nullptr;
    Json value = *found;
    object_.erase(found);
    return value;
  }
  [[noreturn]] void refuse(const char* name, const Json& value, std::string accepted) const {
    refuse_attributes(kernel_, fmt::format("{} is {}", name, value.dump()), std::move(accepted));
  }

  std::string kernel_;
  Json object_;
};

using Reader = std::function<Attributes(AttributeReader&)>;

/// Every side of a tensor or of a block is at most this large.
constexpr std::int64_t kMostSide = std::int64_t{1} << 40;
constexpr std::int64_t kMostBlockSide = std::int64_t{1} << 20;

ComputeConfig compute_config(AttributeReader& from) {
  ComputeConfig compute;
  if (const auto word = from.word("fidelity")) compute.fidelity = parse_math_fidelity(*word);
  if (const auto wide = from.number("fp32_accumulation")) compute.fp32_accumulation = *wide != 0;
  return compute;
}

Attributes matmul_attributes(AttributeReader& from) {
  MatmulAttributes attributes{.transpose_a = from.flag("transpose_a"),
                              .transpose_b = from.flag("transpose_b"),
                              .core_grid = from.grid("core_grid"),
                              .compute = compute_config(from)};
  if (const auto config = from.word("config")) attributes.config = parse_matmul_config(*config);
  attributes.activation = from.step("activation");
  return attributes;
}

Attributes eltwise_attributes(Eltwise function, AttributeReader& from) {
  EltwiseAttributes attributes{.function = function, .core_grid = from.grid("core_grid")};
  if (const auto scalar = from.number("scalar")) attributes.scalar = static_cast<float>(*scalar);
  attributes.then = from.steps("then");
  attributes.on_a = from.steps("on_a");
  attributes.on_b = from.steps("on_b");
  return attributes;
}

Attributes reduce_attributes(Reduction reduction, AttributeReader& from) {
  const std::string dimension = from.word("dimension").value_or("columns");
  ReduceAttributes attributes{.reduction = reduction, .moreh = from.flag("moreh")};
  if (dimension == "columns") {
    attributes.dimension = Dimension::columns;
  } else if (dimension == "rows") {
    attributes.dimension = Dimension::rows;
  } else if (dimension == "all") {
    attributes.dimension = Dimension::all;
  } else {
    refuse_attributes(name_of(reduction), "dimension is '" + dimension + "'", "columns, rows, all");
  }
  return attributes;
}

template <class Kind>
Reader heads_reader() {
  return [](AttributeReader& from) -> Attributes {
    Kind attributes;
    attributes.heads = static_cast<int>(from.number("heads").value_or(1));
    return attributes;
  };
}

template <class Kind>
Reader plain_reader() {
  return [](AttributeReader&) -> Attributes { return Kind{}; };
}

Attributes transpose_attributes(AttributeReader& from) {
  const std::string swap = from.word("swap").value_or("rows_columns");
  if (swap == "rows_columns") return TransposeAttributes{.swap = Swap::rows_columns};
  if (swap == "heads_rows") return TransposeAttributes{.swap = Swap::heads_rows};
  refuse_attributes("transpose", "swap is '" + swap + "'", "rows_columns, heads_rows");
}

Attributes rotary_attributes(AttributeReader& from) {
  const std::string style = from.word("style").value_or("pairs");
  if (style == "pairs") return RotaryEmbeddingAttributes{.style = RotaryStyle::pairs};
  if (style == "halves") return RotaryEmbeddingAttributes{.style = RotaryStyle::halves};
  refuse_attributes("rotary_embedding", "style is '" + style + "'", "pairs, halves");
}

Attributes slice_attributes(AttributeReader& from) {
  return SliceAttributes{.begins = from.numbers("begins", 0, kMostSide, SliceAttributes{}.begins),
                         .steps = from.numbers("steps", 1, kMostSide, SliceAttributes{}.steps)};
}

Attributes pad_attributes(AttributeReader& from) {
  return PadAttributes{.before = from.numbers("before", 0, kMostSide, PadAttributes{}.before)};
}

Attributes permute_attributes(AttributeReader& from) {
  const PermuteAttributes found{.order = from.numbers("order", 0, 3, PermuteAttributes{}.order)};
  std::array<int, 4> sorted = found.order;
  std::ranges::sort(sorted);
  if (sorted == PermuteAttributes{}.order) return found;
  refuse_attributes("permute", fmt::format("order is [{}]", fmt::join(found.order, ", ")),
                    "0, 1, 2 and 3, each once");
}

Attributes attention_attributes(AttributeReader& from) {
  const auto chunk = [&](const char* name) {
    const std::int64_t rows = from.whole(name, kTileSide, kMostBlockSide, kTileSide);
    if (rows % kTileSide == 0) return rows;
    refuse_attributes("attention", fmt::format("{} is {}", name, rows), "multiples of 32");
  };
  return AttentionAttributes{.causal = from.flag("causal"),
                             .query_chunk = chunk("query_chunk"),
                             .key_chunk = chunk("key_chunk"),
                             .compute = compute_config(from)};
}

Attributes minimal_matmul_attributes(AttributeReader& from) {
  const auto [m, k, n] = from.numbers<std::int64_t, 3>("block", 1, kMostBlockSide,
                                                       std::array<std::int64_t, 3>{8, 8, 8});
  const auto [h, w] = from.numbers<std::int64_t, 2>("subblock", 1, kMostBlockSide,
                                                    std::array<std::int64_t, 2>{1, 1});
  if (m % h != 0 || n % w != 0) {
    refuse_attributes("minimal_matmul", fmt::format("blocks {}x{}, sub-blocks {}x{}", m, n, h, w),
                      "blocks that are multiples of the sub-blocks");
  }
  return MinimalMatmulAttributes{.block_m = m,
                                 .block_k = k,
                                 .block_n = n,
                                 .subblock_h = h,
                                 .subblock_w = w,
                                 .core_grid = from.grid("core_grid"),
                                 .compute = compute_config(from),
                                 .activation = from.step("activation")};
}

Attributes concat_attributes(AttributeReader& from) {
  return ConcatAttributes{.dimension = static_cast<int>(from.whole("dimension", 0, 3, 3))};
}

/// Reads the attributes of a collective that adds along rows or columns and leaves each device its
/// share.
Attributes reduce_scatter_attributes(AttributeReader& from) {
  const std::string dimension = from.word("dimension").value_or("columns");
  if (dimension == "columns") {
    return ReduceAttributes{.reduction = Reduction::sum, .dimension = Dimension::columns};
  }
  if (dimension == "rows") {
    return ReduceAttributes{.reduction = Reduction::sum, .dimension = Dimension::rows};
  }
  refuse_attributes("reduce_scatter", "dimension is '" + dimension + "'", "columns, rows");
}

Attributes dropout_attributes(AttributeReader& from) {
  return DropoutAttributes{
      .probability = static_cast<float>(from.number("probability").value_or(0)),
      .seed = static_cast<std::uint32_t>(from.number("seed").value_or(0))};
}

std::map<std::string, Reader, std::less<>> make_readers() {
  std::map<std::string, Reader, std::less<>> readers{
      {"matmul", matmul_attributes},
      {"transpose", transpose_attributes},
      {"reshape", plain_reader<ReshapeAttributes>()},
      {"repeat", plain_reader<ReshapeAttributes>()},
      {"tilize", plain_reader<LayoutAttributes>()},
      {"untilize", plain_reader<LayoutAttributes>()},
      {"copy", plain_reader<LayoutAttributes>()},
      {"move", plain_reader<ConcatAttributes>()},
      {"concat", concat_attributes},
      {std::string(kAllGather), concat_attributes},
      {std::string(kReduceScatter), reduce_scatter_attributes},
      {"slice", slice_attributes},
      {"pad", pad_attributes},
      {"permute", permute_attributes},
      {"attention", attention_attributes},
      {"minimal_matmul", minimal_matmul_attributes},
      {"rms_norm", plain_reader<RmsNormAttributes>()},
      {"rotary_embedding", rotary_attributes},
      {"split_heads", heads_reader<SplitHeadsAttributes>()},
      {"concat_heads", plain_reader<ConcatHeadsAttributes>()},
      {"softmax", plain_reader<SoftmaxAttributes>()},
      {"softmax_backward", plain_reader<SoftmaxBackwardAttributes>()},
      {"layernorm", plain_reader<LayernormAttributes>()},
      {"embedding", plain_reader<EmbeddingAttributes>()},
      {"embedding_backward", plain_reader<EmbeddingBackwardAttributes>()},
      {"dropout", dropout_attributes},
      {"adamw", plain_reader<AdamWAttributes>()},
      {"gelu_backward", [](AttributeReader& from) -> Attributes {
         return GeluBackwardAttributes{.fused = from.flag("fused")};
       }}};
  for (const EltwiseEntry& entry : eltwise_catalogue()) {
    const Eltwise function = entry.function;
    readers[std::string(entry.name)] = [function](AttributeReader& from) {
      return eltwise_attributes(function, from);
    };
  }
  for (const Reduction reduction : {Reduction::sum, Reduction::mean, Reduction::max}) {
    readers[std::string(name_of(reduction))] = [reduction](AttributeReader& from) {
      return reduce_attributes(reduction, from);
    };
  }
  return readers;
}

const std::map<std::string, Reader, std::less<>>& readers() {
  static const auto kReaders = make_readers();
  return kReaders;
}

}  // namespace

std::vector<std::string> kernel_names() {
  std::vector<std::string> names;
  for (const auto& [name, reader] : readers()) names.push_back(name);
  return names;
}

Attributes parse_attributes(std::string_view kernel, std::string_view json) {
  const auto reader = readers().find(kernel);
  if (reader == readers().end()) {
    const std::vector<std::string> names = kernel_names();
    throw Error({.attempted = fmt::format("launch kernel '{}'", kernel),
                 .value = "the emulator has none of that name",
                 .accepted = join(names, ", "),
                 .hint = closest(kernel, names).value_or("")});
  }
  Json object = json.empty() ? Json::object() : Json::parse(json, nullptr, false);
  if (!object.is_object()) refuse_attributes(kernel, fmt::format("'{}'", json), "a JSON object");
  AttributeReader from(kernel, std::move(object));
  Attributes attributes = reader->second(from);
  from.require_empty();
  return attributes;
}

}  // namespace howard::workload
