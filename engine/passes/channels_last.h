// Stores images with their channels last, (n, h, w, c), where convolutions would rather have them
// so. Every node between them is written for that layout, so that nothing is brought into another
// one on the way. Values stay the same but for the order in which sums are added.
#pragma once

#include "engine/graph/graph.h"

namespace halfscope {

/// Whether a device has a kernel for this node of the convolution family whose image and output may
/// each have their channels last.
using TakesChannelsLast = bool (*)(const Graph&, NodeId convolution);

/// Returns the graph with some images stored so: of images that are tied together, because nodes
/// between them go element by element or window by window, all or none. They are when every
/// convolution that reads or writes one of them takes them so, and when of the elements that
/// convolutions read and write less than the share `mostTransposed` is read and written by others,
/// for which it has to be transposed. States, inputs and outputs of the graph keep their layout.
Graph storeChannelsLast(const Graph&, TakesChannelsLast, double mostTransposed = 0.5);

} // namespace halfscope
