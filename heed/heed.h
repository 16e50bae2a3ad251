// The public interface of the library in one include.

#pragma once

#include "heed/attend.h"
#include "heed/attention/attention.h"
#include "heed/attention/mechanism.h"
#include "heed/attention/positions.h"
#include "heed/attention/reinforce.h"
#include "heed/base/version.h"
#include "heed/structures/decode/bahdanau.h"
#include "heed/structures/decode/doubly_stochastic.h"
#include "heed/structures/decode/luong.h"
#include "heed/structures/decode/transformer_decoder.h"
#include "heed/structures/encode/recurrent.h"
#include "heed/structures/encode/transformer_encoder.h"
#include "heed/structures/graph/gat.h"
#include "heed/structures/preset.h"
#include "heed/structures/query/capsule.h"
#include "heed/structures/query/memory_network.h"
#include "heed/torch_support/safetensors.h"
