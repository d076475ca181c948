#include "tools/report/report_page.h"

#include <fmt/format.h>

#include "runtime/support/version.h"
#include "tools/report/assets.h"
#include "tools/report/html.h"

namespace ort_ed {
namespace {

struct Section {
  const char* id;
  const char* title;
  const char* words;  // what a reader should look for
  std::string (*make)(const ReportView&);
};

constexpr Section kSections[] = {
    {"curves", "Training", "", Curves},
    {"samples", "Samples", "Samples of a good model cannot be told from data.", Samples},
    {"energies", "Energies",
     "Data and samples should have the same energies. Noise is drawn from the base distribution of the "
     "model.",
     EnergyHistograms},
    {"statistics", "Variables", "Where model and data agree, points lie on the diagonal.",
     MeansAndCorrelations},
    {"weights", "Weights", "", WeightPictures},
    {"rows", "Rows", "The rows of the data that the model finds most and least likely.", ExtremeRows},
    {"settings", "Settings", "", Settings},
};

std::string Warnings(const std::vector<std::string>& warnings) {
  std::string html;
  for (const std::string& warning : warnings)
    html += fmt::format("<div class=\"warning\">{}</div>\n", Escape(warning));
  return html;
}

std::string Head(const std::string& title) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      // Whatever stands in the page, it cannot ask anybody for anything.
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
      "<title>{}</title>\n<style>\n{}</style>\n</head>\n",
      Escape(title), kReportCss);
}

}  // namespace

std::string ReportPage(const ReportView& view) {
  const std::string name = view.source.ShortName();
  std::string links, parts;
  for (const Section& section : kSections) {
    const std::string body = section.make(view);
    if (body.empty()) continue;
    links += fmt::format("<a href=\"#{}\">{}</a>", section.id, section.title);
    parts += fmt::format("<section id=\"{}\"><h2>{}</h2>\n{}{}</section>\n", section.id, section.title,
                         *section.words == 0 ? "" : fmt::format("<p>{}</p>\n", section.words), body);
  }
  const std::string subtitle =
      view.data == nullptr ? view.source.name : fmt::format("{} on {}", view.source.name, view.data->name);
  return Head(name + " - ort-ed report") +
         fmt::format("<body>\n<header><h1>{}</h1><p>{}</p>\n{}{}</header>\n", Escape(name), Escape(subtitle),
                     KeyFigures(view), Warnings(view.result.warnings)) +
         fmt::format("<nav><div>{}<button id=\"theme\" type=\"button\" hidden>dark</button></div></nav>\n",
                     links) +
         "<main>\n" + parts + "</main>\n" +
         fmt::format("<footer>made by ort-ed {}</footer>\n<div id=\"tip\" role=\"tooltip\" hidden></div>\n",
                     kVersion) +
         "<script>\n" + kReportJs + "</script>\n</body>\n</html>\n";
}

}  // namespace ort_ed
