// Attention over the edges of a graph: the function, and a layer with parameters.

#pragma once

#include "heed/attention/graph.h"
#include "heed/structures/graph/gat.h"
