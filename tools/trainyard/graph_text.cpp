// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/graph_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "messages/printable.h"

namespace trainyard::tools {
namespace {

using nlohmann::ordered_json;

/// Returns the topics between each pair of nodes that exchange messages.
std::map<std::pair<std::size_t, std::size_t>, std::vector<std::string>> topics_by_pair(const Graph& graph) {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::string>> pairs;
  for (const GraphEdge& edge : graph.edges) {
    std::vector<std::string>& topics = pairs[{edge.from, edge.to}];
    if (std::ranges::find(topics, edge.topic) == topics.end()) topics.push_back(edge.topic);
  }
  return pairs;
}

/// Returns the topics on which a node sends, each with its receivers, in the order of the edges.
std::vector<std::pair<std::string, std::vector<std::string>>> outputs_of(const Graph& graph, std::size_t node) {
  std::vector<std::pair<std::string, std::vector<std::string>>> outputs;
  for (const GraphEdge& edge : graph.edges) {
    if (edge.from != node) continue;
    auto output = std::ranges::find(outputs, edge.topic, &std::pair<std::string, std::vector<std::string>>::first);
    if (output == outputs.end()) output = outputs.insert(outputs.end(), {edge.topic, {}});
    if (std::ranges::find(output->second, graph.nodes[edge.to].name) == output->second.end()) {
      output->second.push_back(graph.nodes[edge.to].name);
    }
  }
  return outputs;
}

/// Joins names with commas, and breaks the text into lines of at most `width` characters. Every line begins at
/// `column`.
std::string wrapped(const std::vector<std::string>& names, std::size_t column, std::size_t width) {
  std::string text;
  std::size_t at = column;
  for (const std::string& name : names) {
    const bool last = &name == &names.back();
    const std::string word = printable_line(name) + (last ? "" : ",");
    if (at > column && width > column + 10 && at + 1 + word.size() > width) {
      text += "\n" + std::string(column, ' ');
      at = column;
    } else if (at > column) {
      text += ' ';
      ++at;
    }
    text += word;
    at += word.size();
  }
  return text;
}

/// Escapes text for a label in double quotes.
std::string dot_label(const std::string& text) {
  std::string label;
  for (const char c : printable_line(text)) label += (c == '"' || c == '\\') ? std::string{'\\', c} : std::string{c};
  return label;
}

std::string mermaid_label(const std::string& text) {
  std::string label;
  for (const char c : printable_line(text)) {
    switch (c) {
      case '"':
        label += "#quot;";
        break;
      case '<':
        label += "&lt;";
        break;
      case '&':
        label += "&amp;";
        break;
      default:
        label += c;
    }
  }
  return label;
}

std::vector<std::string> each(std::vector<std::string> texts, std::string (*change)(const std::string&)) {
  for (std::string& text : texts) text = change(text);
  return texts;
}

}  // namespace

std::string graph_text(const Graph& graph, std::size_t width, bool bold) {
  std::size_t longest = 0;
  for (const GraphEdge& edge : graph.edges) longest = std::max(longest, edge.topic.size());
  std::string text;
  for (const std::string& process : processes_of(graph)) {
    text += fmt::format("{}process {}\n", text.empty() ? "" : "\n", printable_line(process));
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const GraphNode& node = graph.nodes[i];
      if (node.process != process) continue;
      const std::string plugin = node.plugin.empty()        ? " (program)"
                                 : node.plugin == node.name ? ""
                                                            : fmt::format(" ({})", node.plugin);
      text += fmt::format("  {}{}{}{}\n", bold ? "\033[1m" : "", printable_line(node.name), bold ? "\033[0m" : "",
                          printable_line(plugin));
      for (const auto& [topic, receivers] : outputs_of(graph, i)) {
        const std::string line = fmt::format("    {:<{}} -> ", printable_line(topic), longest);
        text += line + wrapped(receivers, line.size(), width) + "\n";
      }
    }
  }
  return text;
}

std::string graph_mermaid(const Graph& graph) {
  std::string text = "flowchart LR\n";
  const std::vector<std::string> processes = processes_of(graph);
  for (std::size_t p = 0; p < processes.size(); ++p) {
    text += fmt::format("  subgraph p{}[\"process {}\"]\n", p, mermaid_label(processes[p]));
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      if (graph.nodes[i].process == processes[p])
        text += fmt::format("    c{}[\"{}\"]\n", i, mermaid_label(graph.nodes[i].name));
    }
    text += "  end\n";
  }
  for (const auto& [ends, topics] : topics_by_pair(graph)) {
    text += fmt::format("  c{} -- \"{}\" --> c{}\n", ends.first, fmt::join(each(topics, mermaid_label), "<br>"),
                        ends.second);
  }
  return text;
}

std::string graph_dot(const Graph& graph) {
  std::string text = fmt::format(
      "digraph \"{}\" {{\n  rankdir=LR\n  node [shape=box, style=rounded, fontname=\"sans-serif\"]\n"
      "  edge [fontname=\"sans-serif\", fontsize=10]\n",
      dot_label(graph.title));
  const std::vector<std::string> processes = processes_of(graph);
  for (std::size_t p = 0; p < processes.size(); ++p) {
    text += fmt::format("  subgraph cluster_{} {{\n    label=\"process {}\"\n", p, dot_label(processes[p]));
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      if (graph.nodes[i].process == processes[p])
        text += fmt::format("    c{} [label=\"{}\"]\n", i, dot_label(graph.nodes[i].name));
    }
    text += "  }\n";
  }
  for (const auto& [ends, topics] : topics_by_pair(graph)) {
    text += fmt::format("  c{} -> c{} [label=\"{}\"]\n", ends.first, ends.second,
                        fmt::join(each(topics, dot_label), "\\n"));
  }
  return text + "}\n";
}

std::string graph_json(const Graph& graph) {
  ordered_json all = {{"run", graph.title}, {"nodes", ordered_json::array()}, {"edges", ordered_json::array()}};
  for (const GraphNode& node : graph.nodes) {
    all["nodes"].push_back({{"component", node.name}, {"plugin", node.plugin}, {"process", node.process}});
  }
  for (const GraphEdge& edge : graph.edges) {
    all["edges"].push_back({{"from", graph.nodes[edge.from].name},
                            {"to", graph.nodes[edge.to].name},
                            {"topic", edge.topic},
                            {"policy", edge.policy}});
  }
  return all.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace trainyard::tools
