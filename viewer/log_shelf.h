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

/// Specifies which records of the log are requested. An empty field imposes no restriction.
struct LogRequest {
  std::optional<std::uint64_t> before;  ///< Only records whose numbers are smaller than this.
  std::size_t limit = 200;
  LogLevel level = LogLevel::kTrace;  ///< Only records of this level or a more severe one.
  std::string component;              ///< The exact name of the component.
  std::string text;                   ///< A text that the record must contain, regardless of case.
};

/// The log of one run. Its size is limited: the oldest records are removed, and long texts are cut.
class LogShelf {
 public:
  static constexpr std::size_t kMaxRecords = 100'000;

  /// Adds a record. Returns false if the shelf already contains the record.
  bool add(const LogRecord& record);

  /// Returns the newest records that match the request, and the total number of records so far, in the form that
  /// docs/viewer_protocol.md describes.
  nlohmann::json find(const LogRequest& request) const;

  /// Returns the number that the next record will get.
  std::uint64_t end() const { return records_.end(); }
  /// Appends the records numbered `position` and above to `news`, as one message for a browser page (a "push" in
  /// docs/viewer_protocol.md), and sets `position` to end(). If there are more than kMostNews, only the newest
  /// kMostNews are included. Does nothing if there are none.
  void append_news(std::uint64_t& position, std::vector<nlohmann::json>& news) const;

 private:
  nlohmann::json json_at(std::uint64_t number) const;

  Newest<LogRecord> records_{kMaxRecords};
  KnownHashes known_{kMaxRecords};
};

}  // namespace trainyard::viewer
