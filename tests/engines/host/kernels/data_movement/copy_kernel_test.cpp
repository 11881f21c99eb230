// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "base/error.h"
#include "tests/engines/host/host_calls.h"

namespace howard::host {
namespace {

/// Fails unless element [n, c, h, w] of the result is element source(n, c, h, w) of the operand.
using Source = std::function<std::int64_t(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>;
void expect_moved(const Values& out, const Shape& shape, const Values& in, const Source& source) {
  std::int64_t i = 0;
  for (std::int64_t n = 0; n < shape.outer(); ++n) {
    for (std::int64_t c = 0; c < shape.heads(); ++c) {
      for (std::int64_t h = 0; h < shape.rows(); ++h) {
        for (std::int64_t w = 0; w < shape.columns(); ++w, ++i) {
          ASSERT_EQ(out[at(i)], in[at(source(n, c, h, w))])
              << n << " " << c << " " << h << " " << w;
        }
      }
    }
  }
}

Given numbered(const Shape& shape, DataType dtype) {
  // The values go up to 250, which bfloat16 holds.
  Values values(at(shape.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7 % 251);
  return {{shape, dtype}, values};
}

TEST(HostCopy, TransposesSwapRowsAndColumns) {
  for (const DataType dtype : kRealTypes) {
    for (const Shape& shape : {Shape{1, 1}, Shape{3, 5}, Shape{33, 65}, Shape{2, 3, 40, 31},
                               Shape{1, 300}, Shape{2, 257, 300}}) {
      const Given x = numbered(shape, dtype);
      const Shape out = shape.transposed();
      const Values actual = run(TransposeAttributes{}, {x}, {{out, dtype}})[0];
      const std::int64_t matrix = shape.rows() * shape.columns();
      expect_moved(actual, out, x.values, [&](auto n, auto c, auto h, auto w) {
        return (n * shape.heads() + c) * matrix + w * shape.columns() + h;
      });
    }
  }
}

TEST(HostCopy, TransposesSwapHeadsAndRows) {
  for (const DataType dtype : kRealTypes) {
    const Shape shape{3, 5, 70, 33};
    const Given x = numbered(shape, dtype);
    const Shape out = shape.heads_swapped();
    const Values actual =
        run(TransposeAttributes{.swap = Swap::heads_rows}, {x}, {{out, dtype}})[0];
    expect_moved(actual, out, x.values, [&](auto n, auto c, auto h, auto w) {
      return ((n * shape.heads() + h) * shape.rows() + c) * shape.columns() + w;
    });
  }
}

TEST(HostCopy, ReshapesAndLayoutsKeepTheOrder) {
  for (const DataType dtype : kRealTypes) {
    const Given x = numbered({3, 70, 501}, dtype);
    EXPECT_TRUE(same_bits(run(ReshapeAttributes{}, {x}, {{{501, 210}, dtype}})[0], x.values));
    const TensorSpec row_major{x.spec.shape, dtype, Layout::row_major};
    EXPECT_TRUE(
        same_bits(run(LayoutAttributes{.to = Layout::row_major}, {x}, {row_major})[0], x.values));
  }
}

TEST(HostCopy, ConcatPutsPartsSideBySide) {
  for (const DataType dtype : kRealTypes) {
    const Given a = numbered({2, 3, 40, 5}, dtype);
    const Given b = numbered({2, 3, 40, 1}, dtype);
    const Given c = numbered({2, 3, 40, 90}, dtype);
    const Shape out{2, 3, 40, 96};
    const Values actual = run(ConcatAttributes{}, {a, b, c}, {{out, dtype}})[0];
    Values all = a.values;
    for (const Given* part : {&b, &c}) {
      const Values values = part->values;
      all.insert(all.end(), values.begin(), values.end());
    }
    expect_moved(actual, out, all, [&](auto n, auto heads, auto h, auto w) {
      const std::int64_t row = (n * 3 + heads) * 40 + h;
      if (w < 5) return row * 5 + w;
      if (w < 6) return 240 * 5 + row;
      return 240 * 6 + row * 90 + w - 6;
    });
  }
}

TEST(HostCopy, HeadsAreSplitAndJoinedAgain) {
  for (const DataType dtype : kRealTypes) {
    const Shape shape{3, 1, 70, 3 * 4 * 9};
    const Given qkv = numbered(shape, dtype);
    const Shape part{3, 4, 70, 9};
    const TensorSpec spec{part, dtype};
    const auto parts = run(SplitHeadsAttributes{.heads = 4}, {qkv}, {spec, spec, spec});
    for (std::size_t p = 0; p < 3; ++p) {
      expect_moved(parts[p], part, qkv.values, [&](auto n, auto head, auto h, auto w) {
        return (n * 70 + h) * shape.columns() + static_cast<std::int64_t>(p) * 36 + head * 9 + w;
      });
    }
    const Given heads = numbered(part, dtype);
    const Shape joined{3, 1, 70, 36};
    expect_moved(
        run(ConcatHeadsAttributes{}, {heads}, {{joined, dtype}})[0], joined, heads.values,
        [](auto n, auto, auto h, auto w) { return ((n * 4 + w / 9) * 70 + h) * 9 + w % 9; });
  }
}

TEST(HostCopy, OperandsThatDoNotFitAreErrors) {
  HostDevice device;
  const Given x = random({4, 6}, DataType::float32, 1);
  const auto refuses = [&](const Attributes& attributes, const std::vector<Given>& inputs,
                           const std::vector<TensorSpec>& outputs) {
    EXPECT_THROW(run_on(device, attributes, inputs, outputs), Error);
  };
  refuses(TransposeAttributes{}, {x}, {{{4, 6}, DataType::float32}});
  refuses(TransposeAttributes{}, {x}, {{{6, 4}, DataType::bfloat16}});
  refuses(ReshapeAttributes{}, {x}, {{{5, 5}, DataType::float32}});
  refuses(ReshapeAttributes{}, {x}, {{{2, 12}, DataType::uint32}});
  refuses(ConcatAttributes{}, {x, x}, {{{4, 13}, DataType::float32}});
  refuses(ConcatAttributes{}, {x, random({3, 6}, DataType::float32, 1)},
          {{{4, 12}, DataType::float32}});
  refuses(ConcatAttributes{}, {}, {x.spec});
  refuses(SplitHeadsAttributes{.heads = 2}, {x}, {x.spec, x.spec, x.spec});
  refuses(SplitHeadsAttributes{.heads = 0}, {x}, {x.spec, x.spec, x.spec});
  refuses(ConcatHeadsAttributes{}, {x}, {{{4, 7}, DataType::float32}});
  EXPECT_THROW(run_on(device, ReshapeAttributes{}, {x}, {x.spec}, {0}), Error) << "in place";
}

}  // namespace
}  // namespace howard::host
