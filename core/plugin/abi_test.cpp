// SPDX-License-Identifier: Apache-2.0
#include "core/plugin/abi.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "core/plugin/loader.h"
#include "messages/error.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// A fixture with a folder for the files of the test.
class PluginFileTest : public ::testing::Test {
 protected:
  PluginFileTest() {
    std::string pattern = (fs::temp_directory_path() / "trainyard-plugins-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~PluginFileTest() override { fs::remove_all(directory_); }

  /// Compiles a C file into a shared library with this label, and returns its path. The section with the interfaces
  /// contains `interfaces`; if this is empty, the library does not have the section.
  std::string library(const std::string& name, const std::string& label,
                      const std::string& interfaces = std::string(interface_words())) {
    const fs::path source = directory_ / (name + ".c");
    std::ofstream code(source);
    code << "__attribute__((used, section(\".trainyard\"))) const char label[] = \"" << label << "\";\n";
    if (!interfaces.empty()) {
      code << "__attribute__((used, section(\".trainyard.interfaces\"))) const char interfaces[] = \"" << interfaces
           << "\";\n";
    }
    code.close();
    fs::create_directories(directory_ / "models");
    const fs::path path = directory_ / "models" / (name + ".so");
    const std::string command = "cc -shared -fPIC -o " + path.string() + " " + source.string();
    if (std::system(command.c_str()) != 0) throw Error(Code::kIo, "cannot compile {}", source.string());
    return path;
  }

  fs::path directory_;
};

TEST(AbiTest, TorchFreePluginsFitEveryLibTorchAndOthersOnlyTheirOwn) {
  const std::string base = "trainyard-0.1 cxxabi-1017 cxx11-1";
  EXPECT_TRUE(abi_matches(base + " torch-none", base + " torch-1.13.1"));
  EXPECT_TRUE(abi_matches(base + " torch-1.13.1", base + " torch-1.13.1"));
  EXPECT_FALSE(abi_matches(base + " torch-2.6.0", base + " torch-1.13.1"));
  EXPECT_FALSE(abi_matches("trainyard-0.2 cxxabi-1017 cxx11-1 torch-none", base + " torch-none"));
  EXPECT_FALSE(abi_matches("", base + " torch-none"));
}

TEST(AbiTest, APluginMustAgreeOnTheInterfacesThatItNamesAndOnNoOthers) {
  const std::string base = "trainyard-0.1 cxxabi-1017 cxx11-1 ";
  const std::string host = base + "component-0a model-1b strategy-2c torch-1.13.1";
  EXPECT_TRUE(abi_matches(base + "model-1b torch-1.13.1", host));
  EXPECT_TRUE(abi_matches(base + "component-0a strategy-2c torch-none", host));
  EXPECT_TRUE(abi_matches(base + "sampler-77 torch-none", host)) << "a kind of somebody else's";
  EXPECT_FALSE(abi_matches(base + "model-9f torch-1.13.1", host));
  EXPECT_FALSE(abi_matches(base + "component-0a strategy-1b torch-none", host));
  EXPECT_FALSE(abi_matches(base + "model-unknown torch-none", host));
}

TEST(AbiTest, BothTagsOfAnErrorNameTheSameInterfaces) {
  EXPECT_EQ(comparable_abi_tag("a b c model-9f torch-none", "a b c component-0a model-1b torch-1.13.1"),
            "a b c model-1b torch-1.13.1");
}

TEST(AbiTest, TheHostNamesTheInterfaceOfEveryKind) {
  for (const char* kind : {"component", "accelerator", "collective", "strategy", "model", "dataset", "transform",
                           "environment", "device"}) {
    EXPECT_THAT(std::string(host_abi_tag()), ContainsRegex(std::string(" ") + kind + "-[0-9a-f]{12} ")) << kind;
  }
}

TEST_F(PluginFileTest, TheLabelIsReadWithoutLoading) {
  const PluginLabel label =
      read_plugin_label(library("tiny", "model\\ntiny\\n3\\nA small one.\\na b c torch-none", "model-1b"));
  EXPECT_EQ(label.kind, "model");
  EXPECT_EQ(label.name, "tiny");
  EXPECT_EQ(label.version, "3");
  EXPECT_EQ(label.description, "A small one.");
  EXPECT_EQ(label.abi_tag, "a b c model-1b torch-none");
}

TEST_F(PluginFileTest, APluginOfAnotherAbiIsRefusedWithBothTags) {
  const std::string path =
      library("old", "model\\nold\\n1\\nd\\ntrainyard-0.0 cxxabi-1 cxx11-0 torch-none", "model-1b");
  core::PluginLoader loader({directory_});
  const std::string error = error_of([&] { loader.load(path); });
  EXPECT_THAT(error, HasSubstr("trainyard-0.0 cxxabi-1 cxx11-0 model-1b torch-none"));
  EXPECT_THAT(error, HasSubstr(comparable_abi_tag("a b c model-1b torch-none", host_abi_tag())));
}

TEST_F(PluginFileTest, APluginThatDoesNotSayWhatItWasBuiltAgainstIsRefused) {
  const std::string path = library("mute", "model\\nmute\\n1\\nd\\n" TRAINYARD_ABI_TAG, "");
  core::PluginLoader loader({directory_});
  EXPECT_THAT(error_of([&] { loader.load(path); }), HasSubstr(" model-unknown torch-none'"));
}

TEST_F(PluginFileTest, WhatIsNoPluginIsNamedAsSuch) {
  const fs::path text = directory_ / "readme.so";
  std::ofstream(text) << "hello";
  EXPECT_THAT(error_of([&] { read_plugin_label(text); }), HasSubstr("is not a Trainyard plugin"));
  EXPECT_THAT(error_of([&] { read_plugin_label(directory_ / "absent.so"); }), HasSubstr("no plugin file"));
  const fs::path cut = directory_ / "cut.so";
  fs::copy_file(library("whole", "model\\nwhole\\n1\\nd\\ntag"), cut);
  for (const std::uintmax_t size : {0, 10, 64, 1000}) {
    fs::resize_file(cut, size);
    EXPECT_THAT(error_of([&] { read_plugin_label(cut); }), HasSubstr("is not a Trainyard plugin"));
  }
}

TEST_F(PluginFileTest, AnUnknownNameIsAnsweredWithTheNearestKnown) {
  library("convnet", "model\\nconvnet\\n1\\nd\\ntag");
  const core::PluginLoader loader({directory_});
  EXPECT_THAT(error_of([&] { loader.find("model", "convnte"); }),
              HasSubstr("no model named 'convnte'; did you mean 'convnet'? known: convnet"));
  EXPECT_THAT(error_of([&] { loader.find("dataset", "convnet"); }), HasSubstr("no dataset named 'convnet'"));
  EXPECT_THAT(error_of([&] { loader.find("model", "../models/convnet"); }), HasSubstr("no model named"));
}

TEST_F(PluginFileTest, APluginIsListedOnceWhereFoldersOverlap) {
  library("convnet", "model\\nconvnet\\n1\\nd\\ntag");
  const core::PluginLoader loader({directory_, directory_ / "models", directory_});
  EXPECT_EQ(loader.list().size(), 1u);
  EXPECT_THAT(error_of([&] { loader.find("model", "convnte"); }), HasSubstr("known: convnet (looked in"));
}

TEST_F(PluginFileTest, AFileThatEveryoneMayWriteIsRefused) {
  const std::string path = library("open", "model\\nopen\\n1\\nd\\n" TRAINYARD_ABI_TAG);
  fs::permissions(path, fs::perms::others_write, fs::perm_options::add);
  core::PluginLoader loader({directory_});
  EXPECT_THAT(error_of([&] { loader.load(path); }), HasSubstr("can be written by everyone"));
}

TEST_F(PluginFileTest, AFileOrAFolderOfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const std::string path = library("foreign", "model\\nforeign\\n1\\nd\\n" TRAINYARD_ABI_TAG);
  core::PluginLoader loader({directory_});
  constexpr uid_t kSomebody = 65'000;
  ASSERT_EQ(::chown(path.c_str(), kSomebody, 0), 0);
  EXPECT_THAT(error_of([&] { loader.load(path); }), HasSubstr("foreign.so belongs to user 65000, who could change it"));
  ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
  ASSERT_EQ(::chown(fs::path(path).parent_path().c_str(), kSomebody, 0), 0);
  EXPECT_THAT(error_of([&] { loader.load(path); }), HasSubstr("belongs to user 65000, who could change it"));
}

TEST_F(PluginFileTest, WhatWouldHangItsReaderIsPassedOverInAListAndNamedInASearch) {
  ASSERT_EQ(::mkfifo((directory_ / "pipe.so").c_str(), 0600), 0);
  ASSERT_EQ(::symlink("self.so", (directory_ / "self.so").c_str()), 0);
  ASSERT_EQ(::symlink(".", (directory_ / "folder").c_str()), 0);
  library("convnet", "model\\nconvnet\\n1\\nd\\ntag");
  const core::PluginLoader loader({directory_});
  ASSERT_EQ(loader.list().size(), 1u);
  EXPECT_THAT(error_of([&] { loader.find("model", "pipe"); }), HasSubstr("pipe.so: is a FIFO, not a file"));
  EXPECT_THAT(error_of([&] { loader.find("model", "self"); }),
              HasSubstr("self.so: cannot be read: Too many levels of symbolic links"));
}

TEST_F(PluginFileTest, APluginWithALabelButNoEntryIsRefused) {
  const std::string path = library("hollow", "model\\nhollow\\n1\\nd\\n" TRAINYARD_ABI_TAG);
  core::PluginLoader loader({directory_});
  EXPECT_THAT(error_of([&] { loader.load(path); }), HasSubstr("no entry"));
}

}  // namespace
}  // namespace trainyard
