// SPDX-License-Identifier: Apache-2.0
#include "recordings/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "messages/error.h"
#include "messages/log_record.h"
#include "recordings/limits.h"
#include "recordings/message_text.h"
#include "recordings/viewer_schema.h"

namespace trainyard::recordings {
namespace {

/// The largest number of chunks in a file. Their index is in memory until the file is closed and then has about 30 MB.
constexpr std::size_t kMostChunksPerFile = 100'000;

}  // namespace

std::string part_path(const std::string& path, std::uint64_t number) {
  if (number == 1) return path;
  std::filesystem::path part(path);
  part.replace_filename(fmt::format("{}_{}{}", part.stem().string(), number, part.extension().string()));
  return part.string();
}

Recorder::Recorder(Options options) : options_(std::move(options)) { open_file(); }
Recorder::~Recorder() = default;

void Recorder::open_file() {
  ++files_;
  std::string path = part_path(options_.path, ++number_);
  while (options_.number_existing && std::filesystem::exists(path)) path = part_path(options_.path, ++number_);
  writer_ = std::make_unique<McapWriter>(path, FileHeader{"", "trainyard " TRAINYARD_VERSION});
  paths_.push_back(path);
  TextMap facts = options_.run;
  facts["part"] = fmt::to_string(files_);
  writer_->write(Metadata{kRunMetadata, std::move(facts)});
}

void Recorder::take(const Arrival& arrival) {
  Stream& stream = stream_of(arrival);
  text_.clear();
  const bool with_payloads = stream.with_extras && keeps(arrival.payloads);
  append_message(arrival.feed->schema, arrival.body, stream.with_extras ? arrival.header.trace : 0,
                 with_payloads ? arrival.payloads : std::span<const std::string_view>(), text_);
  if (text_.size() > kMostMessageBytes)
    throw Error(Code::kCorrupt, "a message on '{}' is too large", arrival.feed->topic);
  const std::uint64_t missed = stream.sequence.count(arrival.header.sequence);
  for (TopicCount* count : {stream.all, stream.file}) {
    ++count->arrived;
    count->missed += missed;
  }
  writer_->write({.channel = stream.channel,
                  .sequence = static_cast<std::uint32_t>(arrival.header.sequence),
                  .log_time = arrival.time_ns,
                  .publish_time = static_cast<std::uint64_t>(arrival.header.send_time_ns),
                  .data = text_});
}

bool Recorder::keeps(std::span<const std::string_view> payloads) const {
  std::uint64_t bytes = 0;
  for (const std::string_view payload : payloads) bytes += payload.size();
  return bytes != 0 && bytes <= options_.max_payload_bytes;
}

Recorder::Stream& Recorder::stream_of(const Arrival& arrival) {
  Stream& stream = streams_[{arrival.feed.get(), arrival.header.source}];
  if (stream.channel != 0) return stream;
  stream.feed = arrival.feed;
  stream.all = &all_.topics[arrival.feed->topic];
  stream.file = &file_.topics[arrival.feed->topic];
  if (options_.from_start && !stream.sequence.begun()) stream.sequence.expect(0);
  stream.with_extras = !uses_reserved_names(arrival.feed->schema);
  stream.channel = add_channel(arrival);
  return stream;
}

std::uint16_t Recorder::add_channel(const Arrival& arrival) {
  const Feed& feed = *arrival.feed;
  ChannelRecord channel{.schema = schema_of(feed), .topic = feed.topic, .encoding = "json"};
  // Log records are sent by processes and not by components, so their source is not the index of a component.
  const bool named = options_.component_name && feed.topic != kLogTopic;
  const std::string component = named ? options_.component_name(arrival.header.source) : "";
  channel.metadata = {{kTypeKey, feed.schema.structs.at(0).name},
                      {kFingerprintKey, fmt::format("{:016x}", fingerprint(feed.schema_text))},
                      {kSchemaKey, feed.schema_text},
                      {kComponentKey, component},
                      {kProcessKey, feed.process},
                      {kSourceKey, fmt::to_string(arrival.header.source)}};
  return writer_->add(std::move(channel));
}

std::uint16_t Recorder::schema_of(const Feed& feed) {
  std::uint16_t& schema = schemas_[feed.schema_text];
  if (schema == 0) {
    schema = writer_->add(SchemaRecord{
        .name = feed.schema.structs.at(0).name, .encoding = "jsonschema", .data = to_viewer_schema(feed.schema)});
  }
  return schema;
}

void Recorder::tick(Clock::time_point now) {
  writer_->flush_if_due(now);
  const bool large = options_.max_bytes != 0 && writer_->bytes() >= options_.max_bytes;
  if (large || writer_->chunks() >= kMostChunksPerFile) rotate();
}

void Recorder::rotate() {
  close_file("the recording goes on in the next file", "");
  open_file();
  while (options_.max_files != 0 && paths_.size() > options_.max_files) {
    std::remove(paths_.front().c_str());
    paths_.pop_front();
  }
}

void Recorder::close_file(const std::string& ended, const std::string& cut_short) {
  writer_->flush();
  file_.ended = ended;
  file_.cut_short = cut_short;
  writer_->write(Metadata{kCountsMetadata, to_metadata(file_)});
  writer_->close();
  closed_bytes_ += writer_->bytes();
  file_ = {};
  schemas_.clear();
  for (auto& [key, stream] : streams_) stream.channel = 0;
}

void Recorder::finish(const std::string& ended, const std::string& cut_short) {
  all_.ended = ended;
  all_.cut_short = cut_short;
  const std::uint64_t before = closed_bytes_;
  close_file(ended, cut_short);
  closed_bytes_ = before;  // bytes() adds the size of the last file.
}

}  // namespace trainyard::recordings
