// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/gpt/network.h"

namespace trainyard::gpt {

/// The options for drawing text from a GPT.
struct SamplingOptions {
  std::int64_t tokens = 500;  ///< The number of tokens to draw.
  double temperature = 0.8;   ///< Higher values make the text more random; 0 always takes the likeliest token.
  std::int64_t top_k = 200;   ///< Only this many of the likeliest tokens can be drawn; 0 means all.
};

/// Returns `prompt` followed by `options.tokens` new tokens, which are drawn with LibTorch's default random generator.
/// An empty prompt is replaced by token 0. Each new token requires a forward pass over the last tokens, up to the
/// length of the network's context. The caller must have disabled gradients.
std::vector<std::int64_t> sample(const Network& network, std::vector<std::int64_t> prompt,
                                 const SamplingOptions& options);

/// Converts `text` into token numbers. At each position, the function takes the longest entry of the vocabulary that
/// matches. Throws kInvalidArgument if no entry matches; the error states the position in bytes.
std::vector<std::int64_t> encode(const std::string& text, const std::vector<std::string>& vocabulary);

/// Converts token numbers into text. A number that is not in the vocabulary appears in angle brackets, such as "<7>".
std::string decode(const std::vector<std::int64_t>& tokens, const std::vector<std::string>& vocabulary);

}  // namespace trainyard::gpt
