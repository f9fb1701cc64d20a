// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/probe_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "checkpoints/durable_file.h"
#include "messages/printable.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

std::string random_text() {
  std::random_device source;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", source(), source(), source(), source());
}

/// Returns true if the file contains exactly this text. Not more than the text is read, whatever is there.
bool contains(const std::string& path, const std::string& text) {
  std::ifstream file(path, std::ios::binary);
  std::string content(text.size() + 1, '\0');
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<std::size_t>(file.gcount()));
  return content == text;
}

}  // namespace

ProbeFile::ProbeFile(const std::string& directory)
    : directory_(directory),
      temporary_(directory, "probe"),
      path_(fs::absolute(temporary_.path()).string() + "/shared"),
      text_(random_text()) {
  checkpoints::DurableFile file(path_);
  file.write(text_);
  file.close();
}

std::string ProbeFile::problem_with(const FolderProbed& answer) const {
  std::string reason = printable_line(answer.error);
  if (reason.empty()) {
    if (contains(fmt::format("{}-{}", path_, answer.rank), text_)) return "";
    reason = "what it has written there cannot be seen here";
  }
  return fmt::format(
      "the host {}, with rank {}, does not share the folder of the checkpoints, {}: {}. With other_hosts = \"write\", "
      "all hosts must share this folder; choose another 'directory', or let the hosts send their state (other_hosts = "
      "\"send\")",
      printable_line(answer.host), answer.rank, directory_, reason);
}

}  // namespace trainyard
