// SPDX-License-Identifier: Apache-2.0
#include "models/gpt/sampling.h"

#include <ATen/ops/argmax.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/multinomial.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/topk.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>

#include "messages/error.h"

namespace trainyard::gpt {

// Sampling draws from the same generator as training. If a run generates texts, the rest of its training therefore uses
// different random numbers than in a run that does not.

namespace {

/// Returns the next token. Logits below the k-th largest get probability 0.
std::int64_t draw(at::Tensor logits_V, const SamplingOptions& options) {
  if (options.temperature == 0) return logits_V.argmax().item<std::int64_t>();
  // This makes a new tensor, so the network's own output does not change.
  logits_V = logits_V.div(options.temperature);
  if (options.top_k > 0 && options.top_k < logits_V.size(0)) {
    const at::Tensor kept = std::get<0>(at::topk(logits_V, options.top_k));
    logits_V.masked_fill_(logits_V.lt(kept[-1]), -std::numeric_limits<double>::infinity());
  }
  return at::multinomial(at::softmax(logits_V, 0), 1).item<std::int64_t>();
}

}  // namespace

std::vector<std::int64_t> sample(const Network& network, std::vector<std::int64_t> tokens,
                                 const SamplingOptions& options) {
  if (tokens.empty()) tokens.push_back(0);
  for (std::int64_t i = 0; i < options.tokens; ++i) {
    // The network can use only as many tokens as its context holds.
    const auto length = std::min<std::int64_t>(static_cast<std::int64_t>(tokens.size()), network.sizes().context);
    const at::Tensor window_1T =
        at::from_blob(tokens.data() + tokens.size() - static_cast<std::size_t>(length), {1, length}, at::kLong);
    // The forward pass over the whole window is repeated for every token. A cache of keys and values would be faster,
    // but complicated as soon as the window begins to slide.
    const at::Tensor logits_TV = network.forward(window_1T.to(network.device()), /*training=*/false);
    tokens.push_back(draw(logits_TV[-1], options));
  }
  return tokens;
}

std::vector<std::int64_t> encode(const std::string& text, const std::vector<std::string>& vocabulary) {
  std::vector<std::int64_t> tokens;
  for (std::size_t at = 0; at < text.size();) {
    // Every entry of the vocabulary is tried, which is fast enough because prompts are short.
    std::size_t longest = 0;
    std::int64_t token = 0;
    for (std::size_t v = 0; v < vocabulary.size(); ++v) {
      if (vocabulary[v].size() <= longest || text.compare(at, vocabulary[v].size(), vocabulary[v]) != 0) continue;
      longest = vocabulary[v].size();
      token = static_cast<std::int64_t>(v);
    }
    if (longest == 0) {
      throw Error(Code::kInvalidArgument, "prompt: no token begins with '{}' (byte {}); the vocabulary has {} entries",
                  text.substr(at, 1), at, vocabulary.size());
    }
    tokens.push_back(token);
    at += longest;
  }
  return tokens;
}

std::string decode(const std::vector<std::int64_t>& tokens, const std::vector<std::string>& vocabulary) {
  std::string text;
  for (const std::int64_t token : tokens) {
    const bool known = token >= 0 && static_cast<std::size_t>(token) < vocabulary.size();
    text += known ? vocabulary[static_cast<std::size_t>(token)] : fmt::format("<{}>", token);
  }
  return text;
}

}  // namespace trainyard::gpt
