// Formats the comparison of ways to run a program.
#include "engine/exec/variant_table.h"

#include <cstdio>

namespace halfscope {

std::string variantTable(const std::vector<VariantTime>& variants) {
    std::string text;
    for (const VariantTime& variant : variants) {
        char line[96];
        const char mark = variant.chosen ? '*' : ' ';
        if (variant.seconds > 0)
            std::snprintf(line, sizeof line, "%c %-26s %9.4f ms", mark, variant.name.c_str(),
                          1e3 * variant.seconds);
        else
            std::snprintf(line, sizeof line, "%c %-26s %9s   ", mark, variant.name.c_str(), "-");
        text += line + (variant.note.empty() ? "" : "  " + variant.note) + "\n";
    }
    return text;
}

} // namespace halfscope
