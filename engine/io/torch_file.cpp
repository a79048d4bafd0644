// The command has no double quotes inside, so that a shell takes it as it is printed.
#include "engine/io/torch_file.h"

#include "engine/core/text.h"
#include "engine/io/input_file.h"

#include <array>
#include <filesystem>
#include <string_view>

namespace halfscope {

bool isTorchFile(const std::string& path) {
    const std::string ending = lowerCase(std::filesystem::path(path).extension().string());
    std::error_code ignored;
    return (ending == ".pt" || ending == ".pth") && !std::filesystem::is_directory(path, ignored) &&
           beginsAsTorchFile(path);
}

bool beginsAsTorchFile(const std::string& path) {
    std::array<char, 8> start{};
    InputFile file(path);
    const size_t count = file.read(start);
    const std::string_view bytes(start.data(), count);
    // the length of a safetensors header, which is below 4 GiB
    const bool isLength =
        count == start.size() && bytes.substr(4) == std::string_view("\0\0\0\0", 4);
    // a zip archive, or protocols 2 and later
    return bytes.starts_with("PK\x03\x04") ||
           (bytes.starts_with('\x80') && count > 3 && bytes[1] >= 2 && bytes[1] <= 5 &&
            bytes[2] != '\0' && !isLength);
}

Message torchFileRefusal(const std::string& path) {
    return {phrase("Files",
                   "%1: torch.save() wrote it, and loading such a file can run any code, so it is "
                   "not opened. To convert it, run: python3 -c \"import sys, torch, "
                   "safetensors.torch as s; d = torch.load(sys.argv[1], map_location='cpu'); d = "
                   "d if isinstance(d, dict) else dict(zip('xy', d if isinstance(d, (tuple, list)) "
                   "else [d])); s.save_file({k: v.clone().contiguous() for k, v in d.items()}, "
                   "sys.argv[2])\" FILE.pt FILE.safetensors; weights in the new file are for "
                   "model.weights, and samples for data.x and data.y; of a whole model, save "
                   "model.state_dict() first; of a training checkpoint, write ['model'], or the "
                   "name of the entry that holds the state_dict, behind map_location='cpu')"),
            pathText(path)};
}

} // namespace halfscope
