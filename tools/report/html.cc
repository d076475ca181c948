#include "tools/report/html.h"

#include <cmath>
#include <span>

#include <fmt/format.h>

#include "runtime/support/encoding/base64.h"

namespace ort_ed {

std::string Escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return escaped;
}

std::string Image(const Canvas& canvas, const std::string& description) {
  const std::string png = canvas.Png();
  return fmt::format(R"(<img alt="{}" width="{}" height="{}" src="data:image/png;base64,{}">)",
                     Escape(description), canvas.width(), canvas.height(),
                     Base64Encode(std::as_bytes(std::span(png))));
}

std::string Number(double value) {
  if (!std::isfinite(value)) return "not known";
  return fmt::format("{:.4g}", value);
}

}  // namespace ort_ed
