// SPDX-License-Identifier: Apache-2.0
#include "datasets/text/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "datasets/text/characters.h"
#include "messages/dtype.h"
#include "messages/error.h"

namespace trainyard {

// The text is read in two passes: token numbers are places in the sorted vocabulary, so all characters must be known
// first. The whole text is kept as token numbers of two bytes each. A sample is a window on it, so there are nearly as
// many samples as characters, and none needs memory of its own.
void Text::open() {
  const std::vector<text::File> files = text::read_text_files(*path_);
  make_vocabulary(files);
  make_tokens(files);
  divide();
}

/// If a token is a byte, no file can be invalid.
std::uint32_t Text::next_code(const text::File& file, std::size_t& position) const {
  const auto byte = static_cast<unsigned char>(file.bytes[position]);
  if (by_bytes()) return ++position, byte;
  const std::uint32_t code = text::next_code_point(file.bytes, position);
  if (code != text::kNotUtf8) return code;
  throw Error(Code::kCorrupt,
              "{} at offset {}: byte 0x{:02x} does not belong to UTF-8 text; encoding = \"bytes\" takes any file",
              file.path, position, byte);
}

void Text::make_vocabulary(const std::vector<text::File>& files) {
  // A table of all code points is used instead of a set: it has 136 KiB and needs one look-up per character.
  std::vector<bool> occurs(text::kCodePoints);
  for (const text::File& file : files) {
    for (std::size_t position = 0; position < file.bytes.size();) occurs[next_code(file, position)] = true;
  }
  codes_.clear();
  for (std::uint32_t code = 0; code < text::kCodePoints; ++code) {
    if (occurs[code]) codes_.push_back(code);
  }
  constexpr std::size_t kMost = std::numeric_limits<std::uint16_t>::max();
  if (codes_.size() > kMost) {
    throw Error(Code::kUnsupported, "{}: {} has {} distinct characters; allowed: at most {}", where(), *path_,
                codes_.size(), kMost);
  }
}

void Text::make_tokens(const std::vector<text::File>& files) {
  // This table has 2 MiB, which are freed when the tokens have been made.
  std::vector<std::uint16_t> token_of(text::kCodePoints);
  for (std::size_t token = 0; token < codes_.size(); ++token)
    token_of[codes_[token]] = static_cast<std::uint16_t>(token);
  std::size_t bytes = 0;
  for (const text::File& file : files) bytes += file.bytes.size();
  tokens_.clear();
  // There are at most as many tokens as bytes.
  tokens_.reserve(bytes);
  for (const text::File& file : files) {
    for (std::size_t position = 0; position < file.bytes.size();)
      tokens_.push_back(token_of[next_code(file, position)]);
  }
  tokens_.shrink_to_fit();
}

/// Cuts where the usual `int(fraction * n)` cuts, so that losses can be compared with published ones.
void Text::divide() {
  const std::uint64_t all = tokens_.size();
  train_ = {0, static_cast<std::uint64_t>(*train_fraction_ * static_cast<double>(all))};
  validate_ = {train_.characters, all - train_.characters};
  const auto check = [&](const char* split, const Part& part) {
    if (samples_of(part) > 0) return;
    throw Error(Code::kInvalidArgument,
                "{}: {} characters of {} are for '{}', which is too few for context = {}; allowed: at least {}",
                where(), part.characters, *path_, split, *length_, *length_ + 1);
  };
  check("train", train_);
  if (*train_fraction_ < 1) check("validate", validate_);
}

/// The last target of the last sample is the last character.
std::uint64_t Text::samples_of(const Part& part) const {
  const auto length = static_cast<std::uint64_t>(*length_);
  return part.characters > length ? part.characters - length : 0;
}

DatasetInfo Text::info() const {
  DatasetInfo info;
  info.dataset = "text";
  info.splits = {{"train", samples_of(train_)}};
  if (validate_.characters > 0) info.splits.push_back({"validate", samples_of(validate_)});
  const auto dtype = static_cast<std::uint8_t>(DType::kInt64);
  info.fields = {{"input", dtype, {*length_}}, {"target", dtype, {*length_}}};
  info.classes = codes_.size();
  for (const std::uint32_t code : codes_) {
    info.vocabulary.push_back(by_bytes() && code >= 0x80 ? fmt::format("\\x{:02x}", code) : text::to_utf8(code));
  }
  // Throughput is counted in tokens, because samples with different contexts are not comparable.
  info.unit = "token";
  info.units_per_sample = static_cast<std::uint64_t>(*length_);
  info.attributes = {
      {"path", *path_}, {"encoding", std::string(name_of(*encoding_))}, {"characters", fmt::to_string(tokens_.size())}};
  return info;
}

void Text::read(std::string_view split, std::uint64_t index, std::span<const std::span<std::byte>> fields) const {
  const Part& part = split == "train" ? train_ : validate_;
  const bool known = split == "train" || split == "validate";
  check_sample(split, index, known ? samples_of(part) : 0);
  // A token has two bytes in memory and is widened to the eight bytes that LibTorch's embedding requires when it is
  // copied.
  const std::uint16_t* start = tokens_.data() + part.first + index;
  std::copy_n(start, *length_, reinterpret_cast<std::int64_t*>(fields[0].data()));
  std::copy_n(start + 1, *length_, reinterpret_cast<std::int64_t*>(fields[1].data()));
}

}  // namespace trainyard

TRAINYARD_DATASET(trainyard::Text, "text", "Characters of a text file or folder, for language models.")
