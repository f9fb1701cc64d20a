// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/manual.h"

#include <fmt/format.h>

#include <sstream>

namespace trainyard::tools {
namespace {

/// Escapes text for troff, in which a backslash begins an escape sequence, a dot or a quote at the beginning of a line
/// begins a request, and a plain hyphen may be printed as a dash.
std::string troff(const std::string& text) {
  std::string out;
  bool at_begin = true;
  for (const char c : text) {
    if (at_begin && (c == '.' || c == '\'')) out += "\\&";
    at_begin = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

/// Returns a paragraph whose lines troff breaks.
std::string paragraph(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line.empty() ? "" : troff(line) + "\n";
}

/// Returns a separate paragraph in which troff keeps line breaks and spaces.
std::string verbatim(const std::string& text) {
  return text.empty() ? "" : fmt::format(".PP\n.nf\n{}\n.fi\n", troff(text));
}

std::string synopsis_of(const OptionDescription& option) {
  const std::string value = option.takes_value && !option.is_argument ? fmt::format(" \\fI{}\\fR", option.value) : "";
  std::string text = option.is_argument ? fmt::format("\\fI{}\\fR", troff(option.names.front()))
                                        : fmt::format("\\fB{}\\fR{}", troff(option.names.back()), value);
  if (!option.required) text = "[" + text + "]";
  return option.repeatable ? text + "..." : text;
}

/// Returns the synopsis of a verb: its name, options and arguments.
std::string synopsis(const std::string& path, const VerbDescription& verb) {
  std::string text = fmt::format("\\fB{}\\fR", troff(path));
  for (const OptionDescription& option : verb.options) {
    if (option.is_argument) text += " " + synopsis_of(option);
  }
  return text;
}

std::string option_entry(const OptionDescription& option) {
  std::string names;
  for (const std::string& name : option.names) {
    names += names.empty() ? "" : ", ";
    names += option.is_argument ? fmt::format("\\fI{}\\fR", troff(name)) : fmt::format("\\fB{}\\fR", troff(name));
  }
  if (option.takes_value && !option.is_argument) names += fmt::format(" \\fI{}\\fR", option.value);
  std::string help = paragraph(option.help);
  if (!option.choices.empty()) {
    std::string choices;
    for (const std::string& choice : option.choices) choices += (choices.empty() ? "" : ", ") + choice;
    help += paragraph("One of: " + choices + ".");
  }
  return fmt::format(".TP\n{}\n{}", names, help.empty() ? "\\&\n" : help);
}

bool is_help(const OptionDescription& option) { return option.names.back() == "--help"; }

/// Returns the section for a verb. For a family of verbs, returns the sections of its verbs, followed by the footer of
/// the family.
std::string verb_sections(const std::string& path, const VerbDescription& verb) {
  std::string text;
  if (verb.verbs.empty()) {
    text += fmt::format(".SS {}\n{}", synopsis(path, verb), paragraph(verb.help + "."));
    for (const OptionDescription& option : verb.options) {
      if (!is_help(option)) text += option_entry(option);
    }
  }
  for (const VerbDescription& below : verb.verbs) text += verb_sections(path + " " + below.name, below);
  return text + verbatim(verb.footer);
}

}  // namespace

std::string manual_page(const VerbDescription& command, const std::string& version) {
  std::string text = fmt::format(".TH TRAINYARD 1 \"\" \"Trainyard {}\" \"User Commands\"\n", troff(version));
  text += ".SH NAME\ntrainyard \\- launch, watch and change training runs\n";
  text += ".SH SYNOPSIS\n\\fBtrainyard\\fR \\fIVERB\\fR [\\fIARGUMENT\\fR...] [\\fIOPTION\\fR...]\n";
  text += ".SH DESCRIPTION\n" + paragraph(command.help) +
          ".PP\nEvery verb has an option \\fB\\-\\-help\\fR. The verbs that concern a running launch find the newest "
          "one by "
          "themselves.\n";
  text += ".SH VERBS\n";
  for (const VerbDescription& verb : command.verbs) text += verb_sections(verb.name, verb);
  // The heading has already begun a paragraph, so none is begun here.
  text += fmt::format(".SH EXAMPLES AND EXIT CODES\n.nf\n{}\n.fi\n", troff(command.footer));
  return text + ".SH SEE ALSO\nThe documentation of Trainyard: \\fIdocs/README.md\\fR.\n";
}

}  // namespace trainyard::tools
