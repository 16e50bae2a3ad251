// Structures around mechanisms, by spec (heed::structure) or as a paper has them (heed::preset), and encoders and
// decoders.

#pragma once

#include "heed/structures/decode/bahdanau.h"
#include "heed/structures/decode/doubly_stochastic.h"
#include "heed/structures/decode/luong.h"
#include "heed/structures/decode/transformer_decoder.h"
#include "heed/structures/encode/recurrent.h"
#include "heed/structures/encode/transformer_encoder.h"
#include "heed/structures/preset.h"
#include "heed/structures/query/capsule.h"
#include "heed/structures/query/memory_network.h"
#include "heed/structures/structure.h"
