#include "tools/report/svg_chart.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tools/report/html.h"

namespace ort_ed {
namespace {

constexpr double kWidth = 480, kHeight = 280;
constexpr double kLeft = 68, kRight = 12, kTop = 10, kBottom = 42;
constexpr size_t kColors = 6;  // of the style sheet

struct Plane {
  Axis x, y;
  double width = kWidth, height = kHeight;

  double X(double value) const { return kLeft + x.Fraction(value) * (width - kLeft - kRight); }
  double Y(double value) const { return height - kBottom - y.Fraction(value) * (height - kTop - kBottom); }
};

std::string Grid(const Plane& plane) {
  std::string svg = R"(<g class="grid">)";
  const double bottom = plane.height - kBottom, right = plane.width - kRight;
  for (const Tick& tick : Ticks(plane.x, 5)) {
    const double x = plane.X(tick.value);
    if (x < kLeft - 0.5 || x > right + 0.5) continue;
    svg += fmt::format(R"(<text class="tick mid" x="{:.1f}" y="{:.1f}">{}</text>)", x, bottom + 17,
                       Escape(tick.label));
  }
  for (const Tick& tick : Ticks(plane.y, 5)) {
    const double y = plane.Y(tick.value);
    if (y < kTop - 0.5 || y > bottom + 0.5) continue;
    svg += fmt::format(R"(<line x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>)", kLeft, right, y, y);
    svg += fmt::format(R"(<text class="tick end" x="{:.1f}" y="{:.1f}">{}</text>)", kLeft - 7, y + 4,
                       Escape(tick.label));
  }
  svg += fmt::format(R"(<line class="axis" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/></g>)", kLeft,
                     right, bottom, bottom);
  svg += fmt::format(R"(<text class="label mid" x="{:.1f}" y="{:.1f}">{}</text>)", (kLeft + right) / 2,
                     plane.height - 6, Escape(plane.x.label));
  if (!plane.y.label.empty())
    svg +=
        fmt::format(R"svg(<text class="label mid" transform="translate(13 {:.1f}) rotate(-90)">{}</text>)svg",
                    (kTop + bottom) / 2, Escape(plane.y.label));
  return svg;
}

std::string Figure(const std::string& title, const std::vector<std::string>& legend, const Plane& plane,
                   const std::string& body, const std::string& note = "") {
  std::string html = fmt::format("<figure class=\"card chart\"><figcaption>{}</figcaption>", Escape(title));
  if (legend.size() > 1) {
    html += R"(<div class="legend">)";
    for (size_t i = 0; i < legend.size(); ++i)
      html += fmt::format(
          R"(<button type="button" aria-pressed="true" data-series="{}"><i class="c{}"></i>{}</button>)", i,
          i % kColors, Escape(legend[i]));
    html += "</div>";
  }
  html += fmt::format(R"(<svg viewBox="0 0 {} {}" role="img" aria-label="{}">)", plane.width, plane.height,
                      Escape(title));
  return html + Grid(plane) + body + "</svg>" + (note.empty() ? "" : "<p>" + Escape(note) + "</p>") +
         "</figure>\n";
}

// The means of neighbouring points, so that long series stay small.
LineSeries Thinned(const LineSeries& series) {
  constexpr size_t kMost = 160;
  if (series.x.size() <= kMost) return series;
  LineSeries thin{.name = series.name, .x = {}, .y = {}};
  for (size_t k = 0; k < kMost; ++k) {
    const size_t first = k * series.x.size() / kMost, last = (k + 1) * series.x.size() / kMost;
    double x = 0, y = 0;
    for (size_t i = first; i < last; ++i) x += series.x[i], y += series.y[i];
    thin.x.push_back(x / static_cast<double>(last - first));
    thin.y.push_back(y / static_cast<double>(last - first));
  }
  return thin;
}

std::string LineBody(const Plane& plane, const LineSeries& series, size_t index, bool logarithmic) {
  std::string path, marks;
  bool pen_down = false;
  const char* mark = series.x.size() == 1 ? "point" : "hit";  // a single point is no line
  for (size_t i = 0; i < series.x.size(); ++i) {
    if (!std::isfinite(series.y[i]) || (logarithmic && !(series.y[i] > 0))) {
      pen_down = false;
      continue;
    }
    const double x = plane.X(series.x[i]), y = plane.Y(series.y[i]);
    path += fmt::format("{}{:.1f} {:.1f}", pen_down ? "L" : "M", x, y);
    pen_down = true;
    marks += fmt::format(
        R"(<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="{}" data-tip="{}"/>)", mark, x, y,
        series.x.size() == 1 ? 4 : 9,
        Escape(fmt::format("{}: {} at step {:.0f}", series.name, Number(series.y[i]), series.x[i])));
  }
  return fmt::format(R"(<g data-series="{}" class="s{}"><path class="line" d="{}"/>{}</g>)", index,
                     index % kColors, path, marks);
}

struct Bins {
  double low = 0, width = 1;
  std::vector<double> fractions;
};

Bins Count(const std::vector<double>& values, const Axis& range, int bins) {
  Bins result{range.low, (range.high - range.low) / bins, std::vector<double>(static_cast<size_t>(bins))};
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    const double bin = std::clamp((value - result.low) / result.width, 0.0, bins - 1.0);
    result.fractions[static_cast<size_t>(bin)] += 1 / static_cast<double>(values.size());
  }
  return result;
}

std::string HistogramBody(const Plane& plane, const Bins& bins, const std::string& name, size_t index) {
  const double bottom = plane.Y(0);
  std::string path = fmt::format("M{:.1f} {:.1f}", plane.X(bins.low), bottom), hits;
  for (size_t i = 0; i < bins.fractions.size(); ++i) {
    const double start = bins.low + bins.width * static_cast<double>(i);
    const double left = plane.X(start), right = plane.X(start + bins.width);
    const double top = plane.Y(bins.fractions[i]);
    path += fmt::format("L{:.1f} {:.1f}L{:.1f} {:.1f}", left, top, right, top);
    if (bins.fractions[i] == 0) continue;
    hits += fmt::format(
        R"(<rect class="hit" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" data-tip="{}"/>)", left,
        top, right - left, std::max(bottom - top, 4.0),
        Escape(fmt::format("{}: {:.1f} % from {} to {}", name, 100 * bins.fractions[i], Number(start),
                           Number(start + bins.width))));
  }
  path += fmt::format("L{:.1f} {:.1f}Z",
                      plane.X(bins.low + bins.width * static_cast<double>(bins.fractions.size())), bottom);
  return fmt::format(R"(<g data-series="{}" class="s{}"><path class="area" d="{}"/>{}</g>)", index,
                     index % kColors, path, hits);
}

}  // namespace

