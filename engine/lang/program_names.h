// What a program gives to the names in its models: numbers that are certain, or something else.
#pragma once

#include "engine/lang/blocks.h"
#include "engine/lang/found_models.h"

#include <map>
#include <memory>
#include <string_view>
#include <vector>

namespace halfscope::lang {

/// A statement such as "hidden: int = 2 * width": a name, and what may be a number.
struct NamedNumber {
    std::string_view code, name, value;
    const char* statement = nullptr; ///< where it begins
    int block = 0;                   ///< in which it stands, see OpenBlocks
};

/// What a program gives to the names in a model.
struct GivenNames {
    std::vector<NamedNumber> numbers{};      ///< in their order
    std::vector<std::string_view> unknown{}; ///< what others of its statements bind
};

/// Looks names up for any number of models. Reads the statements once for all models that are made
/// in the same functions, so that a class of a thousand layers takes a thousand steps, not a
/// million.
class ProgramNames {
public:
    explicit ProgramNames(std::string_view program); ///< the text must outlive it
    ProgramNames(const ProgramNames&) = delete;
    ProgramNames& operator=(const ProgramNames&) = delete;
    ~ProgramNames();

    /// Returns the statements above a model that give numbers to the names in it, those last set.
    /// They stand in the block of the model or in none: whether those in another one count, only a
    /// run of the program would tell. A name that stands for something else as well is left out:
    /// its value is not known.
    GivenNames above(const FoundModel&);
    /// Returns the names of the arguments of the functions in which a model is made: only their
    /// callers know the values.
    std::vector<std::string_view> arguments(const FoundModel&) const;

private:
    struct Bound;

    std::string_view m_program;
    std::vector<IndentedStatement> m_statements;
    /// By the functions in which a model is made.
    std::map<std::vector<size_t>, std::unique_ptr<Bound>> m_bound;
};

} // namespace halfscope::lang
