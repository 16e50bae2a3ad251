// Everything a user of the library needs.

#pragma once

#include "heed/attention/attend.h"
#include "heed/attention/attention.h"
#include "heed/attention/mechanism.h"
#include "heed/attention/reinforce.h"
#include "heed/base/version.h"
#include "heed/data/safetensors.h"
