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

/// Reads text that has already been converted into tokens: files of 16-bit token numbers, little-endian, one after
/// another, as nanoGPT's `prepare.py` scripts write them. The input of a sample is `context` tokens; the target is the
/// same tokens, one token further on. Sample i of a split starts at the split's token i.
///
/// `path` is a folder with the file `train.bin` and perhaps `val.bin` (the split "validate") and `test.bin`, or one
/// file, whose last part is the split "validate". Files are mapped into memory, not read, so they may be larger than
/// memory.
///
/// Parameters  path            required
///             vocabulary      required: the number of tokens; 50257 for GPT-2
///             context         64
///             train_fraction  0.9; for a single file only; 1 = no split "validate"
/// Fields      input           int64 [context]
///             target          int64 [context]
/// Errors      kNotFound, kIo; kInvalidArgument (too few tokens); kCorrupt (file and offset: an odd number of bytes,
///             found at the start; a token that is not in the vocabulary, found when its sample is read)
class Tokens final : public Dataset {
 public:
  explicit Tokens(DatasetContext& context) : Dataset(context) {}

  /// The target of a single token is a class as well.
  DatasetTraits traits() const override { return {*length_ == 1 ? TargetKind::kUnknown : TargetKind::kTokens}; }
  void open() override;
  DatasetInfo info() const override;
  void read(std::string_view split, std::uint64_t index, std::span<const std::span<std::byte>> fields) const override;

 private:
  /// The tokens [first, first + tokens) of a file, which several splits may share.
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
  Parameter<std::int64_t> vocabulary_{*this, "vocabulary", kRequired, "number of tokens there are; GPT-2: 50257",
                                      between(1, 65536)};
  Parameter<std::int64_t> length_{*this, "context", 64, "tokens in a sample", between(1, 1 << 24)};
  Parameter<double> train_fraction_{*this, "train_fraction", 0.9, "share of a single file that trains: its first part",
                                    positive() | ParameterRules{.maximum = 1}};

  std::vector<Split> splits_;
};

}  // namespace trainyard
