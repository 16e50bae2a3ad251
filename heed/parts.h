// What a score or an alignment of your own needs (examples/own_alignment.cpp, docs/extending.md): the interfaces, and
// the catalogues in which an entry makes it part of every spec.

#pragma once

#include "heed/attention/align.h"
#include "heed/attention/score.h"
#include "heed/base/catalogue.h"
