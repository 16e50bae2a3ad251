// Trained models: heed::Translator loads a run folder, translates, scores and aligns.

#pragma once

#include "heed/models/translate/translator.h"
