// SPDX-License-Identifier: Apache-2.0
#include "components/logger/insights_sink.h"

#include "components/logger/number_text.h"
#include "messages/json.h"

namespace trainyard {

void InsightsSink::line(std::string_view kind, std::int64_t time_ns, std::string_view message) {
  if (!file_) {
    drop_torn_line(path_);
    file_.emplace(path_);
  }
  std::string& out = file_->buffer();
  out.append("{\"kind\":\"").append(kind).append("\",\"time\":");
  append_seconds(out, time_ns);
  out.append(",\"message\":").append(message).append("}\n");
}

void InsightsSink::on(const Histograms& message) { line("histograms", message.time_ns, to_json(message)); }
void InsightsSink::on(const Confusion& message) { line("confusion", message.time_ns, to_json(message)); }
void InsightsSink::on(const SampleResults& message) { line("samples", message.time_ns, to_json(message)); }

void InsightsSink::flush() {
  if (file_) file_->flush();
}

}  // namespace trainyard
