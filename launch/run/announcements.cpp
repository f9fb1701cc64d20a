// SPDX-License-Identifier: Apache-2.0
#include "launch/run/announcements.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "launch/plan/topics.h"
#include "messages/error.h"
#include "messages/limits.h"
#include "messages/printable.h"
#include "messages/schema.h"

namespace trainyard::launch {
namespace {

/// Returns the schema of the message type. Throws kInvalidArgument if the text is not a schema, or is not in the
/// canonical form, because the fingerprint of the type is a hash of this form.
Schema checked_schema(const Announcement& announcement) {
  try {
    Schema schema = parse_schema(announcement.schema);
    if (to_text(schema) == announcement.schema) return schema;
    throw Error(Code::kInvalidArgument, "it is not written as docs/wire_format.md says; that would be {}",
                to_text(schema));
  } catch (const Error& error) {
    throw Error(Code::kInvalidArgument, "the schema of the topic {}: {}", announcement.topic, error.what());
  }
}

void check_words(const Announcement& announcement) {
  if (!is_topic(announcement.topic) || announcement.topic.size() > kMaxTopicBytes) {
    throw Error(Code::kInvalidArgument,
                "\"{}\" is not a topic; at most {} letters, digits, '_', '-', '.' with single '/' between",
                printable_line(announcement.topic.substr(0, kMaxTopicBytes)), kMaxTopicBytes);
  }
  if (!announcement.endpoint.starts_with("ipc:///") || announcement.endpoint.size() > kMaxTopicBytes) {
    throw Error(Code::kInvalidArgument, "\"{}\" is not an ipc address, such as ipc:///tmp/socket",
                printable_line(announcement.endpoint.substr(0, kMaxTopicBytes)));
  }
  if (announcement.publisher.empty() || announcement.publisher.size() > Announcements::kMostNameBytes ||
      printable_line(announcement.publisher) != announcement.publisher) {
    throw Error(Code::kInvalidArgument, "the publisher needs a name of at most {} bytes without control characters",
                Announcements::kMostNameBytes);
  }
}

}  // namespace

void Announcements::announce(const Announcement& announcement, Time now) {
  forget_old(now);
  check_words(announcement);
  const Schema schema = checked_schema(announcement);
  const auto known = entries_.find(announcement.topic);
  if (known == entries_.end() && entries_.size() >= kMost) {
    throw Error(Code::kUnsupported, "visitors publish {} topics already, which is the most", kMost);
  }
  if (known != entries_.end() && known->second.announcement.endpoint != announcement.endpoint) {
    throw Error(Code::kInvalidArgument, "the topic {} is published by another visitor, {}", announcement.topic,
                known->second.announcement.publisher);
  }
  entries_[announcement.topic] = {announcement, schema.structs.front().name, fingerprint(announcement.schema),
                                  now + kLease};
}

void Announcements::withdraw(const std::string& topic, const std::string& endpoint) {
  const auto known = entries_.find(topic);
  if (known != entries_.end() && known->second.announcement.endpoint == endpoint) entries_.erase(known);
}

void Announcements::append_to(nlohmann::json& list, Time now) {
  forget_old(now);
  for (const auto& [topic, entry] : entries_) {
    const nlohmann::json publisher = {{"component", ""},
                                      {"process", entry.announcement.publisher},
                                      {"endpoint", entry.announcement.endpoint},
                                      {"visitor", true}};
    list.push_back({{"topic", topic},
                    {"type", entry.type},
                    {"fingerprint", fmt::format("{:016x}", entry.fingerprint)},
                    {"schema", entry.announcement.schema},
                    {"latched", entry.announcement.latched},
                    {"publishers", nlohmann::json::array({publisher})},
                    {"subscribers", nlohmann::json::array()}});
  }
}

void Announcements::forget_old(Time now) {
  std::erase_if(entries_, [&](const auto& entry) { return entry.second.until <= now; });
}

}  // namespace trainyard::launch
