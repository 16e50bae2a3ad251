// Precompiled header of the files that include torch. Measured seconds of g++ 12 for a small part and for a file with a
// module: this header 5.0 and 6.3, <torch/torch.h> 9.9 and 11.2, without the modules 3.5 and 8.2.

#pragma once

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/nn/cloneable.h>
#include <torch/nn/init.h>
#include <torch/types.h>
