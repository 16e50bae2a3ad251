// A catalogue of two shapes: parts register themselves, are made from specs, and errors list the known names.

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
    "point",
    make_part<Figure, Point>,
    {.formula = "0", .paper = "", .cost = "", .choose = "", .variants = {}, .synonyms = {"empty_set", "dot"}}};

std::string message(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Catalogue, MakesAPartFromItsSpec) {
  EXPECT_EQ(Catalogue<Figure>::make("square(3)")->area(), 9);
  EXPECT_EQ(Catalogue<Figure>::make("square")->area(), 1);
  EXPECT_EQ(Catalogue<Figure>::make("point")->area(), 0);
}

TEST(Catalogue, ListsTheRegisteredParts) {
  EXPECT_EQ(Catalogue<Figure>::names(), (std::vector<std::string>{"point", "square"}));
  EXPECT_EQ(Catalogue<Figure>::describe("square").formula, "side^2");
}

TEST(Catalogue, NamesTheNearestWhenAPartIsUnknown) {
  EXPECT_EQ(message([] { Catalogue<Figure>::make("sqare"); }),
            "shape: no part called 'sqare' (did you mean 'square'?); known: point, square");
}

TEST(Catalogue, RefusesASynonymWithTheNameToUse) {
  EXPECT_EQ(message([] { Catalogue<Figure>::make("dot"); }),
            "shape: got 'dot', expected 'point' (dot is another name of it)");
  EXPECT_EQ(Catalogue<Figure>::meant_by("Empty set"), "point");
  EXPECT_EQ(Catalogue<Figure>::meant_by("square"), "");
}

TEST(Catalogue, WritesTermsInOneWay) {
  EXPECT_EQ(catalogue_term("Scaled dot-product"), "scaled_dot_product");
  EXPECT_EQ(catalogue_term(" location - based "), "location_based");
  EXPECT_EQ(catalogue_term("top_k"), "top_k");
  EXPECT_EQ(catalogue_term(""), "");
}

TEST(Catalogue, RefusesANameOrSynonymThatIsTaken) {
  const auto enter = [](const std::string& name, const std::string& synonym) {
    return message([&] { Catalogue<Figure>::Entry(name, make_part<Figure, Point>, {.synonyms = {synonym}}); });
  };
  EXPECT_EQ(enter("dot", "small"), "catalogue: two shapes are called dot");
  EXPECT_EQ(enter("circle", "dot"), "catalogue: two shapes are called dot");
  EXPECT_EQ(enter("circle", "square"), "catalogue: two shapes are called square");
  EXPECT_EQ(enter("circle", "circle"), "catalogue: two shapes are called circle");
}

TEST(Catalogue, RefusesOptionsThatThePartDoesNotHave) {
  EXPECT_EQ(message([] { Catalogue<Figure>::make("point(3)"); }), "shape/point: unknown option '3'; it has none");
}

// As in a program that links libheed_kernels.a next to libheed.so, which contains it.
TEST(Catalogue, TakesTheSamePartTwice) {
  const Description square = Catalogue<Figure>::describe("square");
  EXPECT_EQ(message([&] { Catalogue<Figure>::Entry("square", make_part<Figure, Point>, square); }),
            "nothing was refused");
  EXPECT_EQ(Catalogue<Figure>::names(), (std::vector<std::string>{"point", "square"}));
}

TEST(Catalogue, RefusesTwoPartsOfOneName) {
  EXPECT_EQ(message([] { Catalogue<Figure>::Entry("point", make_part<Figure, Point>, {}); }),
            "catalogue: two shapes are called point");
}

}  // namespace
}  // namespace heed
