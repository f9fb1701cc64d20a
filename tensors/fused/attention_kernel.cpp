// SPDX-License-Identifier: Apache-2.0
#include "tensors/fused/attention_kernel.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "tensors/fused/exponential.h"
#include "tensors/fused/lanes.h"

// For each head, with T tokens of d numbers: S = Q K^T / sqrt(d), P = softmax(S) below the diagonal, O = P V. All data
// of one head fits into the first two cache levels, so heads are processed one by one. Only blocks on or below the
// diagonal are computed, which halves the work.
//
// Backward, from dO: dP = dO V^T, dS = P * (dP - rowsum(dP * P)) / sqrt(d), and dQ = dS K, dK = dS^T Q, dV = P^T dO.
// Two functions therefore compute all products: `products` multiplies rows by packed columns, which gives a triangle,
// and `weighted_sums` multiplies a triangle by rows.
namespace trainyard::fused {
namespace {

/// The number of rows in a block. Together with 4 vectors per row, they fill the registers.
constexpr std::int64_t kRows = 4;

/// A matrix with arbitrary strides: element (i, j) is at data[i * row + j * column].
template <class T>
struct View {
  T* data;
  std::int64_t row;
  std::int64_t column = 1;
};

/// Lets two rows exchange numbers: those at the places 2 W i + W + j of the first row and 2 W i + j of the second
/// row change places.
template <int W, class T>
TRAINYARD_INLINE void exchange(Lanes<T>& first, Lanes<T>& second) {
  constexpr auto low = [](int i) { return i % (2 * W) < W ? i : i - W + kLanes<T>; };
  constexpr auto high = [](int i) { return i % (2 * W) < W ? i + W : i + kLanes<T>; };
  const Lanes<T> a = first;
  const Lanes<T> b = second;
  if constexpr (kLanes<T> == 16) {
    first = __builtin_shufflevector(a, b, low(0), low(1), low(2), low(3), low(4), low(5), low(6), low(7), low(8),
                                    low(9), low(10), low(11), low(12), low(13), low(14), low(15));
    second = __builtin_shufflevector(a, b, high(0), high(1), high(2), high(3), high(4), high(5), high(6), high(7),
                                     high(8), high(9), high(10), high(11), high(12), high(13), high(14), high(15));
  } else {
    first = __builtin_shufflevector(a, b, low(0), low(1), low(2), low(3), low(4), low(5), low(6), low(7));
    second = __builtin_shufflevector(a, b, high(0), high(1), high(2), high(3), high(4), high(5), high(6), high(7));
  }
}

/// Transposes a matrix of kLanes<T> vectors in registers (Eklundh, "A fast computer method for matrix transposing",
/// 1972): for each power of two below their number, half of the numbers change places with those of another row.
template <class T, int W = kLanes<T> / 2>
TRAINYARD_INLINE void transpose_square(Lanes<T> (&rows)[kLanes<T>]) {
  for (int i = 0; i < kLanes<T>; ++i) {
    if (i % (2 * W) < W) exchange<W, T>(rows[i], rows[i + W]);
  }
  if constexpr (W > 1) transpose_square<T, W / 2>(rows);
}

/// Transposes `rows`, so that `products` can load whole vectors: packed[c][j] = rows[j][c], and zero for j >= tokens.
/// This is done once per head, and costs T * d copies, compared to T * T * d / 2 multiplications.
template <class T, class S>
TRAINYARD_INLINE void transpose(View<const S> rows, std::int64_t tokens, std::int64_t padded, std::int64_t size,
                                T* packed) {
  for (std::int64_t j = 0; j < padded; j += kLanes<T>) {
    for (std::int64_t c = 0; c < size; c += kLanes<T>) {
      Lanes<T> square[kLanes<T>];
      for (int i = 0; i < kLanes<T>; ++i) {
        square[i] = j + i < tokens ? load(rows.data + (j + i) * rows.row + c) : Lanes<T>{};
      }
      transpose_square<T>(square);
      for (int i = 0; i < kLanes<T>; ++i) store(packed + (c + i) * padded + j, square[i]);
    }
  }
}

/// Sets all sums to zero. For an initialiser of the array, gcc 12 clears memory with an instruction that starts slowly.
template <class T, int W>
TRAINYARD_INLINE void clear(T (&sums)[kRows][W]) {
  for (auto& row : sums) {
    for (T& lanes : row) lanes = T{};
  }
}

/// Computes out[i][j] = a[i] . packed[:][j] for kRows rows and W vectors of columns.
template <class T, int W>
TRAINYARD_INLINE void product_block(View<const T> a, const T* packed, std::int64_t padded, std::int64_t size,
                                    View<T> out) {
  // All sums stay in registers over the whole loop, and each line is loaded once for four rows.
  Lanes<T> sums[kRows][W];
  clear(sums);
  for (std::int64_t c = 0; c < size; ++c) {
    Lanes<T> line[W];
    for (int w = 0; w < W; ++w) line[w] = load(packed + c * padded + w * kLanes<T>);
    for (int r = 0; r < kRows; ++r) {
      const T factor = a.data[r * a.row + c];
      for (int w = 0; w < W; ++w) sums[r][w] += line[w] * factor;
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int w = 0; w < W; ++w) store(out.data + r * out.row + w * kLanes<T>, sums[r][w]);
  }
}

/// Computes out[i][j] = a[i] . b[j] for every token j that token i may see, and for the other elements of the same
/// vectors. Rows are processed in blocks of kRows, so `a` and `out` must have room for whole blocks.
template <class T>
TRAINYARD_INLINE void products(View<const T> a, const T* packed, std::int64_t tokens, std::int64_t padded,
                               std::int64_t size, View<T> out) {
  for (std::int64_t i = 0; i < tokens; i += kRows) {
    // This range reaches to the diagonal of the block's last row, rounded up to whole vectors. Elements beyond the
    // diagonal are masked later.
    const std::int64_t seen = std::min((i + kRows + kLanes<T> - 1) / kLanes<T> * kLanes<T>, padded);
    const View<const T> rows{a.data + i * a.row, a.row};
    std::int64_t j = 0;
    const auto block = [&]<int W>() {
      product_block<T, W>(rows, packed + j, padded, size, {out.data + i * out.row + j, out.row});
      j += W * kLanes<T>;
    };
    while (j + 4 * kLanes<T> <= seen) block.template operator()<4>();
    // A single vector at a time would wait for its own sums.
    const std::int64_t left = (seen - j) / kLanes<T>;
    if (left == 3) block.template operator()<3>();
    if (left == 2) block.template operator()<2>();
    if (left == 1) block.template operator()<1>();
  }
}

/// Computes out[i] (W vectors) = sum over s in [begin, end) of weights(i, s) * rows[s], for kRows values of i.
template <class T, int W, class S>
TRAINYARD_INLINE void weighted_block(View<const T> weights, View<const T> rows, std::int64_t begin, std::int64_t end,
                                     View<S> out, std::int64_t valid) {
  // Rows beyond the last token have no weights of their own. Their sums are not stored.
  const T* factors[kRows];
  for (int r = 0; r < kRows; ++r) factors[r] = weights.data + std::min<std::int64_t>(r, valid - 1) * weights.row;
  Lanes<T> sums[kRows][W];
  clear(sums);
  for (std::int64_t s = begin; s < end; ++s) {
    Lanes<T> line[W];
    for (int w = 0; w < W; ++w) line[w] = load(rows.data + s * rows.row + w * kLanes<T>);
    for (int r = 0; r < kRows; ++r) {
      const T factor = factors[r][s * weights.column];
      for (int w = 0; w < W; ++w) sums[r][w] += line[w] * factor;
    }
  }
  for (int r = 0; r < std::min(kRows, valid); ++r) {
    for (int w = 0; w < W; ++w) store(out.data + r * out.row + w * kLanes<T>, sums[r][w]);
  }
}

/// Computes such sums for all tokens and the whole width of a head. If `above` is true (for a transposed triangle), the
/// sum for token i runs from i to the last token, otherwise from the first token to i.
template <class T, bool above, class S>
TRAINYARD_INLINE void weighted_sums(View<const T> weights, View<const T> rows, std::int64_t tokens, std::int64_t size,
                                    View<S> out) {
  for (std::int64_t i = 0; i < tokens; i += kRows) {
    // This range covers all rows of the block. The weights outside a row's own range are zero.
    const std::int64_t begin = above ? i : 0;
    const std::int64_t end = above ? tokens : std::min(i + kRows, tokens);
    const View<const T> block{weights.data + i * weights.row, weights.row, weights.column};
    std::int64_t c = 0;
    for (; c + 2 * kLanes<T> <= size; c += 2 * kLanes<T>) {
      weighted_block<T, 2, S>(block, {rows.data + c, rows.row}, begin, end, {out.data + i * out.row + c, out.row},
                              tokens - i);
    }
    for (; c < size; c += kLanes<T>) {
      weighted_block<T, 1, S>(block, {rows.data + c, rows.row}, begin, end, {out.data + i * out.row + c, out.row},
                              tokens - i);
    }
  }
}

/// Returns a mask for the vector that begins at token `j`: all bits of the tokens up to `i` are set. The mask is made
/// from the sign of a difference, because gcc compares numbers one by one for processors with smaller registers.
template <class T>
TRAINYARD_INLINE typename ExponentialOf<T>::Bits tokens_up_to(std::int64_t i, std::int64_t j) {
  using Bits = typename ExponentialOf<T>::Bits;
  Bits place;
  for (int k = 0; k < kLanes<T>; ++k) place[k] = k;
  return (place + static_cast<std::remove_reference_t<decltype(place[0])>>(j - i - 1)) >> (8 * sizeof(T) - 1);
}

/// Turns the scores of row `i` into probabilities. Those of later tokens are 0. Overwrites the scores.
template <class T>
TRAINYARD_INLINE void softmax_row(T* scores, T* probabilities, std::int64_t i, std::int64_t padded, T scale) {
  using Bits = typename ExponentialOf<T>::Bits;
  // Only the last of these vectors contains later tokens.
  const std::int64_t last = i / kLanes<T> * kLanes<T>;
  const Bits seen = tokens_up_to<T>(i, last);
  // The scores of later tokens are replaced by the first score, which cannot raise the maximum.
  const auto kept = (Bits)load(scores + last) & seen;
  Lanes<T> highest_lanes = (Lanes<T>)(kept | ((Bits)fill<T>(scores[0]) & ~seen));
  store(scores + last, highest_lanes);
  for (std::int64_t j = 0; j < last; j += kLanes<T>) {
    const Lanes<T> lanes = load(scores + j);
    highest_lanes = lanes > highest_lanes ? lanes : highest_lanes;
  }
  // The maximum is subtracted so that the exponential cannot overflow. This does not change the probabilities.
  const T highest = maximum<T>(highest_lanes);
  Lanes<T> total{};
  for (std::int64_t j = 0; j < last; j += kLanes<T>) {
    const Lanes<T> power = exponential<T>((load(scores + j) - highest) * scale);
    store(scores + j, power);
    total += power;
  }
  const auto newest = (Lanes<T>)((Bits)exponential<T>((load(scores + last) - highest) * scale) & seen);
  const T inverse = 1 / sum<T>(total + newest);
  for (std::int64_t j = 0; j < last; j += kLanes<T>) store(probabilities + j, load(scores + j) * inverse);
  store(probabilities + last, newest * inverse);
  for (std::int64_t j = last + kLanes<T>; j < padded; j += kLanes<T>) store(probabilities + j, Lanes<T>{});
}

/// Turns the gradient of row `i` of the probabilities into the gradient of the scores, in place.
template <class T>
TRAINYARD_INLINE void softmax_row_backward(const T* probabilities, T* gradient, std::int64_t i, std::int64_t padded,
                                           T scale) {
  const std::int64_t seen = (i + kLanes<T>) / kLanes<T> * kLanes<T>;
  Lanes<T> dots{};
  for (std::int64_t j = 0; j < seen; j += kLanes<T>) dots += load(probabilities + j) * load(gradient + j);
  const T dot = sum<T>(dots);
  for (std::int64_t j = 0; j < seen; j += kLanes<T>) {
    store(gradient + j, load(probabilities + j) * (load(gradient + j) - dot) * scale);
  }
  for (std::int64_t j = seen; j < padded; j += kLanes<T>) store(gradient + j, Lanes<T>{});
}

/// The scratch memory for one head. The number of rows is padded to whole blocks, so `products` needs no code for
/// incomplete blocks.
template <class T>
struct Scratch {
  explicit Scratch(const AttentionShape& shape)
      : padded(shape.padded_tokens()),
        packed(size_t(shape.size * padded)),
        square(size_t(padded * padded)),
        left(size_t(padded * shape.size)),
        wide(size_t(2 * padded * shape.size)) {}
  std::int64_t padded;
  std::vector<T> packed;  ///< (size, padded)
  std::vector<T> square;  ///< (padded, padded)
  std::vector<T> left;    ///< (padded, size): the left factor of `products`, dense.
  std::vector<T> wide;    ///< Two times (padded, size): rows of bfloat16 numbers, converted to T.
};

/// Copies the rows of a head into contiguous memory, and converts them to the type of the arithmetic. In qkv the rows
/// are 3 D numbers apart; in the copy they share cache lines and are padded to whole blocks.
template <class T, class S>
TRAINYARD_INLINE View<const T> dense_copy(View<const S> rows, std::int64_t tokens, std::int64_t size, T* to) {
  for (std::int64_t i = 0; i < tokens; ++i) {
    for (std::int64_t c = 0; c < size; c += kLanes<T>) store(to + i * size + c, load(rows.data + i * rows.row + c));
  }
  return {to, size};
}

/// Returns the rows in the type of the arithmetic. If they have this type already, returns the rows themselves,
/// otherwise a converted copy, which it writes to `to`. The inner loops read each row many times, so it is converted
/// only once.
template <class T, class S>
TRAINYARD_INLINE View<const T> widened(View<const S> rows, std::int64_t tokens, std::int64_t size, T* to) {
  if constexpr (std::is_same_v<T, S>) {
    return rows;
  } else {
    return dense_copy<T, S>(rows, tokens, size, to);
  }
}

// S is the type of the input and the output, and T is the type of the arithmetic.
template <class T, class S>
TRAINYARD_INLINE void forward_heads(const AttentionShape& shape, std::int64_t begin, std::int64_t end, const S* qkv,
                                    S* out, T* probabilities) {
  Scratch<T> scratch(shape);
  // Heads are numbered batch by batch: head h of sample b is b * heads + h.
  const std::int64_t row = 3 * shape.width();
  // The factor is applied together with the exponential, where it costs nothing, and not to Q.
  const T scale = static_cast<T>(1 / std::sqrt(static_cast<double>(shape.size)));
  for (std::int64_t head = begin; head < end; ++head) {
    const S* query = qkv + head / shape.heads * shape.tokens * row + head % shape.heads * shape.size;
    T* kept = probabilities + head * shape.tokens * scratch.padded;
    S* result = out + head / shape.heads * shape.tokens * shape.width() + head % shape.heads * shape.size;
    const View<const T> dense_query = dense_copy<T, S>({query, row}, shape.tokens, shape.size, scratch.left.data());
    transpose<T, S>({query + shape.width(), row}, shape.tokens, scratch.padded, shape.size, scratch.packed.data());
    const View<const T> value =
        widened<T, S>({query + 2 * shape.width(), row}, shape.tokens, shape.size, scratch.wide.data());
    products<T>(dense_query, scratch.packed.data(), shape.tokens, scratch.padded, shape.size,
                {scratch.square.data(), scratch.padded});
    for (std::int64_t i = 0; i < shape.tokens; ++i) {
      softmax_row(scratch.square.data() + i * scratch.padded, kept + i * scratch.padded, i, scratch.padded, scale);
    }
    weighted_sums<T, false, S>({kept, scratch.padded}, value, shape.tokens, shape.size, {result, shape.width()});
  }
}

template <class T, class S>
TRAINYARD_INLINE void backward_heads(const AttentionShape& shape, std::int64_t begin, std::int64_t end, const S* qkv,
                                     const T* probabilities, const S* out_gradient, S* qkv_gradient) {
  Scratch<T> scratch(shape);
  const std::int64_t row = 3 * shape.width();
  const T scale = static_cast<T>(1 / std::sqrt(static_cast<double>(shape.size)));
  for (std::int64_t head = begin; head < end; ++head) {
    const std::int64_t place = head / shape.heads * shape.tokens * row + head % shape.heads * shape.size;
    const S* query = qkv + place;
    const View<const S> gradient{
        out_gradient + head / shape.heads * shape.tokens * shape.width() + head % shape.heads * shape.size,
        shape.width()};
    const T* kept = probabilities + head * shape.tokens * scratch.padded;
    const View<const T> dense = dense_copy<T, S>(gradient, shape.tokens, shape.size, scratch.left.data());
    transpose<T, S>({query + 2 * shape.width(), row}, shape.tokens, scratch.padded, shape.size, scratch.packed.data());
    const View<const T> queries = widened<T, S>({query, row}, shape.tokens, shape.size, scratch.wide.data());
    const View<const T> keys = widened<T, S>({query + shape.width(), row}, shape.tokens, shape.size,
                                             scratch.wide.data() + scratch.padded * shape.size);
    products<T>(dense, scratch.packed.data(), shape.tokens, scratch.padded, shape.size,
                {scratch.square.data(), scratch.padded});
    for (std::int64_t i = 0; i < shape.tokens; ++i) {
      softmax_row_backward(kept + i * scratch.padded, scratch.square.data() + i * scratch.padded, i, scratch.padded,
                           scale);
    }
    const View<const T> scores{scratch.square.data(), scratch.padded};
    // The strides transpose the matrix, so nothing is copied.
    const View<const T> turned{scratch.square.data(), 1, scratch.padded};
    const View<const T> turned_kept{kept, 1, scratch.padded};
    weighted_sums<T, false, S>(scores, keys, shape.tokens, shape.size, {qkv_gradient + place, row});
    weighted_sums<T, true, S>(turned, queries, shape.tokens, shape.size, {qkv_gradient + place + shape.width(), row});
    weighted_sums<T, true, S>(turned_kept, dense, shape.tokens, shape.size,
                              {qkv_gradient + place + 2 * shape.width(), row});
  }
}

}  // namespace

// The bodies are inlined into each of these functions, so that target_clones can compile them for every processor.
TRAINYARD_KERNEL void attention_forward(const AttentionShape& shape, std::int64_t begin, std::int64_t end,
                                        const float* qkv, float* out, float* probabilities) {
  forward_heads<float, float>(shape, begin, end, qkv, out, probabilities);
}
TRAINYARD_KERNEL void attention_forward(const AttentionShape& shape, std::int64_t begin, std::int64_t end,
                                        const double* qkv, double* out, double* probabilities) {
  forward_heads<double, double>(shape, begin, end, qkv, out, probabilities);
}
TRAINYARD_KERNEL void attention_forward(const AttentionShape& shape, std::int64_t begin, std::int64_t end,
                                        const BFloat16* qkv, BFloat16* out, float* probabilities) {
  forward_heads<float, BFloat16>(shape, begin, end, qkv, out, probabilities);
}
TRAINYARD_KERNEL void attention_backward(const AttentionShape& shape, std::int64_t begin, std::int64_t end,
                                         const float* qkv, const float* probabilities, const float* out_gradient,
                                         float* qkv_gradient) {
  backward_heads<float, float>(shape, begin, end, qkv, probabilities, out_gradient, qkv_gradient);
}
TRAINYARD_KERNEL void attention_backward(const AttentionShape& shape, std::int64_t begin, std::int64_t end,
                                         const double* qkv, const double* probabilities, const double* out_gradient,
                                         double* qkv_gradient) {
  backward_heads<double, double>(shape, begin, end, qkv, probabilities, out_gradient, qkv_gradient);
}
TRAINYARD_KERNEL void attention_backward(const AttentionShape& shape, std::int64_t begin, std::int64_t end,
                                         const BFloat16* qkv, const float* probabilities, const BFloat16* out_gradient,
                                         BFloat16* qkv_gradient) {
  backward_heads<float, BFloat16>(shape, begin, end, qkv, probabilities, out_gradient, qkv_gradient);
}

}  // namespace trainyard::fused
