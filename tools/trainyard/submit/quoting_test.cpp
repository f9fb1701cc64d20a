// SPDX-License-Identifier: Apache-2.0
// Tests that values of the user reach the engine unchanged, by reading them with a shell and with PyYAML.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/testing/temporary_folder.h"
#include "launch/plan/child_output.h"
#include "messages/error.h"
#include "tools/trainyard/submit/sbatch_line.h"
#include "tools/trainyard/submit/shell_word.h"
#include "tools/trainyard/submit/testing/yaml_reader.h"
#include "tools/trainyard/submit/yaml_text.h"

namespace trainyard::tools::submit {
namespace {

using ::testing::HasSubstr;
using trainyard::testing::TemporaryFolder;

const std::vector<std::string> kHostile{"plain",
                                        "",
                                        " ",
                                        "two words",
                                        "it's",
                                        "\"",
                                        "'",
                                        "''",
                                        "\\",
                                        "\\n",
                                        "a\\",
                                        "$HOME",
                                        "$(touch hit)",
                                        "`touch hit`",
                                        "${IFS}",
                                        "a;b",
                                        "a&b",
                                        "a|b",
                                        "<a",
                                        ">a",
                                        "*",
                                        "?",
                                        "[a-z]",
                                        "{a,b}",
                                        "~",
                                        "~root",
                                        "#comment",
                                        "a #b",
                                        "!!",
                                        "!x",
                                        "-n",
                                        "--",
                                        "=",
                                        "a=b",
                                        "line\nbreak",
                                        "\n",
                                        "#SBATCH --wrap=x",
                                        "x\n#SBATCH --uid=0",
                                        "tab\there",
                                        "\r",
                                        "\x01\x1f\x7f",
                                        "caf\u00e9",
                                        "\u2028",
                                        "\ufeff",
                                        "\U0001f600",
                                        "\u0085",
                                        "true",
                                        "No",
                                        "on",
                                        "null",
                                        "~",
                                        "1",
                                        "1e3",
                                        "0x10",
                                        "1:30",
                                        "2026-01-01",
                                        ".5",
                                        ".inf",
                                        "a: b",
                                        "a:",
                                        "- a",
                                        "? a",
                                        "&a",
                                        "*a",
                                        "!!str a",
                                        "|",
                                        ">",
                                        "%a",
                                        "@a",
                                        "{}",
                                        "[]",
                                        ",",
                                        "---",
                                        "...",
                                        "key: [1, {a: b}]",
                                        "\"quoted\"",
                                        "$(VAR)",
                                        "$$(VAR)",
                                        "%j",
                                        "y",
                                        "=",
                                        "<<",
                                        "\\ud83d\\ude00"};

TEST(SubmitQuotingTest, AShellGivesEveryWordToTheProgramUnchanged) {
  const TemporaryFolder folder;
  for (const char* shell : {"sh", "bash"}) {
    // Zero bytes separate the words, because no word can contain a zero byte.
    const std::string script = "cd " + shell_word(folder.path()) + "; printf '%s\\0' " + shell_words(kHostile);
    const auto output = launch::run_child({shell, "-c", script}, std::chrono::seconds(30));
    ASSERT_TRUE(output.succeeded()) << output.failure();
    std::string expected;
    for (const std::string& word : kHostile) expected += word + '\0';
    EXPECT_EQ(output.text, expected) << shell;
    EXPECT_FALSE(std::filesystem::exists(folder.path() + "/hit")) << "a word was executed";
    const auto lines =
        launch::run_child({shell, "-c", "printf '%s\\0' " + shell_lines(kHostile)}, std::chrono::seconds(30));
    EXPECT_EQ(lines.text, expected) << shell;
  }
}

TEST(SubmitQuotingTest, AZeroCannotBeInAWord) { EXPECT_THROW(shell_word(std::string_view("a\0b", 3)), Error); }

TEST(SubmitQuotingTest, AReaderOfYamlFindsEveryTextUnchangedAndAsAText) {
  const testing::YamlReader reader;
  if (!reader.missing().empty()) GTEST_SKIP() << "skipped: " << reader.missing();
  nlohmann::ordered_json document{{"texts", kHostile}, {"empty list", nlohmann::ordered_json::array()}};
  document["keys"] = nlohmann::ordered_json::object();
  for (const std::string& text : kHostile) document["keys"][text] = {{"in a table", {{text, 1, true, nullptr}}}};
  EXPECT_EQ(reader.read(yaml_text(document)), nlohmann::json(document)) << yaml_text(document);
}

TEST(SubmitQuotingTest, TextThatIsNotUtf8CannotBeInAManifest) { EXPECT_THROW(yaml_scalar("a\xff"), Error); }

TEST(SubmitQuotingTest, ALineOfABatchScriptIsOneLine) {
  EXPECT_EQ(sbatch_line("job-name", "mlp"), "#SBATCH --job-name=mlp\n");
  EXPECT_EQ(sbatch_line("output", "a b\"c\\d#e'f"), "#SBATCH --output=\"a b\\\"c\\\\d#e'f\"\n");
  for (const char* wrong : {"a\nb", "a\r", "\x7f", "--x\n#SBATCH --uid=0"}) {
    EXPECT_THROW(sbatch_line("job-name", wrong), Error) << wrong;
    EXPECT_THROW(sbatch_line(wrong), Error) << wrong;
  }
  EXPECT_THROW(sbatch_line("account=physics"), Error);
  EXPECT_EQ(sbatch_line("--account=physics"), "#SBATCH --account=physics\n");
  EXPECT_EQ(sbatch_path("100%j"), "100%%j");
  EXPECT_THROW(sbatch_path("a\\b"), Error);
}

}  // namespace
}  // namespace trainyard::tools::submit
