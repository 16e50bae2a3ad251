// Training from a recipe: heed::read_recipe, heed::train. Use the model in the run folder with heed/models.h.

#pragma once

#include "heed/data/recipe.h"
#include "heed/train/trainer.h"
