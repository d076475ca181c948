#include "tools/report/sections.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "runtime/support/text.h"
#include "tools/picture/pictures.h"
#include "tools/plot/training_charts.h"
#include "tools/report/html.h"
#include "tools/report/row_table.h"
#include "tools/report/svg_chart.h"

namespace ort_ed {
namespace {

using Shape = std::optional<std::vector<int64_t>>;

std::string Card(const std::string& title, const std::string& body, const std::string& note = "") {
  return fmt::format("<div class=\"card\"><h3>{}</h3>{}{}</div>\n", Escape(title), body,
                     note.empty() ? "" : "<p>" + Escape(note) + "</p>");
}

std::string Figure(const std::string& name, const std::string& value, const std::string& note = "") {
  return fmt::format("<div><dt>{}</dt><dd>{}{}</dd></div>\n", Escape(name), Escape(value),
                     note.empty() ? "" : "<small>" + Escape(note) + "</small>");
}

std::string PlusMinus(double error) {
  return std::isfinite(error) ? fmt::format("± {:.3g}", error) : "error not known";
}

// Images where the model knows their shape, else one picture with a row of pixels for each row.
Canvas RowsPicture(std::span<const uint8_t> rows, int64_t dimension, const Shape& shape) {
  const auto count = static_cast<int64_t>(rows.size()) / dimension;
  if (shape) return SampleGridPicture(rows, static_cast<int>((*shape)[0]), static_cast<int>((*shape)[1]));
  return SampleGridPicture(rows, static_cast<int>(count), static_cast<int>(dimension));
}

std::span<const uint8_t> FirstRows(const RowTable& table, int64_t rows) {
  return std::span(table.values).first(static_cast<size_t>(std::min(rows, table.rows) * table.columns));
}

std::string FirstRowsAsTable(const Variables& variables, const RowTable& table) {
  constexpr int64_t kMost = 15;
  std::vector<ShownRow> rows;
  for (int64_t row = 0; row < std::min(kMost, table.rows); ++row) rows.push_back({{}, table.Row(row)});
  return RowTableHtml(variables, {}, rows);
}

// Of rows: beside one another as pictures, one below the other as tables.
std::string RowCards(const Variables& variables, const std::string& cards) {
  return fmt::format("<div class=\"{}\">\n{}</div>\n", variables.all_binary() ? "grid-2" : "grid-1", cards);
}

std::string Duration(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

// "42 s", and where the model is not that of the last step, of which one it is.
std::string CostNote(const ModelSource& source) {
  std::vector<std::string> notes;
  if (source.cost.seconds) notes.push_back(Duration(*source.cost.seconds));
  if (source.step && source.step != source.cost.steps)
    notes.push_back(fmt::format("best validation at step {}", *source.step));
  return Join(notes, "; ");
}

std::string NameOf(const ReportView& view, int64_t variable) {
  return view.data->names[static_cast<size_t>(variable)];
}

double LogLikelihood(const ReportView& view, int64_t row) {
  return -view.result.data_energies[static_cast<size_t>(row)] - view.result.log_z->log_z;
}

std::string ScoreText(const ReportView& view, int64_t row) {
  if (view.result.log_likelihood) return fmt::format("log p {}", Number(LogLikelihood(view, row)));
  return fmt::format("energy {}", Number(view.result.data_energies[static_cast<size_t>(row)]));
}

std::string RowImages(const ReportView& view, const std::vector<int64_t>& rows) {
  std::string html = "<div class=\"rows\">";
  for (const int64_t row : rows)
    html += fmt::format("<figure>{}row {}<br>{}</figure>",
                        Image(RowsPicture(view.data->rows.Row(row), view.result.dimension,
                                          view.source.model.metadata().image_shape),
                              fmt::format("row {}", row + 1)),
                        row + 1, Escape(ScoreText(view, row)));
  return html + "</div>";
}

std::string OnesOf(const ReportView& view, int64_t row) {
  constexpr size_t kMost = 24;
  std::vector<std::string> names;
  for (int64_t i = 0; i < view.result.dimension; ++i)
    if (view.data->rows.Row(row)[static_cast<size_t>(i)] != 0) names.push_back(NameOf(view, i));
  if (names.empty()) return "none";
  const size_t all = names.size();
  names.resize(std::min(all, kMost));
  return Join(names, ", ") + (all > kMost ? fmt::format(" and {} more", all - kMost) : "");
}

std::string ScoreCell(const ReportView& view, int64_t row) {
  return Number(view.result.log_likelihood ? LogLikelihood(view, row)
                                           : view.result.data_energies[static_cast<size_t>(row)]);
}

const char* ScoreName(const ReportView& view) { return view.result.log_likelihood ? "log p" : "energy"; }

std::string RowsAsTable(const ReportView& view, const std::vector<int64_t>& rows) {
  std::vector<ShownRow> shown;
  for (const int64_t row : rows)
    shown.push_back({{std::to_string(row + 1), ScoreCell(view, row)}, view.data->rows.Row(row)});
  return RowTableHtml(view.result.variables, {"row", ScoreName(view)}, shown);
}

std::string OnesTableHtml(const ReportView& view, const std::vector<int64_t>& rows) {
  std::string html = fmt::format(
      "<div class=\"scroll\"><table><tr><th>row</th><th>{}</th><th>variables that are 1</th></tr>",
      ScoreName(view));
  for (const int64_t row : rows)
    html += fmt::format("<tr><td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>", row + 1,
                        ScoreCell(view, row), Escape(OnesOf(view, row)));
  return html + "</table></div>";
}

std::string Agreement(const std::vector<ScatterPoint>& points) {
  double squares = 0;
  for (const ScatterPoint& point : points) squares += (point.x - point.y) * (point.x - point.y);
  return fmt::format("{} points; root mean square difference {}", points.size(),
                     Number(std::sqrt(squares / static_cast<double>(std::max<size_t>(points.size(), 1)))));
}

std::string SummaryRow(const HistogramSeries& series) {
  const auto n = static_cast<double>(series.values.size());
  double sum = 0, squares = 0;
  for (const double value : series.values) sum += value;
  for (const double value : series.values) squares += (value - sum / n) * (value - sum / n);
  return fmt::format(
      "<tr><th>{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
      Escape(series.name), series.values.size(), Number(sum / n), Number(std::sqrt(squares / (n - 1))));
}

// Weights on a scale that is symmetric about 0: blue, white, red.
Canvas WeightsPicture(const FirstLayer& layer, int64_t dimension, const Shape& shape) {
  const int height = shape ? static_cast<int>((*shape)[0]) : 1;
  const int width = shape ? static_cast<int>((*shape)[1]) : static_cast<int>(dimension);
  const int columns = shape ? 8 : 1, gap = shape ? 3 : 1;
  const int scale_x = std::clamp(900 / columns / width, 1, 8), scale_y = shape ? scale_x : 10;
  const auto count = static_cast<int>(layer.shown);
  const int lines = (count + columns - 1) / columns;
  double limit = 1e-12;
  for (const double weight : layer.weights) limit = std::max(limit, std::abs(weight));
  Canvas canvas(columns * (width * scale_x + gap) + gap, lines * (height * scale_y + gap) + gap, kGridLine);
  for (int unit = 0; unit < count; ++unit) {
    const int left = gap + unit % columns * (width * scale_x + gap);
    const int top = gap + unit / columns * (height * scale_y + gap);
    for (int y = 0; y < height * scale_y; ++y)
      for (int x = 0; x < width * scale_x; ++x) {
        const double weight =
            layer.weights[static_cast<size_t>(unit * dimension + y / scale_y * width + x / scale_x)];
        canvas.SetPixel(left + x, top + y, ColorMap::Diverging().At(0.5 + 0.5 * weight / limit));
      }
  }
  return canvas;
}

}  // namespace

std::string KeyFigures(const ReportView& view) {
  const ReportResult& result = view.result;
  std::string html = "<dl class=\"figures\">\n";
  if (result.log_likelihood) {
    const MeanValue& mean = *result.log_likelihood;
    html += Figure("log-likelihood of a row", fmt::format("{:.4g} nats", mean.value),
                   fmt::format("{}; {} rows", PlusMinus(mean.standard_error), view.data->rows.rows));
    html += Figure("bits per variable",
                   Number(-mean.value / (static_cast<double>(result.variables.size()) * std::log(2.0))));
  }
  if (result.log_z)
    html += Figure("log Z", Number(result.log_z->log_z),
                   fmt::format("{} by {}",
                               result.log_z->standard_error == 0 ? "without error"
                                                                 : PlusMinus(result.log_z->standard_error),
                               result.log_z->method.empty() ? "an unknown method" : result.log_z->method));
  html += Figure("variables", fmt::format("{}", result.variables.size()),
                 result.variables.all_binary() ? "" : fmt::format("{} states as bits", result.dimension));
  html +=
      Figure("parameters", fmt::format("{}", result.parameters), view.source.model.metadata().architecture);
  if (view.source.cost.steps)
    html += Figure("training steps", DescribeSteps(view.source.cost), CostNote(view.source));
  return html + "</dl>\n";
}

std::string Curves(const ReportView& view) {
  std::string html;
  for (const LineChart& chart : TrainingCharts(view.source.metrics)) html += LineSvg(chart);
  return html.empty() ? "" : "<div class=\"grid-2\">\n" + html + "</div>\n";
}

std::string Samples(const ReportView& view) {
  const ReportResult& result = view.result;
  const Shape& shape = view.source.model.metadata().image_shape;
  const int64_t shown = shape ? 64 : 60;
  const auto card = [&](const std::string& title, const RowTable& rows, const std::string& note) {
    if (!result.variables.all_binary()) return Card(title, FirstRowsAsTable(result.variables, rows), note);
    return Card(title, Image(RowsPicture(FirstRows(rows, shown), result.dimension, shape), title), note);
  };
  std::string html;
  if (view.data != nullptr)
    html += card("data", view.data->rows, fmt::format("the first rows of {}", view.data->name));
  html += card("samples of the model", result.samples, result.agreement.Describe());
  return RowCards(result.variables, html);
}

std::string EnergyHistograms(const ReportView& view) {
  HistogramChart chart{.title = "energies", .x_label = "U(x)"};
  chart.bins = 48;
  if (!view.result.data_energies.empty()) chart.series.push_back({"data", view.result.data_energies});
  chart.series.push_back({"samples", view.result.sample_energies});
  chart.series.push_back({"noise", view.result.noise_energies});
  std::string table = "<table><tr><th></th><th>rows</th><th>mean</th><th>standard deviation</th></tr>";
  for (const HistogramSeries& series : chart.series) table += SummaryRow(series);
  return "<div class=\"grid-2\">\n" + HistogramSvg(chart) + Card("in figures", table + "</table>") +
         "</div>\n";
}

std::string MeansAndCorrelations(const ReportView& view) {
  if (view.data == nullptr) return "";
  const bool binary = view.result.variables.all_binary();
  ScatterChart means{.title = binary ? "P(x = 1) of each variable" : "probability of each state",
                     .x_label = "data",
                     .y_label = "samples",
                     .low = 0,
                     .high = 1,
                     .points = {},
                     .note = {}};
  for (size_t i = 0; i < view.result.means.size(); ++i) {
    const DataAndModel& mean = view.result.means[i];
    means.points.push_back({mean.data, mean.model,
                            fmt::format("{}: data {:.3f}, samples {:.3f}",
                                        NameOf(view, static_cast<int64_t>(i)), mean.data, mean.model)});
  }
  ScatterChart pairs{
      .title = binary ? "correlations of pairs of variables" : "correlations of pairs of states",
      .x_label = "data",
      .y_label = "samples",
      .low = -1,
      .high = 1,
      .points = {},
      .note = {}};
  for (const PairCorrelation& pair : view.result.correlations)
    pairs.points.push_back(
        {pair.correlation.data, pair.correlation.model,
         fmt::format("{} and {}: data {:.3f}, samples {:.3f}", NameOf(view, pair.first),
                     NameOf(view, pair.second), pair.correlation.data, pair.correlation.model)});
  means.note = Agreement(means.points);
  pairs.note = Agreement(pairs.points);
  return "<div class=\"grid-2\">\n" + ScatterSvg(means) + (pairs.points.empty() ? "" : ScatterSvg(pairs)) +
         "</div>\n";
}

std::string WeightPictures(const ReportView& view) {
  const ReportResult& result = view.result;
  if (!result.couplings.empty())
    return "<div class=\"grid-2 smooth\">\n" +
           Card(
               "couplings",
               Image(CouplingsPicture(result.couplings, {}, static_cast<int>(result.dimension)), "couplings"),
               "J of U = const - h's - s'Js with s = 2x - 1: red pairs like to be equal, blue ones "
               "different") +
           "</div>\n";
  if (!result.first_layer) return "";
  const FirstLayer& layer = *result.first_layer;
  return "<div class=\"wide\">" +
         Card(fmt::format("first layer: {}", layer.name),
              Image(WeightsPicture(layer, result.dimension, view.source.model.metadata().image_shape),
                    "weights of the first layer"),
              fmt::format("{} of {} units, those with the largest weights; red is positive, blue negative",
                          layer.shown, layer.units)) +
         "</div>\n";
}

std::string ExtremeRows(const ReportView& view) {
  if (view.data == nullptr) return "";
  const auto show = !view.result.variables.all_binary()        ? RowsAsTable
                    : view.source.model.metadata().image_shape ? RowImages
                                                               : OnesTableHtml;
  return RowCards(view.result.variables, Card("most likely", show(view, view.result.most_likely)) +
                                             Card("least likely", show(view, view.result.least_likely)));
}

std::string Settings(const ReportView& view) {
  std::string html = "<div class=\"card\"><details><summary>settings of the training</summary><table>";
  for (const auto& [key, value] : view.source.settings)
    html += fmt::format("<tr><th>{}</th><td>{}</td></tr>", Escape(key), Escape(value));
  if (view.source.settings.empty()) html += "<tr><td>the model tells nothing of its training</td></tr>";
  html += "</table></details><details><summary>metadata of the model</summary><table>";
  for (const auto& [key, value] : view.source.model.metadata().raw)
    html += fmt::format("<tr><th>{}</th><td>{}</td></tr>", Escape(key),
                        Escape(value.size() > 400 ? value.substr(0, 400) + "..." : value));
  return html + "</table></details></div>\n";
}

}  // namespace ort_ed
