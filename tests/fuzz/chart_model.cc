// Fuzzes what a guest can send as a chart: parse it, and put what was accepted through every
// writer.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/limits.h"
#include "charts/csv.h"
#include "charts/describe.h"
#include "charts/e2b.h"
#include "charts/echarts.h"
#include "charts/model.h"
#include "charts/plotly.h"
#include "charts/svg.h"
#include "charts/terminal.h"
#include "charts/vega_lite.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cellblock;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto figure = charts::parse_figure(text);
    if (!figure) return 0;
    const Json written = charts::to_json(*figure);
    const auto again = charts::parse_figure(written);
    // What we wrote we must accept, and read as the same.
    if (!again || charts::to_json(*again) != written) std::abort();
    dump_ascii(charts::to_e2b(*figure));
    dump_ascii(charts::to_vega_lite(*figure));
    dump_ascii(charts::to_echarts(*figure));
    dump_ascii(charts::to_plotly(*figure));
    charts::to_csv(*figure);
    charts::to_svg(*figure);
    charts::to_terminal(*figure);
    if (charts::describe(*figure).size() > limits::chart_description_max_bytes) std::abort();
    charts::alt_text(*figure);
    return 0;
}
