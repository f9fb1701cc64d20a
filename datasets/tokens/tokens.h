// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/dataset.h"
#include "datasets/mapped_file.h"

namespace trainyard {

/// A dataset of text that has already been converted into tokens. Its files are sequences of 16-bit little-endian token
/// numbers, the format that nanoGPT's `prepare.py` scripts write. The input of a sample consists of `context` tokens.
/// The target consists of the same number of tokens, starting one token later. Sample i of a split starts at token i of
/// the split.
///
/// `path` is a folder or a single file. A folder contains `train.bin` and optionally `val.bin` (the split "validate")
/// and `test.bin`. A single file is divided: its last part is the split "validate". Files are mapped into memory, so
/// they can be larger than the memory of the machine.
///
/// Parameters  path            required: a folder or a file
///             vocabulary      required: the number of different tokens; 50257 for GPT-2
///             context         64: the number of tokens in a sample
///             train_fraction  0.9: the share of a single file in the split "train"; 1 = no split "validate"
/// Fields      input           int64 [context]
///             target          int64 [context]
/// Errors      kNotFound, kIo; kInvalidArgument (too few tokens); kCorrupt (file and offset: an odd number of bytes,
///             found by open(); a token that is not in the vocabulary, found when its sample is read)
class Tokens final : public Dataset {
 public:
  explicit Tokens(DatasetContext& context) : Dataset(context) {}

  /// Returns kTokens as the kind of targets. If `context` is 1, returns kUnknown instead, because a target of one token
  /// can also be used as a class.
  DatasetTraits traits() const override { return {*length_ == 1 ? TargetKind::kUnknown : TargetKind::kTokens}; }
  void open() override;
  DatasetInfo info() const override;
  void read(std::string_view split, std::uint64_t index, std::span<const std::span<std::byte>> fields) const override;

 private:
  /// The tokens [first, first + tokens) of a file. Several splits can share a file.
  struct Split {
    std::string name;
    std::shared_ptr<const MappedFile> file;
    std::uint64_t first = 0;
    std::uint64_t tokens = 0;
  };

  void open_folder();
  void open_file();
  void add_split(const std::string& name, std::shared_ptr<const MappedFile> file, std::uint64_t first,
                 std::uint64_t tokens);
  std::uint64_t samples_of(const Split& split) const;
  const Split& split_named(std::string_view name) const;
  void refuse_unknown_token(const Split& split, const std::uint16_t* tokens) const;

  Parameter<std::string> path_{*this, "path", kRequired, "folder with train.bin, val.bin; or one file"};
  Parameter<std::int64_t> vocabulary_{*this, "vocabulary", kRequired,
                                      "number of tokens in the vocabulary; 50257 for GPT-2", between(1, 65536)};
  Parameter<std::int64_t> length_{*this, "context", 64, "tokens in a sample", between(1, 1 << 24)};
  Parameter<double> train_fraction_{*this, "train_fraction", 0.9, "share of a single file for training, from the start",
                                    positive() | ParameterRules{.maximum = 1}};

  std::vector<Split> splits_;
};

}  // namespace trainyard
