// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/gpt/network.h"

namespace trainyard::gpt {

/// The options for drawing text from a GPT.
struct SamplingOptions {
  std::int64_t tokens = 500;
  double temperature = 0.8;  ///< With 0, always the likeliest token is taken.
  std::int64_t top_k = 200;  ///< Only this many of the likeliest tokens can be drawn; 0 means all.
};

/// Returns `prompt` and the tokens that follow it, which are drawn with the default random generator. An empty prompt
/// counts as token 0. Each token costs one forward pass over at most a whole context. Must be called with gradients
/// switched off.
std::vector<std::int64_t> sample(const Network& network, std::vector<std::int64_t> prompt,
                                 const SamplingOptions& options);

/// Turns `text` into token numbers, taking the longest matching entry of the vocabulary at each place. Throws
/// kInvalidArgument, naming the place, if no entry matches.
std::vector<std::int64_t> encode(const std::string& text, const std::vector<std::string>& vocabulary);

/// Turns tokens into text. A token that the vocabulary lacks becomes its number: "<7>".
std::string decode(const std::vector<std::int64_t>& tokens, const std::vector<std::string>& vocabulary);

}  // namespace trainyard::gpt
