// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/submit/sbatch_line.h"

#include <algorithm>

#include "messages/error.h"
#include "messages/printable.h"
#include "tools/trainyard/submit/shell_word.h"

namespace trainyard::tools::submit {
namespace {

void refuse_control_characters(std::string_view text) {
  const bool found = std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (!found) return;
  throw Error(Code::kInvalidArgument,
              "'{}' cannot be in a batch script of Slurm, because it contains a control character",
              printable_line(text));
}

}  // namespace

// sbatch itself splits the line into words. Quotes and backslashes have the same meaning as in a shell, and '#' begins
// a comment. No other character is special.
std::string sbatch_line(std::string_view name, std::string_view value) {
  refuse_control_characters(value);
  std::string line = "#SBATCH --" + std::string(name) + "=";
  if (is_plain_word(value)) return line + std::string(value) + "\n";
  line += '"';
  for (const char c : value) line += c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
  return line + "\"\n";
}

std::string sbatch_line(std::string_view option) {
  refuse_control_characters(option);
  if (!option.starts_with('-')) {
    throw Error(Code::kInvalidArgument, "--option is '{}'; allowed: an option of sbatch, such as --account=physics",
                printable_line(option));
  }
  return "#SBATCH " + std::string(option) + "\n";
}

std::string sbatch_path(std::string_view path) {
  if (path.find('\\') != path.npos) {
    throw Error(Code::kInvalidArgument, "Slurm cannot write to '{}', because the path contains a backslash",
                printable_line(path));
  }
  std::string escaped;
  for (const char c : path) escaped += c == '%' ? "%%" : std::string(1, c);
  return escaped;
}

}  // namespace trainyard::tools::submit
