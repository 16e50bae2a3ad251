// heed attend of a classifier.

#pragma once

#include "apps/cli/attend_options.h"

namespace heed::cli {

void attend_to_texts(const AttendArguments& a);

}  // namespace heed::cli
