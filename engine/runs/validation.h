// What is measured on samples that a lane does not train on.
#pragma once

#include <optional>

namespace halfscope {

struct Validation {
    double loss = 0;                  ///< the mean over the samples
    std::optional<double> accuracy{}; ///< share of samples; nothing where targets are numbers
    /// e to the power of the loss; nothing where measuresPerplexity() says so.
    std::optional<double> perplexity{};
    /// The mean absolute error in the units of the data, where targets are standardised.
    std::optional<double> error{};
};

} // namespace halfscope
