// The values of the options of heed info.

#pragma once

namespace heed::cli {

struct InfoArguments {
  bool json = false;
};

}  // namespace heed::cli
