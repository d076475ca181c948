// The page of `ort-ed report`: its structure always, and opened and clicked through where Chromium is
// installed.

#include <array>
#include <cstdio>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_command.h"
#include "tests/support/data_files.h"
#include "tests/support/file_contents.h"
#include "tests/support/temp_dir.h"

namespace ort_ed {
namespace {

using testing::HasSubstr;
using testing::Not;

size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

// A run on rows whose names are as unfriendly as a file can make them.
class ReportCommand : public testing::Test {
 protected:
  ReportCommand() {
    std::string rows = "<script>alert(1)</script>,\"&\",plain,it's,e,f\n";
    for (int i = 0; i < 60; ++i)
      rows += i % 3 == 0 ? "0,0,1,0,1,1\n" : i % 2 == 0 ? "1,1,0,1,0,0\n" : "1,0,0,1,0,1\n";
    WriteBytes(Path("rows.csv"), rows);
  }

  void Train(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"train",
                                      "--data",
                                      Path("rows.csv"),
                                      "-o",
                                      Path("run"),
                                      "--steps",
                                      "40",
                                      "--log-every",
                                      "10",
                                      "--validate-every",
                                      "20",
                                      "--batch-size",
                                      "16",
                                      "--hidden",
                                      "8",
                                      "--threads",
                                      "1"};
    words.insert(words.end(), more.begin(), more.end());
    const CommandResult result = RunOrtEd(words);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }

  std::string Report(const std::vector<std::string>& more) {
    std::vector<std::string> words = {"report",    Path("run"), "-o",      Path("report.html"),
                                      "--samples", "40",        "--steps", "20"};
    words.insert(words.end(), more.begin(), more.end());
    const CommandResult result = RunOrtEd(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return FileContents(Path("report.html"));
  }

  std::string Path(const std::string& name) const { return dir_.File(name); }

  TempDir dir_;
};

TEST_F(ReportCommand, HasEverySectionAndNothingFromElsewhere) {
  Train();
  const std::string page = Report({"--data", Path("rows.csv")});
  for (const char* id : {"curves", "samples", "energies", "statistics", "weights", "rows", "settings"}) {
    EXPECT_EQ(CountOf(page, "<section id=\"" + std::string(id) + "\">"), 1u) << id;
    EXPECT_THAT(page, HasSubstr("<a href=\"#" + std::string(id) + "\">"));
  }
  EXPECT_THAT(page, HasSubstr("log-likelihood of a row"));
  EXPECT_THAT(page, HasSubstr("learning_rate</th>"));
  EXPECT_THAT(page, Not(HasSubstr("http:")));
  EXPECT_THAT(page, Not(HasSubstr("https:")));
  EXPECT_EQ(CountOf(page, " src="), CountOf(page, " src=\"data:image/png;base64,"));
  EXPECT_GE(CountOf(page, " src="), 3u);
  EXPECT_EQ(CountOf(page, "<link"), 0u);
  EXPECT_GE(CountOf(page, "<svg "), 7u);
  for (const char* tag : {"section", "figure", "div", "table", "details", "svg", "g", "button", "dl"})
    EXPECT_EQ(CountOf(page, "<" + std::string(tag) + ">") + CountOf(page, "<" + std::string(tag) + " "),
              CountOf(page, "</" + std::string(tag) + ">"))
        << tag;
}

TEST_F(ReportCommand, TheLikelihoodComesFirstAndTheBaseIsShown) {
  Train({"--base", "made", "--base-hidden", "4", "--base-steps", "30"});
  const std::string page = Report({});
  const size_t nats = page.find("<figcaption>validation nats per row"), loss = page.find("<figcaption>loss");
  ASSERT_NE(nats, std::string::npos);
  EXPECT_LT(nats, loss);
  for (const char* text : {"step; those of the base, 30, come first", ">the base</button>",
                           ">with the network</button>", "<figcaption>the base: loss", "base 30 + 40"})
    EXPECT_THAT(page, HasSubstr(text));
}

TEST_F(ReportCommand, SamplesTellHowFarChainsAgree) {
  Train();
  const std::string page = Report({"--sampler", "gibbs"});
  EXPECT_THAT(page, HasSubstr("<p>R-hat of the energy "));
  EXPECT_THAT(page, HasSubstr(", the worst variable, "));
}

TEST_F(ReportCommand, WarningsAboutTheDataAreOnThePage) {
  std::string table = "size,other\n", strange = table;
  for (int i = 0; i < 60; ++i) {
    table += i % 3 == 0 ? "small,yes\n" : "large,no\n";
    strange += i % 2 == 0 ? "enormous,yes\n" : "large,no\n";
  }
  WriteBytes(Path("rows.csv"), table);
  WriteBytes(Path("strange.csv"), strange);
  Train();
  EXPECT_THAT(Report({"--data", Path("strange.csv")}),
              HasSubstr("30 of 60 cells have values that the training"));
}

TEST_F(ReportCommand, TextOfFilesIsEscaped) {
  Train();
  const std::string page = Report({"--data", Path("rows.csv"), "--no-likelihood"});
  EXPECT_EQ(CountOf(page, "<script>"), 1u);  // its own
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;"));
  EXPECT_THAT(page, HasSubstr("it&#39;s"));
  EXPECT_THAT(page, Not(HasSubstr("log-likelihood of a row")));
}

TEST_F(ReportCommand, ImagesAreShownAsImages) {
  Train({"--image-shape", "2x3"});
  const std::string page = Report({"--data", Path("rows.csv")});
  EXPECT_EQ(CountOf(page, "<div class=\"rows\">"), 2u);
  EXPECT_THAT(page, HasSubstr("alt=\"row "));
}

TEST_F(ReportCommand, AModelAloneHasAPageToo) {
  Train();
  const CommandResult result = RunOrtEd(
      {"report", Path("run/model.onnx"), "-o", Path("alone.html"), "--samples", "20", "--steps", "10"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string page = FileContents(Path("alone.html"));
  EXPECT_EQ(CountOf(page, "<section id="), 4u);
}

TEST_F(ReportCommand, MistakesLeaveNoFile) {
  Train();
  const auto refuse = [&](int code, const std::string& message, const std::vector<std::string>& words) {
    const CommandResult result = RunOrtEd(words);
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(message));
  };
  const std::string html = Path("no.html");
  refuse(2, ".html", {"report", Path("run"), "-o", Path("no.txt")});
  refuse(2, "--data", {"report", Path("run"), "-o", html, "--no-likelihood"});
  refuse(2, "--data", {"report", Path("run"), "-o", html, "--estimator", "exact"});
  refuse(1, "run", {"report", dir_.path(), "-o", html});
  WriteBytes(Path("narrow.csv"), "1,0\n");
  refuse(1, "narrow.csv", {"report", Path("run"), "-o", html, "--data", Path("narrow.csv")});
  EXPECT_FALSE(std::filesystem::exists(html));
}

std::string OutputOf(const std::string& command) {
  std::string output;
  std::array<char, 4096> buffer;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  while (const size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
    output.append(buffer.data(), count);
  pclose(pipe);
  return output;
}

// Runs inside the page and tells the page around it what it found.
constexpr char kVisitor[] = R"js(<script>
addEventListener('load', () => {
  const found = [...window.mistakes];
  const expect = (right, what) => { if (!right) found.push(what); };
  expect(document.documentElement.scrollWidth <= innerWidth, 'wider than the window: ' + document.documentElement.scrollWidth);
  for (const image of document.images) expect(image.naturalWidth > 0, 'a broken image');
  for (const chart of document.querySelectorAll('svg')) expect(chart.getBoundingClientRect().height > 100, 'a flat chart');
  const buttons = document.querySelectorAll('.legend button');
  expect(buttons.length >= 4, 'no legends');
  for (const button of buttons) {
    const series = button.closest('figure').querySelector(`svg [data-series="${button.dataset.series}"]`);
    button.click();
    expect(getComputedStyle(series).display === 'none', 'a series that is not hidden');
    button.click();
    expect(getComputedStyle(series).display !== 'none', 'a series that does not come back');
  }
  const tip = document.getElementById('tip');
  const marks = document.querySelectorAll('[data-tip]');
  expect(marks.length > 20, 'no marks');
  for (const mark of marks) {
    mark.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientX: 100, clientY: 200}));
    expect(!tip.hidden && tip.textContent === mark.dataset.tip, 'a mark without its tip');
  }
  document.body.dispatchEvent(new PointerEvent('pointermove', {bubbles: true}));
  expect(tip.hidden, 'a tip that stays');
  const colour = () => getComputedStyle(document.body).backgroundColor;
  const before = colour();
  document.getElementById('theme').click();
  expect(colour() !== before, 'a theme that does not change');
  document.getElementById('theme').click();
  expect(colour() === before, 'a theme that does not change back');
  for (const link of document.querySelectorAll('nav a'))
    expect(document.querySelector(link.getAttribute('href')), 'a link to nowhere');
  for (const summary of document.querySelectorAll('summary')) {
    summary.click();
    expect(summary.parentElement.open, 'details that stay closed');
  }
  expect(document.documentElement.scrollWidth <= innerWidth, 'wider than the window with open details');
  parent.postMessage('width ' + innerWidth + ': ' + (found.length ? [...new Set(found)].join('; ') : 'fine'), '*');
});
</script></body>)js";

