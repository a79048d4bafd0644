// What stands around a model in a program: the functions in which it is made, with their arguments,
// and the class that keeps it, with its forward().
#pragma once

#include "engine/lang/blocks.h"
#include "engine/lang/found_models.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope::lang {

/// Returns the names of the arguments of the functions in which a model is made, in a program of
/// these statements: only their callers
/// know the values.
std::vector<std::string_view> argumentsAround(std::string_view program,
                                              const std::vector<IndentedStatement>& all,
                                              const FoundModel&);

/// Returns where the functions begin in which a model is made.
std::vector<size_t> functionsAround(std::string_view program,
                                    const std::vector<IndentedStatement>& all, const FoundModel&);

/// What forward() of a class does with a model: of the class around it, or of one that uses it by
/// its name.
struct ForwardUse {
    int line = 0;        ///< where forward() begins; 0 where there is none
    size_t end = 0;      ///< behind its last statement
    bool alone = true;   ///< it is "return self.net(x)" and no more
    std::string model{}; ///< what the class calls the model, such as "self.net"; empty if nothing
    std::vector<std::string> others{}; ///< else it uses of the class, such as "self.stem"
};
ForwardUse forwardOf(std::string_view program, const FoundModel&);

} // namespace halfscope::lang
