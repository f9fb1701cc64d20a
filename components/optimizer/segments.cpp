// SPDX-License-Identifier: Apache-2.0
#include "components/optimizer/segments.h"

#include <fnmatch.h>

#include <algorithm>
#include <charconv>

#include "messages/error.h"

namespace trainyard::optimizer {
namespace {

bool matches(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

std::vector<ArenaEntry> parameters_in_order(const std::vector<ArenaEntry>& entries) {
  std::vector<ArenaEntry> parameters;
  std::ranges::copy_if(entries, std::back_inserter(parameters), [](const auto& e) { return e.block == "parameters"; });
  std::ranges::sort(parameters, {}, &ArenaEntry::offset_bytes);
  return parameters;
}

Segment segment_of(const ArenaEntry& entry, const GroupSettings& settings, DType dtype, std::uint64_t elements) {
  const auto entry_dtype = static_cast<DType>(entry.dtype);
  if (entry_dtype != dtype) {
    throw Error(Code::kShapeMismatch, "parameter '{}' is {}, its block is {}", entry.name, name_of(entry_dtype),
                name_of(dtype));
  }
  Segment segment{entry.offset_bytes / size_of(dtype), checked_bytes(dtype, entry.shape) / size_of(dtype)};
  if (segment.begin > elements || segment.count > elements - segment.begin) {
    throw Error(Code::kShapeMismatch, "parameter '{}' {} at byte {} ends beyond its block of {} elements", entry.name,
                to_text(entry.shape), entry.offset_bytes, elements);
  }
  const bool decays = (settings.decay_on == DecayOn::kAll || entry.shape.size() >= 2) &&
                      std::ranges::none_of(settings.no_decay, [&](const auto& p) { return matches(p, entry.name); });
  segment.weight_decay = decays ? settings.weight_decay : 0;
  for (const auto& scale : settings.lr_scale) {
    if (matches(scale.pattern, entry.name)) segment.lr_scale = scale.factor;
  }
  return segment;
}

}  // namespace

GroupSettings::Scale parse_lr_scale(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  double factor = -1;
  if (equals != std::string::npos && equals != 0) {
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + equals + 1, end, factor);
    if (error != std::errc() || rest != end) factor = -1;
  }
  if (!(factor >= 0)) {
    throw Error(Code::kInvalidArgument,
                "lr_scale: '{}' is not allowed; a pattern, '=' and a number >= 0: 'encoder.*=0.1'", text);
  }
  return {text.substr(0, equals), factor};
}

std::vector<Segment> make_segments(const std::vector<ArenaEntry>& entries, const GroupSettings& settings, DType dtype,
                                   std::uint64_t elements) {
  std::vector<Segment> segments;
  for (const ArenaEntry& entry : parameters_in_order(entries)) {
    const Segment next = segment_of(entry, settings, dtype, elements);
    if (!segments.empty() && segments.back().lr_scale == next.lr_scale &&
        segments.back().weight_decay == next.weight_decay) {
      segments.back().count = next.begin + next.count - segments.back().begin;
    } else {
      segments.push_back(next);
    }
  }
  return segments;
}

std::vector<Segment> clip(const std::vector<Segment>& segments, std::uint64_t begin, std::uint64_t count) {
  std::vector<Segment> clipped;
  for (Segment segment : segments) {
    const std::uint64_t first = std::max(segment.begin, begin);
    const std::uint64_t end = std::min(segment.begin + segment.count, begin + count);
    if (first >= end) continue;
    segment.begin = first - begin;
    segment.count = end - first;
    clipped.push_back(segment);
  }
  return clipped;
}

std::vector<std::string> unmatched_patterns(const std::vector<ArenaEntry>& entries, const GroupSettings& settings) {
  std::vector<std::string> patterns = settings.no_decay;
  for (const auto& scale : settings.lr_scale) patterns.push_back(scale.pattern);
  std::erase_if(patterns, [&](const std::string& pattern) {
    return std::ranges::any_of(parameters_in_order(entries), [&](const auto& e) { return matches(pattern, e.name); });
  });
  return patterns;
}

}  // namespace trainyard::optimizer
