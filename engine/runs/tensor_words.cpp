// By the words: a checkpoint keeps no more of a tensor's message.
#include "engine/runs/tensor_words.h"

#include "engine/runs/events.h"

#include <string>

namespace halfscope {

Message layerInWords(std::string_view layer) {
    constexpr std::string_view kSecond = "second ", kCritic = "critic ";
    if (layer.starts_with(kSecond))
        return {phrase("Events", "%1 of the second network"),
                layerInWords(layer.substr(kSecond.size()))};
    if (layer.starts_with(kCritic))
        return {phrase("Events", "%1 of the critic"), layerInWords(layer.substr(kCritic.size()))};
    if (layer == "output layer") return phrase("Events", "the output layer");
    if (layer == "output") return phrase("Events", "the output");
    if (layer == "input") return phrase("Events", "the input");
    return Message::data(layer);
}

Message tensorInWords(const Message& tensor) {
    const std::string text = tensor.english();
    if (const std::string_view layer = layerOfForward(text); !layer.empty())
        return {phrase("Events", "the forward pass of %1"), layerInWords(layer)};
    std::string_view begin = kBackwardPass.text();
    begin = begin.substr(0, begin.find('%'));
    if (text.starts_with(begin))
        return {phrase("Events", "the backward pass of %1"),
                layerInWords(std::string_view(text).substr(begin.size()))};
    return tensor;
}

} // namespace halfscope
