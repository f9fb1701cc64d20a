// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/verbs.h"

namespace trainyard::tools {
namespace {

// The scripts contain no subcommands and options. They run the command itself to get the completions (completion.h), so
// they work with every version of the command.

constexpr const char* kBashScript = R"script(# bash completion of trainyard; made by `trainyard completion bash`
_trainyard() {
  local line current=${COMP_WORDS[COMP_CWORD]}
  [[ $current == "=" ]] && current=
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
    else
      COMPREPLY+=("${line%%$'\t'*}")
    fi
  done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _trainyard trainyard
)script";

constexpr const char* kZshScript = R"script(#compdef trainyard
# zsh completion of trainyard; made by `trainyard completion zsh`
_trainyard() {
  local line files=
  local -a candidates
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      files=1
    else
      candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    fi
  done < <("${(Q)words[1]}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( $#candidates )) && _describe -t trainyard trainyard candidates
  [[ -n $files ]] && _files
  return 0
}
if [[ ${funcstack[1]} == _trainyard ]]; then
  _trainyard "$@"
elif (( $+functions[compdef] )); then
  compdef _trainyard trainyard
fi
)script";

constexpr const char* kFishScript = R"script(# fish completion of trainyard; made by `trainyard completion fish`
function __trainyard_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$current"
        else
            echo $line
        end
    end
end
complete -c trainyard -f -a '(__trainyard_complete)'
)script";

void add_shell(CLI::App& family, Action& chosen, const char* shell, const char* script) {
  CLI::App* verb = family.add_subcommand(shell, std::string("Print the script for ") + shell);
  verb->callback([=, &chosen] {
    chosen = [=] {
      std::fputs(script, stdout);
      return kExitOk;
    };
  });
}

}  // namespace

void add_completion(CLI::App& app, Action& chosen) {
  CLI::App* family = app.add_subcommand("completion", "Complete verbs, options and names with Tab in your shell");
  family->require_subcommand(1);
  family->footer(
      "Examples:\n  source <(trainyard completion bash)  # in ~/.bashrc\n"
      "  source <(trainyard completion zsh)   # in ~/.zshrc, after compinit\n"
      "  trainyard completion fish | source   # in ~/.config/fish/config.fish\n\n"
      "An installation puts the scripts in the places where shells look for them.");
  add_shell(*family, chosen, "bash", kBashScript);
  add_shell(*family, chosen, "zsh", kZshScript);
  add_shell(*family, chosen, "fish", kFishScript);
}

}  // namespace trainyard::tools
