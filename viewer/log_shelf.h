// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "messages/log_record.h"
#include "viewer/known_hashes.h"
#include "viewer/newest.h"

namespace trainyard::viewer {

/// Which records of the log somebody wants to see. Empty fields do not restrict.
struct LogRequest {
  std::optional<std::uint64_t> before;  ///< Only records with smaller numbers.
  std::size_t limit = 200;
  LogLevel level = LogLevel::kTrace;  ///< This level and all that are more important.
  std::string component;              ///< The exact name.
  std::string text;                   ///< A part of the text; letters of both cases are the same.
};

/// The log of one run. It is bounded: the oldest records are forgotten, and long texts are cut.
class LogShelf {
 public:
  static constexpr std::size_t kMaxRecords = 100'000;

  /// Adds a record. Returns false if the shelf has it already.
  bool add(const LogRecord& record);

  /// Returns the newest of the records that somebody wants to see, and how many records there have been; see
  /// docs/viewer_protocol.md.
  nlohmann::json find(const LogRequest& request) const;

  /// Returns the number of the next record.
  std::uint64_t end() const { return records_.end(); }
  /// Appends the push with the records from number `position` on, if any, and moves the position.
  void append_news(std::uint64_t& position, std::vector<nlohmann::json>& news) const;

 private:
  nlohmann::json json_at(std::uint64_t number) const;

  Newest<LogRecord> records_{kMaxRecords};
  KnownHashes known_{kMaxRecords};
};

}  // namespace trainyard::viewer
