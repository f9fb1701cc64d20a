// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/member.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>

#include "core/files/regular_file.h"
#include "launch/plan/child_output.h"
#include "launch/plan/declaration_reader.h"
#include "messages/error.h"
#include "messages/printable.h"

namespace trainyard::launch {
namespace {

/// The deadline for a member that prints its declaration. Loading an interpreter and large libraries from a slow disk
/// can take some seconds.
constexpr std::chrono::seconds kDescribeDeadline{30};

/// The largest size of the output of a failed program that an error shows. The end of the output is kept.
constexpr std::size_t kMostShownBytes = 2000;

std::string end_of(const std::string& text) {
  return text.size() <= kMostShownBytes ? text : "..." + text.substr(text.size() - kMostShownBytes);
}

Error refusal(const ComponentSpec& spec, const std::string& text, Code code = Code::kInvalidArgument) {
  return error_at(spec.declaration->origin, spec.key + ".declaration", text, code);
}

std::string printed_declaration(const ComponentSpec& spec) {
  std::vector<std::string> command = spec.command;
  command.emplace_back("--describe");
  const std::string shown = fmt::format("`{}`", fmt::join(command, " "));
  try {
    ChildOutput output = run_child(command, kDescribeDeadline, spec.environment, kMostDeclarationBytes);
    if (output.succeeded()) return std::move(output.text);
    throw refusal(spec, fmt::format("{} failed: {}", shown, printable(end_of(output.failure()))), Code::kPluginLoad);
  } catch (const Error& error) {
    if (error.code() != Code::kIo) throw;
    throw refusal(spec, error.what(), Code::kNotFound);  // This happens if the program does not exist.
  }
}

/// Reads the file with the declaration. One byte more than is allowed is read, so that read_declaration() detects a
/// file that is too long.
std::string declaration_in_file(const ComponentSpec& spec) {
  const std::string& path = spec.declaration->text;
  try {
    core::require_regular_file(path);
  } catch (const Error& error) {
    throw refusal(spec, error.what(), error.code());
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostDeclarationBytes + 1, '\0');
  text.resize(static_cast<std::size_t>(file.read(text.data(), static_cast<std::streamsize>(text.size())).gcount()));
  if (file.bad() || !(file.eof() || file.good())) throw refusal(spec, "cannot read " + path, Code::kIo);
  return text;
}

core::PluginInfo declare_member(const ComponentSpec& spec) {
  const bool printed = spec.declaration->text == kDescribe;
  const std::string text = printed ? printed_declaration(spec) : declaration_in_file(spec);
  try {
    return read_declaration(text);
  } catch (const Error& error) {
    const std::string from =
        printed ? fmt::format("what `{}` printed", fmt::join(spec.command, " ")) : spec.declaration->text;
    throw refusal(spec, fmt::format("{}: {}", from, error.what()), error.code());
  }
}

}  // namespace

MemberDeclarations declare_members(const LaunchFile& file) {
  MemberDeclarations members;
  for (const ComponentSpec& spec : file.components) {
    if (spec.is_member()) members.emplace(&spec, declare_member(spec));
  }
  return members;
}

}  // namespace trainyard::launch
