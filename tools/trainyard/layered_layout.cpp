// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/layered_layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trainyard::tools {
namespace {

constexpr double kGapBetweenLayers = 56;
constexpr double kGapBetweenBoxes = 16;
constexpr double kGapBetweenLines = 10;
constexpr double kMargin = 16;
constexpr int kOrderSweeps = 24;
constexpr int kPlaceSweeps = 12;

/// A box, or a point at which an arrow crosses a layer between its two ends.
struct Vertex {
  std::size_t layer = 0;
  double height = 0;
  double y = 0;  ///< The vertical position of the centre.
  bool is_box = false;
  std::vector<std::size_t> left = {};   ///< The neighbours in the layer to the left.
  std::vector<std::size_t> right = {};  ///< The neighbours in the layer to the right.
};

/// Computes the layout of one drawing.
class Layout {
 public:
  Layout(std::vector<LayoutBox>& boxes, std::vector<LayoutArrow>& arrows) : boxes_(boxes), arrows_(arrows) {}

  Point run() {
    turn_cycles();
    assign_layers();
    make_vertices();
    order_layers();
    place_vertices();
    return write_back();
  }

 private:
  /// An arrow, reversed if necessary so that it leads from left to right.
  struct Line {
    std::size_t from = 0;
    std::size_t to = 0;
    bool turned = false;
    std::vector<std::size_t> vertices = {};  ///< The vertices through which the arrow passes, including both ends.
  };

  // Reverses the arrows that close a cycle. A depth-first search finds them: they lead to a box whose search has not
  // finished.
  void turn_cycles() {
    for (const LayoutArrow& arrow : arrows_) lines_.push_back({arrow.from, arrow.to});
    std::vector<int> state(boxes_.size(), 0);
    for (std::size_t box = 0; box < boxes_.size(); ++box) {
      if (state[box] == 0) search(box, state);
    }
  }

  // The depth of this recursion is at most the number of boxes, which is small enough.
  void search(std::size_t box, std::vector<int>& state) {
    state[box] = 1;
    for (Line& line : lines_) {
      if (line.from != box || line.turned || line.from == line.to) continue;
      if (state[line.to] == 1) {
        std::swap(line.from, line.to);
        line.turned = true;
      } else if (state[line.to] == 0) {
        search(line.to, state);
      }
    }
    state[box] = 2;
  }

  // Puts every box into the layer that is given by the longest path from a box without predecessors. Then moves the
  // boxes without predecessors to the right, next to their successors.
  void assign_layers() {
    layers_of_.assign(boxes_.size(), 0);
    for (std::size_t round = 0; round < boxes_.size(); ++round) {
      bool changed = false;
      for (const Line& line : lines_) {
        if (line.from == line.to || layers_of_[line.to] > layers_of_[line.from]) continue;
        layers_of_[line.to] = layers_of_[line.from] + 1;
        changed = true;
      }
      if (!changed) break;
    }
    for (std::size_t box = 0; box < boxes_.size(); ++box) {
      std::size_t nearest = boxes_.size();
      bool is_source = true;
      for (const Line& line : lines_) {
        if (line.from == line.to) continue;
        if (line.to == box) is_source = false;
        if (line.from == box) nearest = std::min(nearest, layers_of_[line.to]);
      }
      if (is_source && nearest < boxes_.size()) layers_of_[box] = nearest - 1;
    }
  }

  void make_vertices() {
    for (std::size_t box = 0; box < boxes_.size(); ++box) {
      vertices_.push_back({.layer = layers_of_[box], .height = boxes_[box].height, .is_box = true});
    }
    for (Line& line : lines_) {
      if (line.from == line.to) continue;
      line.vertices.push_back(line.from);
      for (std::size_t layer = layers_of_[line.from] + 1; layer < layers_of_[line.to]; ++layer) {
        vertices_.push_back({.layer = layer});
        line.vertices.push_back(vertices_.size() - 1);
      }
      line.vertices.push_back(line.to);
      for (std::size_t i = 1; i < line.vertices.size(); ++i) {
        vertices_[line.vertices[i - 1]].right.push_back(line.vertices[i]);
        vertices_[line.vertices[i]].left.push_back(line.vertices[i - 1]);
      }
    }
    for (std::size_t v = 0; v < vertices_.size(); ++v) {
      layers_.resize(std::max(layers_.size(), vertices_[v].layer + 1));
      layers_[vertices_[v].layer].push_back(v);
    }
  }

