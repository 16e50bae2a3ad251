// Attention as a function (heed/attend.h) and as a module with parameters, heads and a memory; positions, and learning
// by reward.

#pragma once

#include "heed/attend.h"
#include "heed/attention/attention.h"
#include "heed/attention/mechanism.h"
#include "heed/attention/positions.h"
#include "heed/attention/reinforce.h"
