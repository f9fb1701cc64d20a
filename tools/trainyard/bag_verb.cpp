// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "tools/trainyard/bag.h"
#include "tools/trainyard/verbs.h"

namespace trainyard::tools {
namespace {

using BagOptions = std::shared_ptr<BagArguments>;

void add_record(CLI::App& verb, const BagOptions& arguments) {
  verb.add_option("TOPIC", arguments->topics, "names, or patterns with * (all topics)");
  verb.add_option("-o,--output", arguments->output, "a new file (the run's name with .mcap)")->type_name("FILE");
  verb.add_option("--exclude", arguments->exclude, "topics that are not recorded")
      ->expected(1)
      ->take_all()
      ->type_name("PATTERN");
  verb.add_option("--payloads", arguments->payloads, "bytes of tensors: none or inline (none)")
      ->check(CLI::IsMember({"none", "inline"}))
      ->type_name("");
  verb.add_option("--max-payload", arguments->max_payload_bytes,
                  "leave out the payloads of a message if they are\nlarger in total (16 MiB)")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("SIZE");
  verb.add_option("--max-size", arguments->max_bytes, "begin a new file at this size (1 GiB)")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("SIZE");
  verb.add_option("--max-files", arguments->max_files, "delete the oldest file if there are more; 0: never (8)")
      ->type_name("N");
  arguments->run.add_to(verb);
}

void add_info(CLI::App& verb, const BagOptions& arguments) {
  verb.add_option("FILE", arguments->path)->required();
  verb.add_flag("--json", arguments->as_json, "print JSON, for other programs");
}

void add_verify(CLI::App& verb, const BagOptions& arguments) { verb.add_option("FILE", arguments->path)->required(); }

void add_repair(CLI::App& verb, const BagOptions& arguments) {
  verb.add_option("FILE", arguments->path)->required();
  verb.add_option("NEW", arguments->output, "the new file, which must not exist yet")->required();
}

void add_play(CLI::App& verb, const BagOptions& arguments) {
  verb.add_option("FILE", arguments->path)->required();
  verb.add_option("TOPIC", arguments->topics, "names, or patterns with * (all topics)");
  verb.add_option("--rate", arguments->rate, "2 is twice as fast; 0 as fast as possible (1)")
      ->check(CLI::Range(0.0, 1e6));
  verb.add_option("--start", arguments->start_s, "skip this many seconds of the recording (0)")
      ->check(CLI::Range(0.0, 1e9));
  verb.add_flag("--loop", arguments->loop, "begin again at the end, until Ctrl-C");
  verb.add_flag("--wait", arguments->wait, "begin only when a program has subscribed");
}

void add_convert(CLI::App& verb, const BagOptions& arguments) {
  verb.add_option("FILE", arguments->path)->required();
  CLI::Option* topics = verb.add_option("TOPIC", arguments->topics, "names, or patterns with * (all topics)");
  CLI::Option* format = verb.add_option("--format", arguments->format, "jsonl or csv (jsonl)")
                            ->check(CLI::IsMember({"jsonl", "csv"}))
                            ->type_name("");
  CLI::Option* output =
      verb.add_option("-o,--output", arguments->output, "a file, or a folder for csv (standard output)")
          ->type_name("PATH");
  verb.add_option("--perfetto", arguments->perfetto, "write only the spans, to a new file for ui.perfetto.dev")
      ->excludes(output, format, topics)
      ->type_name("OUT");
}

}  // namespace

void add_bag(CLI::App& app, Action& chosen) {
  CLI::App* family = app.add_subcommand("bag", "Recordings of messages, as MCAP files")->require_subcommand(1);
  family->footer(
      "Examples:\n  trainyard bag record --exclude '*/batches'\n  trainyard bag info mnist-9ix.mcap\n"
      "  trainyard bag convert mnist-9ix.mcap /metrics --format csv");
  const auto arguments = std::make_shared<BagArguments>();
  const auto add = [&](const char* name, const char* help, void (*options)(CLI::App&, const BagOptions&),
                       int (*action)(const BagArguments&)) {
    CLI::App* verb = family->add_subcommand(name, help);
    options(*verb, arguments);
    verb->callback([=, &chosen] { chosen = [=] { return action(*arguments); }; });
  };
  add("record", "Record a run until it ends, or until Ctrl-C", add_record, bag_record);
  add("info", "Topics, counts, and whether the recording is complete", add_info, bag_info);
  add("play", "Publish a recording as if the run were under way", add_play, bag_play);
  add("convert", "Write messages as JSON lines or CSV", add_convert, bag_convert);
  add("verify", "Check every byte; exit code 1 if a file is damaged", add_verify, bag_verify);
  add("repair", "Copy the undamaged parts of FILE to NEW", add_repair, bag_repair);
}

}  // namespace trainyard::tools
