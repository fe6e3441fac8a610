// Writes SVG elements: numbers short, text escaped, colours by class where they depend on the
// theme (internal to the svg_*.cc files). Coordinates are pixels, y downwards.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "charts/scene.h"
#include "charts/svg.h"

namespace cellblock::charts {

struct Pixel {
    double x = 0, y = 0;
};

struct Rect {
    double x = 0, y = 0, width = 0, height = 0;
    double right() const { return x + width; }
    double bottom() const { return y + height; }
};

// What the ground and its text look like; series keep their own colours.
enum class Tone { text, muted, ink };

struct TextLook {
    double size_px = 12;
    Anchor anchor = Anchor::start;
    Tone tone = Tone::text;
    std::string color;      // instead of the tone
    double turned_deg = 0;  // about its place
    bool strong = false;
};

class SvgCanvas {
  public:
    // Ids in the picture begin with `id_prefix`: several may stand inline in one page.
    SvgCanvas(double width_px, double height_px, Theme theme, std::string id_prefix);

    // `name` and `description` are for readers who cannot see it.
    std::string finish(std::string_view name, std::string_view description) const;

    void text(Pixel at, std::string_view words, const TextLook& look);
    // A line of the frame: "axis" or "grid".
    void frame_line(Pixel from, Pixel to, std::string_view kind);
    void stroke(const std::vector<Pixel>& points, const Polyline& look);
    void fill(const std::vector<Pixel>& points, const Region& look);
    // Rectangles of one colour as one path.
    void rects(const std::vector<Rect>& items, const std::string& color, double opacity,
               Outline outline);
    // Round points of one colour and size as one path; opacity and filling as `look` says.
    void dots(const std::vector<Pixel>& places, double diameter_px, const std::string& color,
              const Dots& look);
    // Covers what is below with the ground's colour.
    void ground(const Rect& place);
    void swatch(const Rect& place, const std::string& color);
    void gradient(const Rect& place, const std::vector<std::string>& stops_from_below);

    void begin_clip(const Rect& area);
    void end_clip() { body_ += "</g>"; }

  private:
    std::string paint(std::string_view attribute, const std::string& color) const;

    double width_px_, height_px_;
    Theme theme_;
    std::string id_prefix_;
    std::string body_, definitions_;
    int ids_ = 0;
};

}  // namespace cellblock::charts
