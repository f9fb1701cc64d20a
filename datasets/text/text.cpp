// SPDX-License-Identifier: Apache-2.0
#include "datasets/text/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "datasets/text/characters.h"
#include "messages/dtype.h"
#include "messages/error.h"

namespace trainyard {

// The text is read in two passes: token numbers are indices in the sorted vocabulary, so all characters must be known
// before the first token number. The whole text is kept as token numbers of two bytes each. A sample is a window on
// these token numbers, so there are nearly as many samples as characters, and a sample needs no additional memory.
void Text::open() {
  const std::vector<text::File> files = text::read_text_files(*path_);
  make_vocabulary(files);
  make_tokens(files);
  divide();
}

/// Returns the code of the next token, and advances `position` past it. Throws kCorrupt if the text is not valid UTF-8.
/// With the encoding `bytes`, every file is valid.
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
  // A table of all code points is faster than a set, and needs only 136 KiB.
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
  // This table needs 2 MiB, which are freed as soon as the tokens have been made.
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

/// Divides the text into splits. The first split has int(fraction * n) tokens, as in commonly used scripts, so that
/// losses can be compared with published results.
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

/// Returns the number of samples. The target of the last sample ends with the last character.
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
  // Throughput is counted in tokens, so that runs with different contexts can be compared.
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
  // Token numbers are stored in two bytes. While they are copied, they are widened to eight bytes, because LibTorch's
  // embedding requires int64.
  const std::uint16_t* start = tokens_.data() + part.first + index;
  std::copy_n(start, *length_, reinterpret_cast<std::int64_t*>(fields[0].data()));
  std::copy_n(start + 1, *length_, reinterpret_cast<std::int64_t*>(fields[1].data()));
}

}  // namespace trainyard

TRAINYARD_DATASET(trainyard::Text, "text", "Characters of a text file or folder, for language models.")
