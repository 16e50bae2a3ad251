// A catalogue of two shapes: parts enter themselves, are made from words, and errors name what is known.

#include "heed/base/catalogue.h"

#include <functional>

#include <gtest/gtest.h>

namespace heed {
namespace {

class Figure {
 public:
  static constexpr const char* kKind = "shape";
  virtual ~Figure() = default;
  virtual double area() const = 0;
};

class Square final : public Figure {
 public:
  explicit Square(const Options& options) : side_(options.number("side", 1)) {}
  double area() const override { return side_ * side_; }

 private:
  double side_;
};

class Point final : public Figure {
 public:
  explicit Point(const Options&) {}
  double area() const override { return 0; }
};

const Catalogue<Figure>::Entry square_entry{
    "square", make_part<Figure, Square>, {.formula = "side^2", .paper = "", .cost = "", .choose = "", .variants = {}}};
const Catalogue<Figure>::Entry point_entry{
    "point", make_part<Figure, Point>, {.formula = "0", .paper = "", .cost = "", .choose = "", .variants = {}}};

std::string message(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Catalogue, MakesAPartFromItsWords) {
  EXPECT_EQ(Catalogue<Figure>::make("square(3)")->area(), 9);
  EXPECT_EQ(Catalogue<Figure>::make("square")->area(), 1);
  EXPECT_EQ(Catalogue<Figure>::make("point")->area(), 0);
}

TEST(Catalogue, ListsWhatEnteredItself) {
  EXPECT_EQ(Catalogue<Figure>::names(), (std::vector<std::string>{"point", "square"}));
  EXPECT_EQ(Catalogue<Figure>::describe("square").formula, "side^2");
}

TEST(Catalogue, NamesTheNearestWhenAPartIsUnknown) {
  EXPECT_EQ(message([] { Catalogue<Figure>::make("sqare"); }),
            "shape: no part called 'sqare' (did you mean 'square'?); known: point, square");
}

TEST(Catalogue, RefusesOptionsThatThePartDoesNotHave) {
  EXPECT_EQ(message([] { Catalogue<Figure>::make("point(3)"); }), "shape/point: unknown option '3'; it has none");
}

TEST(Catalogue, RefusesTwoPartsOfOneName) {
  EXPECT_EQ(message([] { Catalogue<Figure>::Entry("point", make_part<Figure, Point>, {}); }),
            "catalogue: two shapes are called point");
}

}  // namespace
}  // namespace heed
