// Knows the names that Hugging Face gives to the parts.
#include "engine/io/split_file.h"

#include "engine/core/text.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace halfscope {
namespace {

constexpr std::string_view kEnding = ".safetensors", kList = ".safetensors.index.json",
                           kOf = "-of-";
constexpr size_t kDigits = 5; ///< of a part's number, and of how many there are

bool isNumber(std::string_view text) {
    return text.size() == kDigits &&
           std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// The path of a part in pieces: "model", "00001" and "00002".
struct PartName {
    std::string_view stem, number, count;
};

std::optional<PartName> partNameOf(std::string_view path) {
    constexpr size_t kNumbers = 1 + kDigits + kOf.size() + kDigits; // "-00001-of-00002"
    if (!path.ends_with(kEnding)) return std::nullopt;
    path.remove_suffix(kEnding.size());
    if (path.size() < kNumbers) return std::nullopt;
    const std::string_view numbers = path.substr(path.size() - kNumbers);
    const PartName part{path.substr(0, path.size() - kNumbers), numbers.substr(1, kDigits),
                        numbers.substr(kNumbers - kDigits)};
    const bool named = numbers[0] == '-' && isNumber(part.number) && isNumber(part.count) &&
                       numbers.substr(1 + kDigits, kOf.size()) == kOf;
    return named && part.count != "00001" ? std::optional(part) : std::nullopt;
}

/// Returns the command that joins the parts in a new file. The shell finds them by the star.
std::string joinLine(const std::string& stem, std::string_view count) {
    std::error_code ignored;
    std::string to = stem + std::string(kEnding);
    if (std::filesystem::exists(to, ignored)) to = stem + ".joined" + std::string(kEnding);
    return "python3 -c \"import sys, safetensors.torch as s; s.save_file({k: v for f in "
           "sys.argv[2:] for k, v in s.load_file(f).items()}, sys.argv[1])\" " +
           shellText(to) + " " + shellText(stem) + "-*" + std::string(kOf) + std::string(count) +
           std::string(kEnding);
}

} // namespace

bool isListOfParts(const std::string& path) { return path.ends_with(kList); }

std::optional<Message> splitFileRefusal(const std::string& path) {
    if (isListOfParts(path))
        return Message(phrase("Files", "it only lists the files into which the weights were split; "
                                       "to join them, run: %1"),
                       joinLine(path.substr(0, path.size() - kList.size()), "*"));
    const auto part = partNameOf(path);
    if (!part) return std::nullopt;
    return Message(phrase("Files", "it is one of the %1 files into which the weights were split; "
                                   "to join them, run: %2"),
                   std::stoi(std::string(part->count)),
                   joinLine(std::string(part->stem), part->count));
}

} // namespace halfscope
