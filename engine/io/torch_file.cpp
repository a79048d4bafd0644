// The program has no double quotes and no dollar signs, so that a shell takes it as it is printed.
#include "engine/io/torch_file.h"

#include "engine/core/text.h"
#include "engine/io/input_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace halfscope {
namespace {

/// A new safetensors file beside this one.
std::string convertedName(const std::string& path) {
    std::filesystem::path file(path);
    const bool taken = lowerCase(file.extension().string()) == ".safetensors";
    const std::filesystem::path stem = file.replace_extension();
    const auto with = [&stem](const std::string& ending) {
        std::filesystem::path named(stem);
        return named += ending;
    };
    file = with(taken ? ".converted.safetensors" : ".safetensors");
    std::error_code ignored;
    for (int number = 1; std::filesystem::exists(file, ignored); ++number)
        file = with(".converted" + (number > 1 ? "-" + std::to_string(number) : std::string()) +
                    ".safetensors");
    return file.string();
}

/// `from` and `to` are words of a shell. The program copies each tensor, for save_file() refuses
/// those that share their memory or do not lie in C's order.
std::string commandLine(const std::string& from, const std::string& to) {
    return "python3 -c \"import sys, torch, safetensors.torch as s; "
           "d = torch.load(sys.argv[1], map_location='cpu'); "
           "d = d if isinstance(d, dict) else "
           "dict(zip('xy', d if isinstance(d, (tuple, list)) else [d])); "
           "d = next((d[k] for k in ('model_state_dict', 'state_dict', 'model') "
           "if isinstance(d.get(k), dict)), next((v for v in d.values() "
           "if isinstance(v, dict) and any(map(torch.is_tensor, v.values()))), d)); "
           "s.save_file({k: v.clone().contiguous() for k, v in d.items() "
           "if torch.is_tensor(v)}, sys.argv[2])\" " +
           from + " " + to;
}

/// Whether the file is a zip archive that begins with another file than torch.save() writes first.
bool isOtherZip(const std::string& path) {
    constexpr size_t kLength = 26, kName = 30; // where the length of the name and the name begin
    std::array<char, 512> start{};
    InputFile file(path);
    const std::string_view bytes(start.data(), file.read(start));
    if (!bytes.starts_with("PK\x03\x04")) return false;
    const auto byte = [&start](size_t at) { return size_t{static_cast<unsigned char>(start[at])}; };
    const size_t length = byte(kLength) + 256 * byte(kLength + 1);
    return !bytes.substr(std::min(kName, bytes.size()), length).ends_with("/data.pkl");
}

} // namespace

bool isTorchFile(const std::string& path) {
    constexpr std::array<std::string_view, 6> kEndings{".pt", ".pth", ".ckpt", ".bin", ".tar", ""};
    const std::string ending = lowerCase(std::filesystem::path(path).extension().string());
    const bool own = ending == ".pt" || ending == ".pth"; // others may be of any archive
    std::error_code ignored;
    return std::ranges::find(kEndings, ending) != kEndings.end() &&
           std::filesystem::is_regular_file(path, ignored) && beginsAsTorchFile(path) &&
           (own || !isOtherZip(path));
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

std::string torchFileCommand(const std::string& path) {
    return commandLine(shellWord(path), shellWord(convertedName(path)));
}

Message torchFileRefusal(const std::string& path) {
    return {phrase("Files",
                   "%1: torch.save() wrote it, and loading such a file can run any code, so it is "
                   "not opened. To convert it, run: %2; weights in the new file are for "
                   "model.weights, and samples for data.x and data.y; of a whole model, save "
                   "model.state_dict() first"),
            pathText(path), commandLine(shellText(path), shellText(convertedName(path)))};
}

} // namespace halfscope
