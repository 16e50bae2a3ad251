// Parameters of modules and tensors by name in safetensors files.

#pragma once

#include "heed/torch_support/safetensors.h"
