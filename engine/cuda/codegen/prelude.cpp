// Joins the device headers into the beginning of every text.
#include "engine/cuda/codegen/prelude.h"

#include "engine/cuda/codegen/step_source.h"

namespace halfscope::cuda {

std::string prelude() {
    std::string text;
    for (const DeviceHeader& header : deviceHeaders()) {
        text += "// ---- " + std::string(header.name) + "\n";
        // The joined text is not a header, and its compilers warn of "#pragma once". An include
        // would name a header whose text is already there.
        for (size_t at = 0; at < header.text.size();) {
            const size_t end = std::min(header.text.find('\n', at), header.text.size() - 1) + 1;
            const std::string_view line = header.text.substr(at, end - at);
            const bool dropped = line.starts_with("#pragma once") || line.starts_with("#include");
            text += dropped ? std::string_view("\n") : line;
            at = end;
        }
    }
    return text;
}

} // namespace halfscope::cuda
