// SPDX-License-Identifier: Apache-2.0
#include "datasets/tokens/tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <utility>

#include "messages/dtype.h"
#include "messages/error.h"
#include "messages/nearest.h"

namespace trainyard {
namespace {

static_assert(std::endian::native == std::endian::little, "token files are little-endian and are not converted");

constexpr std::uint64_t kTokenBytes = sizeof(std::uint16_t);

std::shared_ptr<const MappedFile> map_tokens(const std::filesystem::path& path) {
  auto file = std::make_shared<const MappedFile>(path.string());
  if (file->size() % kTokenBytes == 0) return file;
  throw Error(Code::kCorrupt, "{} at offset {}: half a token; allowed: an even number of bytes, there are {}",
              file->path(), file->size() - 1, file->size());
}

const std::uint16_t* tokens_of(const MappedFile& file) {
  // The address is aligned, because a mapping starts at a page.
  return reinterpret_cast<const std::uint16_t*>(file.bytes().data());
}

}  // namespace

void Tokens::open() {
  if (std::filesystem::is_directory(*path_)) {
    open_folder();
  } else {
    open_file();
  }
}

void Tokens::open_folder() {
  const std::filesystem::path folder(*path_);
  for (const auto& [split, name] : {std::pair("train", "train.bin"), {"validate", "val.bin"}, {"test", "test.bin"}}) {
    const bool needed =
        std::string_view(split) == "train";  // If this file is missing, opening it throws an error that names it.
    if (!needed && !std::filesystem::exists(folder / name)) continue;
    const auto file = map_tokens(folder / name);
    add_split(split, file, 0, file->size() / kTokenBytes);
  }
}

/// Divides a single file into splits. The first split has int(fraction * n) tokens, as in the dataset `text` and in
/// commonly used scripts.
void Tokens::open_file() {
  const auto file = map_tokens(*path_);
  const std::uint64_t all = file->size() / kTokenBytes;
  const auto train = static_cast<std::uint64_t>(*train_fraction_ * static_cast<double>(all));
  add_split("train", file, 0, train);
  if (*train_fraction_ < 1) add_split("validate", file, train, all - train);
}

void Tokens::add_split(const std::string& name, std::shared_ptr<const MappedFile> file, std::uint64_t first,
                       std::uint64_t tokens) {
  if (tokens <= static_cast<std::uint64_t>(*length_)) {
    throw Error(Code::kInvalidArgument,
                "{}: {} tokens of {} are for '{}', which is too few for context = {}; allowed: at least {}", where(),
                tokens, file->path(), name, *length_, *length_ + 1);
  }
  splits_.push_back({name, std::move(file), first, tokens});
}

/// Returns the number of samples. The target of the last sample ends with the last token.
std::uint64_t Tokens::samples_of(const Split& split) const {
  return split.tokens - static_cast<std::uint64_t>(*length_);
}

DatasetInfo Tokens::info() const {
  DatasetInfo info;
  info.dataset = "tokens";
  for (const Split& split : splits_) info.splits.push_back({split.name, samples_of(split)});
  const auto dtype = static_cast<std::uint8_t>(DType::kInt64);
  info.fields = {{"input", dtype, {*length_}}, {"target", dtype, {*length_}}};
  info.classes = static_cast<std::uint64_t>(*vocabulary_);
  info.unit = "token";
  info.units_per_sample = static_cast<std::uint64_t>(*length_);
  info.attributes = {{"path", *path_}};
  return info;
}

const Tokens::Split& Tokens::split_named(std::string_view name) const {
  std::vector<std::string> known;
  for (const Split& split : splits_) {
    if (split.name == name) return split;
    known.push_back(split.name);
  }
  throw Error(Code::kNotFound, "{}: no split named '{}'{}", where(), name, suggestion(name, known));
}

/// Throws kCorrupt if a sample contains a token that is not in the vocabulary, because a model would read past the end
/// of its embedding. Each sample is checked when it is read, because checking a file of many gigabytes at the start
/// would take minutes.
void Tokens::refuse_unknown_token(const Split& split, const std::uint16_t* tokens) const {
  const std::uint16_t* end = tokens + *length_ + 1;
  const std::uint16_t* largest = std::max_element(tokens, end);
  if (*largest < *vocabulary_) return;
  const std::uint16_t* first = std::find_if(tokens, end, [&](std::uint16_t token) { return token >= *vocabulary_; });
  throw Error(Code::kCorrupt, "{} at offset {}: token {}; allowed: 0 to {} (vocabulary = {})", split.file->path(),
              static_cast<std::uint64_t>(first - tokens_of(*split.file)) * kTokenBytes, *first, *vocabulary_ - 1,
              *vocabulary_);
}

void Tokens::read(std::string_view split_name, std::uint64_t index,
                  std::span<const std::span<std::byte>> fields) const {
  const Split& split = split_named(split_name);
  check_sample(split_name, index, samples_of(split));
  const std::uint16_t* start = tokens_of(*split.file) + split.first + index;
  refuse_unknown_token(split, start);
  std::copy_n(start, *length_, reinterpret_cast<std::int64_t*>(fields[0].data()));
  std::copy_n(start + 1, *length_, reinterpret_cast<std::int64_t*>(fields[1].data()));
}

}  // namespace trainyard

TRAINYARD_DATASET(trainyard::Tokens, "tokens", "Files of 16-bit token numbers, for language models.")