  // Sorts every layer by the mean position of the neighbours, alternately from left to right and from right to left,
  // and keeps the order with the fewest crossings.
  void order_layers() {
    std::vector<std::vector<std::size_t>> best = layers_;
    std::size_t fewest = crossings();
    for (int sweep = 0; sweep < kOrderSweeps && fewest > 0; ++sweep) {
      const bool rightwards = sweep % 2 == 0;
      for (std::size_t i = 1; i < layers_.size(); ++i) {
        sort_layer(rightwards ? i : layers_.size() - 1 - i, rightwards);
      }
      if (const std::size_t now = crossings(); now < fewest) {
        fewest = now;
        best = layers_;
      }
    }
    layers_ = best;
  }

  std::vector<std::size_t> positions() const {
    std::vector<std::size_t> position(vertices_.size());
    for (const auto& layer : layers_) {
      for (std::size_t i = 0; i < layer.size(); ++i) position[layer[i]] = i;
    }
    return position;
  }

  void sort_layer(std::size_t layer, bool by_left) {
    const std::vector<std::size_t> position = positions();
    std::vector<double> wish(vertices_.size());
    for (const std::size_t v : layers_[layer]) {
      const auto& neighbours = by_left ? vertices_[v].left : vertices_[v].right;
      double sum = 0;
      for (const std::size_t neighbour : neighbours) sum += static_cast<double>(position[neighbour]);
      wish[v] = neighbours.empty() ? static_cast<double>(position[v]) : sum / static_cast<double>(neighbours.size());
    }
    std::ranges::stable_sort(layers_[layer], {}, [&](std::size_t v) { return wish[v]; });
  }

  // Returns the number of crossings. Two lines between the same two layers cross if their ends are in different orders.
  std::size_t crossings() const {
    const std::vector<std::size_t> position = positions();
    std::size_t count = 0;
    for (const auto& layer : layers_) {
      std::vector<std::pair<std::size_t, std::size_t>> ends;
      for (const std::size_t v : layer) {
        for (const std::size_t neighbour : vertices_[v].right) ends.emplace_back(position[v], position[neighbour]);
      }
      for (std::size_t i = 0; i < ends.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          count += (ends[j].first < ends[i].first && ends[j].second > ends[i].second) ||
                   (ends[j].first > ends[i].first && ends[j].second < ends[i].second);
        }
      }
    }
    return count;
  }

  void place_vertices() {
    for (auto& layer : layers_) place_layer(layer, std::vector<double>(layer.size(), 0.0));
    for (int sweep = 0; sweep < kPlaceSweeps; ++sweep) {
      for (std::size_t i = 0; i < layers_.size(); ++i) {
        const auto& layer = layers_[sweep % 2 == 0 ? i : layers_.size() - 1 - i];
        std::vector<double> wishes;
        for (const std::size_t v : layer) wishes.push_back(mean_of_neighbours(vertices_[v]));
        place_layer(layer, wishes);
      }
    }
  }

  double mean_of_neighbours(const Vertex& vertex) const {
    double sum = 0;
    for (const std::size_t neighbour : vertex.left) sum += vertices_[neighbour].y;
    for (const std::size_t neighbour : vertex.right) sum += vertices_[neighbour].y;
    const std::size_t count = vertex.left.size() + vertex.right.size();
    return count == 0 ? vertex.y : sum / static_cast<double>(count);
  }

  // Moves the vertices of a layer as close to their preferred positions as their order and sizes allow, in the sense of
  // least squares. Neighbours that would overlap are joined into a cluster, which moves to the mean of its preferred
  // positions (isotonic regression).
  void place_layer(const std::vector<std::size_t>& layer, const std::vector<double>& wishes) {
    struct Cluster {
      double sum = 0;
      std::size_t count = 0;
      double mean() const { return sum / static_cast<double>(count); }
    };
    std::vector<double> offsets(layer.size(), 0);  // The smallest possible distances from the first vertex.
    for (std::size_t i = 1; i < layer.size(); ++i) {
      const Vertex& above = vertices_[layer[i - 1]];
      const Vertex& below = vertices_[layer[i]];
      const double gap = above.is_box && below.is_box ? kGapBetweenBoxes : kGapBetweenLines;
      offsets[i] = offsets[i - 1] + above.height / 2 + gap + below.height / 2;
    }
    std::vector<Cluster> clusters;
    for (std::size_t i = 0; i < layer.size(); ++i) {
      clusters.push_back({wishes[i] - offsets[i], 1});
      while (clusters.size() > 1 && clusters[clusters.size() - 2].mean() > clusters.back().mean()) {
        clusters[clusters.size() - 2].sum += clusters.back().sum;
        clusters[clusters.size() - 2].count += clusters.back().count;
        clusters.pop_back();
      }
    }
    std::size_t i = 0;
    for (const Cluster& cluster : clusters) {
      for (std::size_t n = 0; n < cluster.count; ++n, ++i) vertices_[layer[i]].y = cluster.mean() + offsets[i];
    }
  }

