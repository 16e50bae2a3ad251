// What the options of heed info say.

#pragma once

namespace heed::cli {

struct InfoArguments {
  bool json = false;
};

}  // namespace heed::cli
