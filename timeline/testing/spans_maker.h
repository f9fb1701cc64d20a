// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "messages/spans.h"

namespace trainyard::timeline {

/// Builds a message of the type Spans, which a process of a run would send, for tests.
class SpansMaker {
 public:
  explicit SpansMaker(std::string process = "main", std::int32_t pid = 10) {
    spans_.process = std::move(process);
    spans_.pid = pid;
  }

  /// Adds a span of a component from `begin_ns` to `end_ns`. Returns the span, so that a test can change it.
  Span& add(SpanKind kind, const std::string& component, const std::string& name, std::int64_t begin_ns,
            std::int64_t end_ns, const std::string& peer = "") {
    spans_.spans.push_back({.kind = kind,
                            .source = source_of(component),
                            .name = name_of(name),
                            .peer = name_of(peer),
                            .begin_ns = begin_ns,
                            .end_ns = end_ns});
    return spans_.spans.back();
  }

  Spans& spans() { return spans_; }

 private:
  std::uint32_t source_of(const std::string& component) {
    const auto known = std::ranges::find(spans_.sources, component, &SpanSource::component);
    const auto index = static_cast<std::uint32_t>(known - spans_.sources.begin());
    if (known == spans_.sources.end()) spans_.sources.push_back({.component = component, .thread = "main"});
    return index;
  }
  std::uint32_t name_of(const std::string& name) {
    const auto [entry, added] = names_.emplace(name, static_cast<std::uint32_t>(spans_.names.size()));
    if (added) spans_.names.push_back(name);
    return entry->second;
  }

  Spans spans_;
  std::map<std::string, std::uint32_t> names_;
};

}  // namespace trainyard::timeline
