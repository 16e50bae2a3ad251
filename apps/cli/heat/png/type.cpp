#include "apps/cli/heat/png/type.h"

#include <cmath>
#include <cstdlib>
#include <freetype/freetype.h>
#include <ft2build.h>
#include <numbers>
#include <unistd.h>
#include <vector>

#include "heed/base/check.h"
#include "heed/base/utf8.h"

namespace heed::cli {
namespace {

constexpr double kParts = 64;    // FreeType counts pixels in 64ths
constexpr double kUnit = 65536;  // and matrices in 65536ths

/// Chinese fonts first, because they have Latin letters too.
constexpr const char* kFonts[] = {
    "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/google-noto-cjk/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/google-noto-sans-cjk-fonts/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/noto-cjk/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
    "/usr/share/fonts/truetype/arphic/uming.ttc",
    "/System/Library/Fonts/PingFang.ttc",
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
    "/usr/share/fonts/TTF/DejaVuSans.ttf",
};

}  // namespace

/// The available fonts, opened.
class Type::Fonts {
 public:
  Fonts() {
    FT_Library library = nullptr;
    check(FT_Init_FreeType(&library) == 0, "heat map: FreeType could not be initialized");
    library_.reset(library);
    if (const char* own = std::getenv("HEED_FONT"); own && *own)
      check(open(own), "heat map: HEED_FONT is ", own, ", expected a font file that FreeType can read");
    for (const char* path : kFonts)
      if (::access(path, R_OK) == 0) open(path);
    check(!faces_.empty(),
          "heat map: no font was found; install one (Debian: fonts-wqy-microhei), or set HEED_FONT to a font file");
  }

  /// The first font that has the character, set to that size; null if none has it.
  FT_Face with(char32_t character, int size) const {
    for (const FT_Face face : faces_) {
      if (FT_Get_Char_Index(face, character) == 0) continue;
      if (FT_Set_Pixel_Sizes(face, 0, static_cast<FT_UInt>(size)) == 0) return face;
    }
    return nullptr;
  }

  /// Distance from this character to the next, in pixels.
  double advance(char32_t character, int size) const;

 private:
  bool open(const char* path) {
    FT_Face face = nullptr;
    if (FT_New_Face(library_.get(), path, 0, &face) != 0) return false;
    faces_.push_back(face);
    return true;
  }

  struct Done {
    void operator()(FT_Library library) const { FT_Done_FreeType(library); }  // closes the fonts as well
  };
  std::unique_ptr<FT_LibraryRec_, Done> library_;
  std::vector<FT_Face> faces_;
};

Type::Type() : fonts_(std::make_unique<Fonts>()) {}
Type::~Type() = default;

double Type::Fonts::advance(char32_t character, int size) const {
  const FT_Face face = with(character, size);
  if (face) FT_Set_Transform(face, nullptr, nullptr);
  const bool loaded = face && FT_Load_Char(face, character, FT_LOAD_NO_HINTING) == 0;
  return loaded ? static_cast<double>(face->glyph->advance.x) / kParts : size;
}

int Type::width(const std::string& text, int size) {
  double width = 0;
  for (const char32_t character : decoded(text)) width += fonts_->advance(character, size);
  return static_cast<int>(std::ceil(width));
}

std::string Type::fitted(const std::string& text, int size, int max) {
  if (width(text, size) <= max) return text;
  const std::string dots = "…";
  double left = max - width(dots, size);
  std::string kept;
  for (const char32_t character : decoded(text)) {
    left -= fonts_->advance(character, size);
    if (left < 0) break;
    kept += encoded(character);
  }
  return kept + dots;
}

namespace {

/// The outline of a square on the baseline, for a character that no font has.
void draw_box(int size, double x, double y, double cosine, double sine, const Type::Ink& ink) {
  const auto dot = [&](double along, double up) {
    ink(static_cast<int>(std::lround(x + along * cosine - up * sine)),
        static_cast<int>(std::lround(y - along * sine - up * cosine)), 255);
  };
  const double low = 0.1 * size, high = 0.8 * size;
  for (double at = low; at <= high; at += 0.5) {
    dot(at, 0), dot(at, high - low);
    dot(low, at - low), dot(high, at - low);
  }
}

void draw_glyph(const FT_GlyphSlot glyph, int x, int y, const Type::Ink& ink) {
  const FT_Bitmap& bitmap = glyph->bitmap;
  if (bitmap.pixel_mode != FT_PIXEL_MODE_GRAY) return;
  for (int i = 0; i < static_cast<int>(bitmap.rows); ++i)
    for (int j = 0; j < static_cast<int>(bitmap.width); ++j) {
      const int cover = bitmap.buffer[i * bitmap.pitch + j];
      if (cover > 0) ink(x + glyph->bitmap_left + j, y - glyph->bitmap_top + i, cover);
    }
}

}  // namespace

void Type::draw(const std::string& text, int size, int x, int y, double degrees, const Ink& ink) {
  const double angle = degrees * std::numbers::pi / 180, cosine = std::cos(angle), sine = std::sin(angle);
  const auto fixed_point = [](double value) { return static_cast<FT_Fixed>(std::lround(value * kUnit)); };
  FT_Matrix rotation{fixed_point(cosine), fixed_point(-sine), fixed_point(sine), fixed_point(cosine)};
  double right = 0, up = 0;  // the pen, from (x, y)
  for (const char32_t character : decoded(text)) {
    const FT_Face face = fonts_->with(character, size);
    FT_Vector pen{static_cast<FT_Pos>(std::lround(right * kParts)), static_cast<FT_Pos>(std::lround(up * kParts))};
    if (face) FT_Set_Transform(face, &rotation, &pen);
    if (face && FT_Load_Char(face, character, FT_LOAD_RENDER | FT_LOAD_NO_HINTING | FT_LOAD_NO_BITMAP) == 0) {
      draw_glyph(face->glyph, x, y, ink);
      right += static_cast<double>(face->glyph->advance.x) / kParts;
      up += static_cast<double>(face->glyph->advance.y) / kParts;
    } else {
      draw_box(size, x + right, y - up, cosine, sine, ink);
      right += size * cosine;
      up += size * sine;
    }
  }
}

}  // namespace heed::cli
