// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "core/keys/key_file.h"
#include "core/keys/key_folder.h"
#include "messages/error.h"
#include "messages/printable.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/json_output.h"
#include "tools/trainyard/table.h"
#include "tools/trainyard/verbs.h"

namespace trainyard::tools {
namespace {

using core::Key;
using core::KeyFolder;
using core::PublicKey;

constexpr const char* kKeysFooter =
    "A key has a role: watch (look only), control (also change a run) or member\n"
    "(the key of a host). Secret keys never leave their file unless you copy it.\n"
    "Examples:\n"
    "  trainyard keys new laptop --role watch\n"
    "  trainyard keys show laptop\n"
    "  trainyard keys add 'trainyard-key node7 member ...'";

struct KeysArguments {
  std::string name;
  std::string role = "watch";
  std::string file;
  std::string line;
  bool secret = false;
  bool as_json = false;
};

/// Makes a key, and prints where it is and what the owner should do next.
int make_key(const KeysArguments& arguments) {
  const Key key = Key::make(arguments.name, core::role_from_name(arguments.role));
  std::string path = arguments.file;
  if (path.empty()) {
    path = KeyFolder().add(key);
  } else {
    core::write_key_file(path, key);
  }
  fmt::print("{}: a new key with the role {}, fingerprint {}\n", printable_line(path), name_of(key.role),
             key.fingerprint());
  fmt::print("Whoever is to recognise it needs this line, which is not secret:\n{}\n", key.line());
  return kExitOk;
}

/// Adds the public key of another user, who has printed it with `keys show`.
int add_key(const KeysArguments& arguments) {
  PublicKey key = PublicKey::read(arguments.line);
  if (!arguments.name.empty()) {
    core::check_key_name(arguments.name);
    key.name = arguments.name;
  }
  const std::string path = KeyFolder().add(key);
  fmt::print("{}: the key of {}, role {}, fingerprint {}\n", printable_line(path), key.name, name_of(key.role),
             key.fingerprint());
  return kExitOk;
}

nlohmann::ordered_json key_json(const PublicKey& key, const std::string& path, bool own) {
  return {{"name", key.name},
          {"role", name_of(key.role)},
          {"fingerprint", key.fingerprint()},
          {"public", key.text},
          {"own", own},
          {"file", path}};
}

/// Calls `see` for each key. If a key file cannot be used, prints a warning to stderr and continues with the other
/// keys.
template <class See>
void each_key(const KeyFolder& folder, See&& see) {
  const auto look = [&](const std::string& name, const std::string& path, bool own) {
    try {
      PublicKey key = folder.find(name);
      key.name = name;  // The key is found by the name of its file, so this name is shown.
      see(key, path, own);
    } catch (const Error& error) {
      std::fprintf(stderr, "warning: %s\n", printable_line(error.what()).c_str());
    }
  };
  for (const std::string& name : folder.own_names()) look(name, folder.own_path(name), true);
  for (const std::string& name : folder.public_names()) look(name, folder.public_path(name), false);
}

int list_keys(const KeysArguments& arguments) {
  const KeyFolder folder;
  Table table({"name", "role", "whose", "fingerprint", "file"});
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  each_key(folder, [&](const PublicKey& key, const std::string& path, bool own) {
    table.add(
        {key.name, name_of(key.role), own ? "own" : "other", key.fingerprint(), path.substr(path.rfind('/') + 1)});
    all.push_back(key_json(key, path, own));
  });
  if (arguments.as_json) {
    print_json(all);
  } else if (table.empty()) {
    std::fprintf(stderr, "no keys in %s\n", printable_line(folder.path()).c_str());
  } else {
    std::fputs(table.text(use_colours()).c_str(), stdout);
  }
  return kExitOk;
}

/// Prints the line with the public key that another user can add. Prints the content of the file with the secret key
/// only if the user asks for it.
int show_key(const KeysArguments& arguments) {
  if (arguments.name.empty() && arguments.file.empty()) {
    throw Error(Code::kInvalidArgument, std::string("which key? Give its NAME, or its file with --file FILE"));
  }
  if (!arguments.secret) {
    const PublicKey key =
        arguments.file.empty() ? KeyFolder().find(arguments.name) : core::read_key_file(arguments.file);
    fmt::print("{}\n", key.line());
    return kExitOk;
  }
  const Key key = arguments.file.empty() ? KeyFolder().own(arguments.name) : core::read_key_file(arguments.file);
  std::fputs(core::key_file_text(key).c_str(), stdout);
  return kExitOk;
}

CLI::App* add_verb(CLI::App& family, const std::shared_ptr<KeysArguments>& arguments, Action& chosen, const char* name,
                   const char* help, int (*action)(const KeysArguments&)) {
  CLI::App* verb = family.add_subcommand(name, help);
  verb->callback([=, &chosen] { chosen = [=] { return action(*arguments); }; });
  return verb;
}

}  // namespace

void add_keys(CLI::App& app, Action& chosen) {
  CLI::App* family = app.add_subcommand("keys", "Keys of visitors and hosts")->require_subcommand(1);
  family->footer(kKeysFooter);
  const auto arguments = std::make_shared<KeysArguments>();
  CLI::App* make = add_verb(*family, arguments, chosen, "new", "Make a key of your own", make_key);
  make->add_option("NAME", arguments->name, "its name, by which others know you")->required();
  make->add_option("--role", arguments->role, "watch, control or member (watch)")->type_name("ROLE");
  make->add_option("--file", arguments->file, "a new file, instead of your folder of keys")->type_name("FILE");

  CLI::App* list = add_verb(*family, arguments, chosen, "list", "List your keys and those of others", list_keys);
  list->add_flag("--json", arguments->as_json, "print JSON, for other programs");

  CLI::App* show = add_verb(*family, arguments, chosen, "show", "Print the line of a key, to give to others", show_key);
  CLI::Option* name = show->add_option("NAME", arguments->name, "the name of the key");
  show->add_option("--file", arguments->file, "a key file, instead of a name")->type_name("FILE")->excludes(name);
  show->add_flag("--secret", arguments->secret, "print the whole file, with the secret key");

  CLI::App* add = add_verb(*family, arguments, chosen, "add", "Add the key of somebody else", add_key);
  add->add_option("LINE", arguments->line, "the line that `trainyard keys show` prints, in quotes")->required();
  add->add_option("--name", arguments->name, "keep the key under this name instead")->type_name("NAME");
}

}  // namespace trainyard::tools
