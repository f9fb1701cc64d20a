// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "components/logger/tensorboard_event.h"
#include "messages/histogram.h"
#include "messages/validation_results.h"

namespace trainyard {

// Functions that make events for TensorBoard's pages for texts, images, histograms and hyper-parameters.

/// Returns an event with one text, which may contain Markdown.
std::string text_event(const EventPlace& place, std::string_view text);

/// Returns an event with the buckets of one histogram.
std::string histogram_event(const EventPlace& place, const Histogram& histogram);

/// Returns an event with images of the same size. Each image is the content of a PNG file.
std::string images_event(const EventPlace& place, std::uint32_t width, std::uint32_t height,
                         std::span<const std::string> images);

/// Returns the event that shows `values`, the hyper-parameters of a run. `wall_time` is in seconds since 1970. Lists
/// are converted to texts, and long texts are shortened.
std::string hyperparameters_event(double wall_time, const std::map<std::string, nlohmann::json>& values);

}  // namespace trainyard
