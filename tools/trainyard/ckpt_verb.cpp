// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "checkpoints/checkpoint_reader.h"
#include "messages/printable.h"
#include "messages/tensor.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/table.h"
#include "tools/trainyard/verbs.h"

namespace trainyard::tools {
namespace {

/// The arguments of `ckpt show` and `ckpt verify`. Only one of them runs, so they share one struct.
struct CheckpointArguments {
  std::string path;
  bool tensors = false;
  bool as_json = false;
};

/// Returns the number of elements in all tensors of a file, including the buffers of the model.
std::uint64_t elements_of(const checkpoints::SafetensorsHeader& header) {
  std::uint64_t elements = 0;
  for (const checkpoints::SafetensorsEntry& entry : header.tensors)
    elements += (entry.end - entry.begin) / size_of(entry.dtype);
  return elements;
}

/// Returns a summary as JSON, without the list of tensors.
nlohmann::json to_json(const checkpoints::CheckpointSummary& checkpoint) {
  nlohmann::json metrics = nlohmann::json::object();
  for (const Scalar& metric : checkpoint.run.metrics) metrics[metric.name] = metric.value;
  return {{"path", checkpoint.path},
          {"step", checkpoint.run.step},
          {"epoch", checkpoint.run.epoch},
          {"samples", checkpoint.run.samples},
          {"reason", checkpoint.run.reason},
          {"time", checkpoint.run.time},
          {"model", checkpoint.run.model},
          {"optimizer", checkpoint.run.optimizer},
          {"metrics", metrics},
          {"bytes", checkpoint.bytes},
          {"tensors", checkpoint.model.tensors.size()},
          {"parameters", elements_of(checkpoint.model)},
          {"trainyard", checkpoint.manifest.trainyard}};
}

/// Prints the tensors of a file, in the order of the file.
void print_tensors(const checkpoints::SafetensorsHeader& header) {
  Table table({"tensor", "dtype", "shape"});
  for (const checkpoints::SafetensorsEntry& entry : header.tensors) {
    table.add({entry.name, std::string(checkpoints::safetensors_name_of(entry.dtype)), to_text(entry.shape)});
  }
  std::printf("\n%s", table.text(use_colours()).c_str());
}

/// Prints the tensors of all states, in the order of the files. The blocks that single ranks have saved for the
/// optimizer are listed with the optimizer's state.
void print_state_tensors(const checkpoints::CheckpointSummary& checkpoint) {
  std::map<std::string, std::string> owners;
  for (const SavedState& state : checkpoint.run.states) {
    for (const StateTensor& tensor : state.tensors) {
      owners[checkpoints::state_tensor_name(state, tensor.name)] = state.owner;
    }
  }
  Table table({"state tensor", "owner", "dtype", "shape"});
  for (const checkpoints::SafetensorsEntry& entry : checkpoint.state->tensors) {
    const auto owner = owners.find(entry.name);
    table.add({entry.name, owner == owners.end() ? "optimizer" : owner->second,
               std::string(checkpoints::safetensors_name_of(entry.dtype)), to_text(entry.shape)});
  }
  std::printf("\n%s", table.text(use_colours()).c_str());
}

/// Prints a checkpoint. The names come from the checkpoint, so characters that could control the terminal are replaced.
void print(const checkpoints::CheckpointSummary& checkpoint, bool tensors) {
  const checkpoints::RunRecord& run = checkpoint.run;
  fmt::print("{}\n", printable_line(checkpoint.path));
  fmt::print("step {}, epoch {}, {} samples; saved {}, reason: {}\n", run.step, run.epoch, run.samples,
             printable_line(run.time), printable_line(run.reason));
  fmt::print("model {}: {} tensors, {} numbers; optimizer: {}\n", printable_line(run.model),
             checkpoint.model.tensors.size(), elements_of(checkpoint.model),
             run.optimizer.empty() ? "none" : printable_line(run.optimizer));
  for (const Scalar& metric : run.metrics) fmt::print("{}: {:g}\n", printable_line(metric.name), metric.value);
  for (const auto& [name, digest] : checkpoint.manifest.files) {
    // Sixteen digits are enough for people to compare hashes.
    fmt::print("{:<24} {:>12} bytes  sha256 {:.16}...\n", printable_line(name), digest.bytes,
               printable_line(digest.sha256));
  }
  if (!tensors) return;
  print_tensors(checkpoint.model);
  if (checkpoint.state) print_state_tensors(checkpoint);
}

/// Shows a checkpoint. Throws if its small files or the headers of its tensor files are damaged. Only `ckpt verify`
/// detects damaged values of tensors.
int show(const CheckpointArguments& arguments) {
  const checkpoints::CheckpointSummary checkpoint =
      checkpoints::read_checkpoint(checkpoints::find_checkpoint(arguments.path));
  if (arguments.as_json) {
    std::printf("%s\n", to_json(checkpoint).dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  } else {
    print(checkpoint, arguments.tensors);
  }
  return kExitOk;
}

/// Verifies a checkpoint. Prints one line to stderr for each fault, so that stdout contains only the result, for
/// scripts.
int verify(const CheckpointArguments& arguments) {
  // The path may be a folder of checkpoints; the message names the checkpoint that was verified.
  const std::string path = checkpoints::find_checkpoint(arguments.path);
  const std::vector<std::string> faults = checkpoints::verify_checkpoint(path);
  for (const std::string& fault : faults) fmt::print(stderr, "trainyard: {}\n", printable_line(fault));
  if (!faults.empty()) return kExitFailed;
  fmt::print("{}: whole\n", printable_line(path));
  return kExitOk;
}

}  // namespace

void add_ckpt(CLI::App& app, Action& chosen) {
  CLI::App* family = app.add_subcommand("ckpt", "Checkpoints on disk")->require_subcommand(1);
  family->footer(
      "PATH is a checkpoint, or a folder of checkpoints, whose `last` is then used.\n"
      "Examples:\n  trainyard ckpt show runs/mnist/checkpoints\n  trainyard ckpt verify runs/mnist/checkpoints/best");
  // The arguments are shared by the parser's options and the action, which runs after this function has returned.
  const auto arguments = std::make_shared<CheckpointArguments>();
  CLI::App* shower = family->add_subcommand("show", "Show what a checkpoint contains; reads only headers");
  shower->add_option("PATH", arguments->path)->required();
  shower->add_flag("--tensors", arguments->tensors, "list every tensor of the model and of the saved states");
  shower->add_flag("--json", arguments->as_json, "print JSON, for other programs");
  shower->callback([=, &chosen] { chosen = [=] { return show(*arguments); }; });
  CLI::App* verifier = family->add_subcommand("verify", "Read every byte and compare with the manifest's hashes");
  verifier->add_option("PATH", arguments->path)->required();
  verifier->callback([=, &chosen] { chosen = [=] { return verify(*arguments); }; });
}

}  // namespace trainyard::tools
