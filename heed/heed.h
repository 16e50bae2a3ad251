// Attention, structures and what is needed to write parts of your own, in one include. Trained models and training are
// in heed/models.h and heed/train.h; what needs no torch is in heed/kernels.h, heed/text.h and heed/metrics.h.

#pragma once

#include "heed/attend.h"
#include "heed/attention.h"
#include "heed/graph.h"
#include "heed/parts.h"
#include "heed/safetensors.h"
#include "heed/structures.h"
#include "heed/version.h"
