// BLEU, chrF and TER as sacreBLEU computes them, perplexity, and alignment error. Needs no torch.

#pragma once

#include "heed/metrics/alignment_error.h"
#include "heed/metrics/bleu.h"
#include "heed/metrics/chrf.h"
#include "heed/metrics/perplexity.h"
#include "heed/metrics/ter.h"