std::string LineSvg(const LineChart& chart) {
  std::vector<double> xs, ys;
  std::vector<LineSeries> series;
  std::vector<std::string> names;
  for (const LineSeries& one : chart.series) {
    series.push_back(Thinned(one));
    names.push_back(one.name);
    xs.insert(xs.end(), series.back().x.begin(), series.back().x.end());
    ys.insert(ys.end(), series.back().y.begin(), series.back().y.end());
  }
  const Plane plane{MakeAxis(xs, false, chart.x_label), MakeAxis(ys, chart.logarithmic_y, chart.y_label)};
  std::string body;
  for (size_t i = 0; i < series.size(); ++i) body += LineBody(plane, series[i], i, chart.logarithmic_y);
  return Figure(chart.title, names, plane, body);
}

std::string HistogramSvg(const HistogramChart& chart) {
  std::vector<double> all;
  std::vector<std::string> names;
  for (const HistogramSeries& one : chart.series) {
    all.insert(all.end(), one.values.begin(), one.values.end());
    names.push_back(one.name);
  }
  const Axis x = MakeAxis(all, false, chart.x_label);
  double highest = 0;
  std::vector<Bins> bins;
  for (const HistogramSeries& one : chart.series) {
    bins.push_back(Count(one.values, x, chart.bins));
    highest = std::max(highest, *std::ranges::max_element(bins.back().fractions));
  }
  const Plane plane{x, {.low = 0, .high = highest > 0 ? 1.05 * highest : 1, .label = "fraction of rows"}};
  std::string body;
  for (size_t i = 0; i < bins.size(); ++i) body += HistogramBody(plane, bins[i], names[i], i);
  return Figure(chart.title, names, plane, body);
}

std::string ScatterSvg(const ScatterChart& chart) {
  const Plane plane{{.low = chart.low, .high = chart.high, .label = chart.x_label},
                    {.low = chart.low, .high = chart.high, .label = chart.y_label},
                    kWidth,
                    400};
  std::string body =
      fmt::format(R"(<line class="diagonal" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)",
                  plane.X(chart.low), plane.Y(chart.low), plane.X(chart.high), plane.Y(chart.high));
  body += R"(<g class="s0">)";
  for (const ScatterPoint& point : chart.points)
    body += fmt::format(R"(<circle class="point" cx="{:.1f}" cy="{:.1f}" r="4" data-tip="{}"/>)",
                        plane.X(point.x), plane.Y(point.y), Escape(point.tip));
  return Figure(chart.title, {}, plane, body + "</g>", chart.note);
}

}  // namespace ort_ed
