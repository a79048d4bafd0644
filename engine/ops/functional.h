// PyTorch's functions on nodes, by topic. Each function asks the autocast policy, promotes dtypes,
// broadcasts, and emits strict nodes. Norms, softmax and losses run with autocast off inside, as
// PyTorch's kernels do. Functions of several steps compute in F32 and round their result once. Axes
// may be negative.
#pragma once

#include "engine/ops/cast_inputs.h"
#include "engine/ops/functions/activations.h"
#include "engine/ops/functions/arithmetic.h"
#include "engine/ops/functions/distances.h"
#include "engine/ops/functions/indexing.h"
#include "engine/ops/functions/losses.h"
#include "engine/ops/functions/norms.h"
#include "engine/ops/functions/products.h"
#include "engine/ops/functions/reductions.h"
#include "engine/ops/functions/resampling.h"
#include "engine/ops/functions/vision.h"