  Point write_back() {
    double top = 0, bottom = 0;
    for (const Vertex& vertex : vertices_) {
      top = std::min(top, vertex.y - vertex.height / 2);
      bottom = std::max(bottom, vertex.y + vertex.height / 2);
    }
    for (Vertex& vertex : vertices_) vertex.y += kMargin - top;
    std::vector<double> left(layers_.size(), kMargin);
    std::vector<double> widths(layers_.size(), 0);
    for (std::size_t box = 0; box < boxes_.size(); ++box) {
      widths[layers_of_[box]] = std::max(widths[layers_of_[box]], boxes_[box].width);
    }
    for (std::size_t i = 1; i < layers_.size(); ++i) left[i] = left[i - 1] + widths[i - 1] + kGapBetweenLayers;
    for (std::size_t box = 0; box < boxes_.size(); ++box) {
      const std::size_t layer = layers_of_[box];
      boxes_[box].corner = {left[layer] + (widths[layer] - boxes_[box].width) / 2,
                            vertices_[box].y - boxes_[box].height / 2};
    }
    for (std::size_t i = 0; i < lines_.size(); ++i) arrows_[i].points = points_of(i, left, widths);
    const double right = layers_.empty() ? kMargin : left.back() + widths.back();
    return {right + kMargin, bottom - top + 2 * kMargin};
  }

  std::vector<Point> points_of(std::size_t number, const std::vector<double>& left,
                               const std::vector<double>& widths) const {
    const Line& line = lines_[number];
    if (line.vertices.empty()) return {};
    const LayoutBox& first = boxes_[line.from];
    std::vector<Point> points{{first.corner.x + first.width, end_at(line.from, number, true)}};
    for (std::size_t i = 1; i + 1 < line.vertices.size(); ++i) {
      const Vertex& vertex = vertices_[line.vertices[i]];
      points.push_back({left[vertex.layer], vertex.y});
      points.push_back({left[vertex.layer] + widths[vertex.layer], vertex.y});
    }
    points.push_back({boxes_[line.to].corner.x, end_at(line.to, number, false)});
    if (line.turned) std::ranges::reverse(points);
    return points;
  }

  // Returns the vertical position at which a line meets a box. The lines on one side of a box are evenly spaced, in the
  // order of the positions of their other ends.
  double end_at(std::size_t box, std::size_t number, bool at_right) const {
    std::vector<std::pair<double, std::size_t>> ends;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const Line& line = lines_[i];
      if (line.vertices.empty() || (at_right ? line.from : line.to) != box) continue;
      const std::size_t next = at_right ? line.vertices[1] : line.vertices[line.vertices.size() - 2];
      ends.emplace_back(vertices_[next].y, i);
    }
    std::ranges::sort(ends);
    const auto place = std::ranges::find(ends, number, &std::pair<double, std::size_t>::second) - ends.begin();
    const double step = boxes_[box].height / static_cast<double>(ends.size() + 1);
    return boxes_[box].corner.y + step * static_cast<double>(place + 1);
  }

  std::vector<LayoutBox>& boxes_;
  std::vector<LayoutArrow>& arrows_;
  std::vector<Line> lines_;
  std::vector<std::size_t> layers_of_;  ///< The layer of each box.
  std::vector<Vertex> vertices_;        ///< All vertices; the boxes come first.
  std::vector<std::vector<std::size_t>> layers_;
};

}  // namespace

Point lay_out(std::vector<LayoutBox>& boxes, std::vector<LayoutArrow>& arrows) { return Layout(boxes, arrows).run(); }

}  // namespace trainyard::tools