TEST_F(ReportCommand, WorksInABrowserOnPhonesAndDesks) {
  const std::string browser =
      OutputOf("command -v chromium || command -v chromium-browser || command -v google-chrome");
  if (browser.empty()) GTEST_SKIP() << "Chromium is not installed (tools/setup.sh --browser)";
  Train();
  std::string page = Report({"--data", Path("rows.csv")});
  page.replace(page.find("<head>"), 6,
               "<head><script>window.mistakes = []; onerror = (what) => { mistakes.push(what); };"
               "addEventListener('securitypolicyviolation', (e) => mistakes.push(e.blockedURI));</script>");
  page.replace(page.rfind("</body>"), 7, kVisitor);
  WriteBytes(Path("visited.html"), page);
  for (const int width : {390, 1280}) {
    WriteBytes(Path("around.html"),
               "<body><p id=\"heard\">nothing</p><script>onmessage = (e) => {"
               "document.getElementById('heard').textContent = e.data; };</script>"
               "<iframe src=\"visited.html\" style=\"border:0;width:" +
                   std::to_string(width) + "px;height:900px\"></iframe></body>");
    const std::string dom =
        OutputOf(browser.substr(0, browser.find('\n')) +
                 " --headless=new --no-sandbox --disable-gpu --virtual-time-budget=5000 --user-data-dir=" +
                 Path("profile") + " --window-size=1400,1000 --dump-dom file://" + Path("around.html") +
                 " 2>/dev/null");
    EXPECT_THAT(dom, HasSubstr("width " + std::to_string(width) + ": fine")) << dom;
  }
}

}  // namespace
}  // namespace ort_ed
