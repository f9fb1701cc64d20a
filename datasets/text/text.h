// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/dataset.h"
#include "datasets/text/text_files.h"

namespace trainyard::text {

/// What a token is: a character of UTF-8 text, or a byte.
enum class Encoding : std::uint8_t { kUtf8, kBytes };
constexpr auto words_of(Encoding) { return words("encoding", "utf-8", "bytes"); }

}  // namespace trainyard::text

namespace trainyard {

/// Reads text for language models, with one token per character. The input of a sample is `context` characters; the
/// target is the same text, one character further on.
///
/// The text is a file, or all files of a folder, one after another. Its first part is the split "train", the rest the
/// split "validate". Sample i of a split starts at the split's character i. The vocabulary is the sorted set of the
/// characters that occur.
///
/// A character is a Unicode code point of UTF-8 text. With `encoding = "bytes"` any file is accepted: a token is then a
/// byte, and the vocabulary shows bytes beyond ASCII as "\xNN".
///
/// Parameters  path            required
///             context         64
///             train_fraction  0.9; 1 = no split "validate"
///             encoding        utf-8 | bytes
/// Fields      input           int64 [context]
///             target          int64 [context]
/// Errors      kNotFound, kIo; kCorrupt (file and offset of invalid UTF-8); kInvalidArgument (text too short);
///             kUnsupported (more than 65535 different characters)
class Text final : public Dataset {
 public:
  /// Reads nothing; open() reads the text.
  explicit Text(DatasetContext& context) : Dataset(context) {}

  /// The target of a single token is a class as well.
  DatasetTraits traits() const override { return {*length_ == 1 ? TargetKind::kUnknown : TargetKind::kTokens}; }
  /// Reads the whole text and converts it into tokens.
  void open() override;
  DatasetInfo info() const override;
  /// Consecutive samples overlap: they share all but one character.
  void read(std::string_view split, std::uint64_t index, std::span<const std::span<std::byte>> fields) const override;

 private:
  /// The characters [first, first + characters) of the text.
  struct Part {
    std::uint64_t first = 0;
    std::uint64_t characters = 0;
  };

  bool by_bytes() const { return *encoding_ == text::Encoding::kBytes; }
  std::uint32_t next_code(const text::File& file, std::size_t& position) const;
  void make_vocabulary(const std::vector<text::File>& files);
  void make_tokens(const std::vector<text::File>& files);
  void divide();
  std::uint64_t samples_of(const Part& part) const;

  Parameter<std::string> path_{*this, "path", kRequired, "text file, or folder of text files joined in order of name"};
  Parameter<std::int64_t> length_{*this, "context", 64, "tokens in a sample", between(1, 1 << 24)};
  Parameter<double> train_fraction_{*this, "train_fraction", 0.9, "share of the text that trains: its first part",
                                    positive() | ParameterRules{.maximum = 1}};
  Parameter<text::Encoding> encoding_{*this, "encoding", text::Encoding::kUtf8,
                                      "what a token is: a Unicode character or a byte"};

  std::vector<std::uint32_t> codes_;   ///< The code point (or the byte) of every token, ascending.
  std::vector<std::uint16_t> tokens_;  ///< The whole text.
  Part train_;
  Part validate_;
};

}  // namespace trainyard
