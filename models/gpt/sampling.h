#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/gpt/network.h"

namespace trainyard {

/// How text is drawn from a GPT.
struct SamplingOptions {
  std::int64_t tokens = 500;
  double temperature = 0.8;  ///< 0 = always the likeliest.
  std::int64_t top_k = 200;  ///< Only the likeliest so many; 0 = all.
};

/// `prompt` and the tokens drawn after it, from the default random generator. To be called without gradients. An empty
/// prompt counts as token 0. Each token costs one forward pass over up to a whole context.
std::vector<std::int64_t> sample(const GptNetwork& network, std::vector<std::int64_t> prompt,
                                 const SamplingOptions& options);

/// Token numbers of `text`, the longest matching entry of the vocabulary first. Throws kInvalidArgument with the
/// character that no token begins with.
std::vector<std::int64_t> encode(const std::string& text, const std::vector<std::string>& vocabulary);

/// The text of tokens; "<7>" for one without text.
std::string decode(const std::vector<std::int64_t>& tokens, const std::vector<std::string>& vocabulary);

}  // namespace trainyard
