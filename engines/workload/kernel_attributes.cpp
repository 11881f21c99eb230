// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/json_node.h"
#include "base/text.h"
#include "engines/device/collective.h"
#include "engines/device/matmul_config.h"
#include "engines/device/tensor_spec.h"
#include "engines/workload/launch.h"

namespace howard::workload {
namespace {

/// Reads the attributes of a kernel from an object and remembers which names it
/// has asked for, so that the ones that are left are unknown.
class AttributeReader {
 public:
  explicit AttributeReader(const JsonNode& object) : object_(object) {}

  const JsonNode& object() const { return object_; }
  /// Returns a member, or nothing if it is missing or null.
  std::optional<JsonNode> find(std::string_view name) {
    asked_.insert(name);
    if (!object_.has(name) || object_.member(name).is_null()) return std::nullopt;
    return object_.member(name);
  }
  bool flag(std::string_view name) {
    const auto value = find(name);
    return value && value->boolean();
  }
  std::optional<double> number(std::string_view name) {
    const auto value = find(name);
    return value ? std::optional(value->number()) : std::nullopt;
  }
  std::optional<std::string> word(std::string_view name) {
    const auto value = find(name);
    return value ? std::optional(value->text()) : std::nullopt;
  }
  /// Returns the place of a word among `words`, or 0 if it is missing.
  std::size_t choice(std::string_view name, std::initializer_list<std::string_view> words) {
    const auto value = find(name);
    return value ? value->word(words) : 0;
  }
  /// Returns [columns, rows].
  std::optional<CoreGrid> grid(std::string_view name) {
    if (!find(name)) return std::nullopt;
    const auto [columns, rows] = numbers<int, 2>(name, 1, 64, {});
    return CoreGrid{columns, rows};
  }
  /// Returns a whole number from `least` to `most`, or `otherwise` if it is missing.
  std::int64_t whole(std::string_view name, std::int64_t least, std::int64_t most,
                     std::int64_t otherwise) {
    const auto value = find(name);
    return value ? value->integer(least, most) : otherwise;
  }
  /// Returns `count` whole numbers from `least` to `most`, or all `otherwise` if they are missing.
  template <class Number, std::size_t count>
  std::array<Number, count> numbers(std::string_view name, std::int64_t least, std::int64_t most,
                                    std::array<Number, count> otherwise) {
    const auto value = find(name);
    if (!value) return otherwise;
    std::array<Number, count> numbers{};
    const auto items = value->items(
        count, count, fmt::format("{} whole numbers from {} to {}", count, least, most));
    for (std::size_t i = 0; i < count; ++i) {
      numbers[i] = static_cast<Number>(items[i].integer(least, most));
    }
    return numbers;
  }
  /// Returns a function of one value by its name, or nothing if it is missing.
  std::optional<EltwiseStep> step(std::string_view name) {
    const auto value = find(name);
    return value ? std::optional(step_named(*value)) : std::nullopt;
  }
  /// Returns functions of one value, each by its name: ["relu", "exp"].
  std::vector<EltwiseStep> steps(std::string_view name) {
    std::vector<EltwiseStep> found;
    const auto value = find(name);
    if (!value) return found;
    for (const JsonNode& one : value->items(0, 16, "a list of 16 at most")) {
      found.push_back(step_named(one));
    }
    return found;
  }
  /// Fails if there is an attribute whose name nobody has asked for.
  void require_all_asked() const {
    for (const auto& [name, value] : object_.members()) {
      if (asked_.contains(name)) continue;
      object_.fail(asked_.empty() ? "no attributes"
                                  : fmt::format("an object of {}", fmt::join(asked_, ", ")));
    }
  }

 private:
  static EltwiseStep step_named(const JsonNode& value) {
    const auto function = find_eltwise(value.text());
    if (!function || arity_of(*function) != 1) value.fail("functions of one value");
    return step_of(*function);
  }

  JsonNode object_;
  std::set<std::string_view> asked_;
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
  constexpr std::array kDimensions{Dimension::columns, Dimension::rows, Dimension::all};
  return ReduceAttributes{
      .reduction = reduction,
      .dimension = kDimensions[from.choice("dimension", {"columns", "rows", "all"})],
      .moreh = from.flag("moreh")};
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
  constexpr std::array kSwaps{Swap::rows_columns, Swap::heads_rows};
  return TransposeAttributes{.swap = kSwaps[from.choice("swap", {"rows_columns", "heads_rows"})]};
}

Attributes rotary_attributes(AttributeReader& from) {
  constexpr std::array kStyles{RotaryStyle::pairs, RotaryStyle::halves};
  return RotaryEmbeddingAttributes{.style = kStyles[from.choice("style", {"pairs", "halves"})]};
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
  from.find("order")->fail("0, 1, 2 and 3, each once");
}

Attributes attention_attributes(AttributeReader& from) {
  const auto chunk = [&](const char* name) {
    const std::int64_t rows = from.whole(name, kTileSide, kMostBlockSide, kTileSide);
    if (rows % kTileSide == 0) return rows;
    from.find(name)->fail("a multiple of 32");
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
    from.object().fail("blocks that are multiples of the sub-blocks");
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
  constexpr std::array kDimensions{Dimension::columns, Dimension::rows};
  return ReduceAttributes{.reduction = Reduction::sum,
                          .dimension = kDimensions[from.choice("dimension", {"columns", "rows"})]};
}

Attributes dropout_attributes(AttributeReader& from) {
  return DropoutAttributes{
      .probability = static_cast<float>(from.number("probability").value_or(0)),
      .seed = static_cast<std::uint32_t>(from.number("seed").value_or(0))};
}

/// Reads what decides how many steps the kernel has; its numbers do not matter for the time.
Attributes sgd_attributes(AttributeReader& from) {
  const auto number = [&](const char* name) {
    return static_cast<float>(from.number(name).value_or(0));
  };
  return SgdAttributes{.momentum = number("momentum"),
                       .weight_decay = number("weight_decay"),
                       .nesterov = from.flag("nesterov")};
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
      {"sgd", sgd_attributes},
      {"swiglu", plain_reader<SwigluAttributes>()},
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
  const JsonDocument document(
      json.empty() ? "{}" : json,
      {.attempted = fmt::format("read the attributes of {}", kernel), .accepted = "a JSON object"});
  AttributeReader from(document.root());
  Attributes attributes = reader->second(from);
  from.require_all_asked();
  return attributes;
}

}  // namespace howard::workload
