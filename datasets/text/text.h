// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/dataset.h"
#include "datasets/text/text_files.h"

namespace trainyard::text {

/// The ways in which text is divided into tokens: one token for each character of UTF-8 text, or one for each byte.
enum class Encoding : std::uint8_t { kUtf8, kBytes };
constexpr auto words_of(Encoding) { return words("encoding", "utf-8", "bytes"); }

}  // namespace trainyard::text

namespace trainyard {

/// A dataset of text for language models, with one token for each character. The input of a sample consists of
/// `context` characters. The target consists of the same number of characters, starting one character later.
///
/// The text is a file, or all files of a folder, one after another. The first part of the text is the split "train",
/// and the rest is the split "validate". Sample i of a split starts at character i of the split, so samples overlap.
/// The vocabulary consists of all characters that occur in the text, sorted.
///
/// A character is a Unicode code point of UTF-8 text. With `encoding = "bytes"` every byte is a character, so any file
/// is accepted. The vocabulary then shows bytes beyond ASCII as "\xNN".
///
/// Parameters  path            required: a text file, or a folder of text files
///             context         64: the number of characters in a sample
///             train_fraction  0.9: the share of the text in the split "train"; 1 = no split "validate"
///             encoding        utf-8 | bytes
/// Fields      input           int64 [context]
///             target          int64 [context]
/// Errors      kNotFound, kIo; kCorrupt (file and offset of invalid UTF-8); kInvalidArgument (text too short);
///             kUnsupported (more than 65535 different characters)
class Text final : public Dataset {
 public:
  /// Reads the parameters only; open() reads the text.
  explicit Text(DatasetContext& context) : Dataset(context) {}

  /// Returns kTokens as the kind of targets. If `context` is 1, returns kUnknown instead, because a target of one token
  /// can also be used as a class.
  DatasetTraits traits() const override { return {*length_ == 1 ? TargetKind::kUnknown : TargetKind::kTokens}; }
  /// Reads the whole text and converts it into tokens.
  void open() override;
  DatasetInfo info() const override;
  /// Writes sample `index` of `split` into `fields`; see Dataset::read(). Consecutive samples overlap in all but one
  /// character.
  void read(std::string_view split, std::uint64_t index, std::span<const std::span<std::byte>> fields) const override;

 private:
  /// A part of the text: the characters [first, first + characters).
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
  Parameter<double> train_fraction_{*this, "train_fraction", 0.9, "share of the text for training, from the start",
                                    positive() | ParameterRules{.maximum = 1}};
  Parameter<text::Encoding> encoding_{*this, "encoding", text::Encoding::kUtf8,
                                      "whether a token is a Unicode character or a byte"};

  std::vector<std::uint32_t> codes_;   ///< The code point (or the byte) of each token number, ascending.
  std::vector<std::uint16_t> tokens_;  ///< The token numbers of the whole text.
  Part train_;
  Part validate_;
};

}  // namespace trainyard
