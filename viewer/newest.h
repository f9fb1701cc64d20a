// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <nlohmann/json.hpp>
#include <utility>

namespace trainyard::viewer {

/// A sequence of limited length, which keeps only the newest elements. Elements are numbered in the order in which they
/// are added, from 0; the numbers do not change when old elements are removed.
template <class T>
class Newest {
 public:
  explicit Newest(std::size_t limit) : limit_(limit) {}

  void add(T element) {
    elements_.push_back(std::move(element));
    if (elements_.size() <= limit_) return;
    elements_.pop_front();
    ++first_;
  }
  std::uint64_t first() const { return first_; }                   ///< The number of the oldest element kept.
  std::uint64_t end() const { return first_ + elements_.size(); }  ///< The number that the next element will get.
  const T& at(std::uint64_t number) const { return elements_[static_cast<std::size_t>(number - first_)]; }

 private:
  std::size_t limit_;
  std::uint64_t first_ = 0;
  std::deque<T> elements_;
};

/// The maximum number of elements that one message to a browser page contains.
inline constexpr std::uint64_t kMostNews = 200;

/// Returns the elements numbered `position` and above as a JSON array, and sets `position` to newest.end(). If there
/// are more than kMostNews such elements, only the newest are returned. `to_json` is called with the number of an
/// element and returns its JSON.
template <class T, class ToJson>
nlohmann::json take_news(const Newest<T>& newest, std::uint64_t& position, const ToJson& to_json) {
  const std::uint64_t skipped = newest.end() - std::min(newest.end(), kMostNews);
  nlohmann::json list = nlohmann::json::array();
  for (std::uint64_t i = std::max({position, newest.first(), skipped}); i < newest.end(); ++i) {
    list.push_back(to_json(i));
  }
  position = newest.end();
  return list;
}

}  // namespace trainyard::viewer
