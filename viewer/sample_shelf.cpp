// SPDX-License-Identifier: Apache-2.0
#include "viewer/sample_shelf.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "viewer/shown_text.h"

namespace trainyard::viewer {
namespace {

using nlohmann::json;

std::uint64_t hash_of(const Sample& sample) {
  const std::hash<std::string_view> hash;
  const std::string result =
      sample.result.is_null() ? "" : sample.result.dump(-1, ' ', true, json::error_handler_t::replace);
  return (hash(sample.text) * 31 + hash(sample.title)) * 31 + hash(result) * 17 + sample.step;
}

Sample sample_of(const SampleResults& results, const SampleResult& each) {
  const std::string split = shown_line(results.split);
  Sample sample{.step = results.step, .title = split + " " + std::to_string(each.index), .image = each.image};
  sample.result = {{"split", split},
                   {"index", each.index},
                   {"right", shown_line(each.right)},
                   {"predicted", shown_line(each.predicted)},
                   {"probability", each.probability}};
  return sample;
}

}  // namespace

Sample sample_of(const json& prediction) {
  Sample sample{prediction.at("step"), prediction.at("title"), prediction.at("text")};
  for (const json& tensor : prediction.at("tensors")) {
    sample.tensors.push_back({{"dtype", tensor.at("dtype")}, {"shape", tensor.at("shape")}});
  }
  return sample;
}

void SampleShelf::add(Sample sample) {
  if (sample.image.size() > kMaxImage) sample.image.clear();
  if (!known_.add(hash_of(sample))) return;
  sample.text = shown_text(sample.text);
  sample.title = shown_line(sample.title);
  samples_.add(std::move(sample));
}

void SampleShelf::add(const SampleResults& results) {
  const std::size_t most = std::min(results.samples.size(), SampleResults::kMaxSamples);
  for (std::size_t i = 0; i < most; ++i) add(sample_of(results, results.samples[i]));
}

json SampleShelf::list(std::optional<std::uint64_t> before, std::size_t limit) const {
  const std::uint64_t end = std::clamp(before.value_or(samples_.end()), samples_.first(), samples_.end());
  json list = json::array();
  for (std::uint64_t i = end - std::min<std::uint64_t>(limit, end - samples_.first()); i < end; ++i) {
    list.push_back(json_at(i));
  }
  return list;
}

void SampleShelf::append_news(std::uint64_t& position, std::vector<json>& news) const {
  json samples = take_news(samples_, position, [this](std::uint64_t number) { return json_at(number); });
  if (!samples.empty()) news.push_back({{"push", "samples"}, {"samples", std::move(samples)}});
}

json SampleShelf::json_at(std::uint64_t number) const {
  const Sample& sample = samples_.at(number);
  return {{"number", number},
          {"step", sample.step},
          {"title", sample.title},
          {"text", sample.text},
          {"image", sample.image.empty() ? json() : json("data:image/png;base64," + sample.image)},
          {"tensors", sample.tensors},
          {"result", sample.result}};
}

}  // namespace trainyard::viewer
