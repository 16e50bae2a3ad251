// Constants that several instruction sets share.

#pragma once

#include <type_traits>

namespace heed::kernels::cpu {

inline constexpr double kLog2E = 1.4426950408889634, kLn2 = 0.6931471805599453;

/// 2^f on [-1/2, 1/2] by a polynomial of degree 5: relative error below 2e-7, most of it the rounding of floats.
inline constexpr float kExp2[] = {1.0F, 0.693147188F, 0.240221075F, 0.0555035711F, 0.00967603192F, 0.00133908634F};

/// 2^f on [0, 1], exactly 1 at f = 0.
inline constexpr float kExp2Above[] = {1.0F, 0.693151295F, 0.240164444F, 0.0557999127F, 0.00901703071F, 0.00186713005F};

/// 1.5 2^23 + 127: adding it rounds a small number to an integer, and leaves that integer plus 127 in the low bits.
inline constexpr float kRound = 12583039.0F;

/// log2 m for m in [sqrt(1/2), sqrt 2]: with t = (m - 1) / (m + 1) it is t (2/ln 2) (1 + t^2/3 + t^4/5 + t^6/7 +
/// t^8/9).
inline constexpr float kLog2[] = {2.88539008F, 0.961796694F, 0.577078016F, 0.412198583F, 0.320598898F};

}  // namespace heed::kernels::cpu
