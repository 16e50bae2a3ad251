// Kernels on plain pointers and strides, and the definition of every mechanism. Needs no torch; link heed::kernels.
//
//   heed::kernels::cpu          fused attention: forward, backward; over edges in cpu::graph
//   heed::kernels::reference    the definition, in loops, with exact gradients

#pragma once

#include "heed/kernels/cpu/attend.h"
#include "heed/kernels/cpu/graph/attend.h"
#include "heed/kernels/cpu/multi/attend.h"
#include "heed/kernels/reference/reference.h"
