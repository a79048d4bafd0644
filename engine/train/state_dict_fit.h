// How the tensors of a file fit a network, by name and by shape, and what is to be said of it.
// Reading the file is left to state_dict.
#pragma once

#include "engine/core/message.h"
#include "engine/train/weight_group.h"

#include <string>
#include <vector>

namespace halfscope {

/// How a file of weights fits a network.
struct StateDictFit {
    size_t wanted = 0; ///< the network's weights; num_batches_tracked is none
    size_t taken = 0;  ///< those of them that the file has by name
    std::vector<std::string> missing{}, unexpected{};
    /// Those whose shapes differ from the network's by nothing but ones at the end, as the weights
    /// of a 1 x 1 convolution and of nn.Linear do; they are taken.
    std::vector<std::string> reshaped{};
    std::string prefix{}; ///< see WeightGroup, as are the next ones
    std::vector<std::string> left{}, tied{}, alike{};
    bool isTorchvision = false;
    /// Where names differ and each layer still has one of the same shapes in the file, see
    /// pairsByShape(); empty where all names are the same.
    WeightPairs pairs{};
    /// See renamedIn(), in the order of the network's layers; also of torchvision's names.
    std::vector<std::string> renamed{};
    /// Why the file cannot be taken as a whole: names, shapes and types, as readStateDict() throws
    /// it; empty when it can, by name or by pairs.
    Message problem{};
    /// What differs, without the words around it; empty where `problem` is.
    Message differences{};
    /// Why not even a part of it can be taken, as load_state_dict(strict=False) takes it: shapes
    /// and types, or no name that fits; empty when it can.
    Message partialProblem{};
};

/// A file, and how what it has for the network fits it.
struct FittedFile {
    WeightGroup group;
    StateDictFit fit;
};

/// Compares a file by its own names alone, as load_state_dict() does.
StateDictFit fitByName(const std::string& path, const SafetensorsInfo&, const WantedWeights&);
/// Compares the group of it that is the network's, and looks for pairs where that does not fit by
/// name. A part is taken by name, unless none fits.
FittedFile fittedFile(const std::string& path, const SafetensorsInfo&, const WantedWeights&);

/// Throws InputError when the file is not to be taken as a whole or, where parts are allowed, not
/// even so.
void checkFit(const StateDictFit&, bool partial);
/// Throws likewise, and says how a part of a file that does not fit as a whole could be taken.
void checkFirstFit(const StateDictFit&, bool partial);

/// Returns what differs between a file that is taken and the network; empty for nothing. `pairs`
/// are those that are used.
Message noteOn(const std::string& path, const StateDictFit&, const WeightPairs& pairs);

} // namespace halfscope
