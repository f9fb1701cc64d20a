// SPDX-License-Identifier: Apache-2.0
#include "components/data_loader/same_data.h"

#include <fmt/ranges.h>

#include <chrono>
#include <set>
#include <utility>

#include "components/data_loader/batch_layout.h"
#include "messages/printable.h"
#include "messages/schema.h"

namespace trainyard {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{50};
/// How often a rank looks for the note before it gives up. Rank 0 writes the note before any rank becomes active, so it
/// appears as soon as it has been copied to this host.
constexpr int kMostLooks = 1200;

std::string read_sample(const Dataset& dataset, const BatchLayout& layout, const std::string& split,
                        std::uint64_t index) {
  std::string bytes(layout.bytes(1), '\0');
  std::vector<std::span<std::byte>> fields;
  std::size_t offset = 0;
  for (std::size_t field = 0; field < layout.fields().size(); ++field) {
    fields.push_back(std::as_writable_bytes(std::span(bytes)).subspan(offset, layout.fields()[field].sample_bytes));
    offset += layout.field_bytes(field, 1);
  }
  dataset.read(split, index, fields);
  return bytes;
}

/// Returns the indices of the samples to compare: the first, the last and two in between. This is enough to distinguish
/// two datasets, and takes almost no time.
std::set<std::uint64_t> some_of(std::uint64_t samples) {
  if (samples == 0) return {};
  return {0, samples / 3, samples / 3 * 2, samples - 1};
}

std::string read_some(const Dataset& dataset, const BatchLayout& layout, const SplitInfo& split) {
  std::string bytes;
  for (const std::uint64_t index : some_of(split.samples)) bytes += read_sample(dataset, layout, split.name, index);
  return bytes;
}

/// Errors are ignored here. A sample that cannot be read is reported when it is needed for a batch.
std::string fingerprint_of(const Dataset& dataset, const BatchLayout& layout, const SplitInfo& split) {
  try {
    const std::string first = read_some(dataset, layout, split);
    return first == read_some(dataset, layout, split) ? fmt::format("{:016x}", fingerprint(first)) : "-";
  } catch (const Error&) {
    return "-";
  }
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::string describe_data(const Dataset& dataset, const DatasetInfo& info) {
  const BatchLayout layout(info.fields);
  std::vector<std::string> sizes, samples;
  for (const SplitInfo& split : info.splits) {
    sizes.push_back(fmt::format("{} with {} samples", split.name, split.samples));
    samples.push_back(fmt::format("{} {}", split.name, fingerprint_of(dataset, layout, split)));
  }
  return fmt::format("{}\n{}", fmt::join(sizes, ", "), fmt::join(samples, ", "));
}

SameData::SameData(core::EventLoop& loop, core::Rendezvous& notes, std::string key, std::string own,
                   std::function<void(const std::string& objection)> found)
    : loop_(loop), notes_(notes), key_(std::move(key)), own_(std::move(own)), found_(std::move(found)) {
  look();
}

SameData::~SameData() {
  if (timer_) loop_.cancel(*timer_);
}

void SameData::look() {
  timer_.reset();
  std::string first;
  if (!notes_.find(key_, first)) {
    if (++looks_ < kMostLooks) timer_ = loop_.after(kBetweenLooks, [this] { look(); });
    return;
  }
  if (first == own_ || first_line(first) != first_line(own_)) return;
  found_(fmt::format(
      "this rank has other samples than rank 0, although as many: {}; some of them have the fingerprint {} here, and "
      "{} on "
      "rank 0. Give all hosts the same files",
      first_line(own_), own_.substr(own_.find('\n') + 1), printable_line(first.substr(first.find('\n') + 1))));
}

}  // namespace trainyard
