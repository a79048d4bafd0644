// The words for what is missing.
#include "engine/runs/missing_part.h"

namespace halfscope {

namespace {

Message wordsFor(const MissingPart& part) {
    using Kind = MissingPart::Kind;
    const std::string& name = part.name;
    switch (part.kind) {
    case Kind::All: return Message::data(name);
    case Kind::End: return {phrase("Files", "the end of %1"), name};
    case Kind::Rows: return {phrase("Files", "%1 after step %2"), name, part.step};
    case Kind::LastLine: return {phrase("Files", "the last line of %1"), name};
    case Kind::Rest: return {phrase("Files", "the rest of %1"), name};
    case Kind::RunEnd: return phrase("Files", "the end of the run");
    case Kind::Shares: return {phrase("Files", "the exact shares in %1"), name};
    }
    return {};
}

} // namespace

Message MissingPart::text() const {
    const Message words = wordsFor(*this);
    return reason.empty() ? words : Message(phrase("Files", "%1 (%2)"), words, reason);
}

} // namespace halfscope
