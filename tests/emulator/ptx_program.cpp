// The parser: PTX as NVRTC writes it, one entry after the other, calls written out.
#include "tests/emulator/ptx_program.h"

#include "tests/emulator/ptx_text.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace halfscope::test::ptx {
namespace {

class Parser {
public:
    explicit Parser(std::string_view text) {
        size_t begin = 0;
        while (begin < text.size()) {
            const size_t end = std::min(text.find('\n', begin), text.size());
            m_program->lines.emplace_back(text.substr(begin, end - begin));
            begin = end + 1;
        }
        m_owned = text;
        m_functions = takeFunctions(m_owned);
        m_statements = Statements(m_owned, 1);
    }
    std::unique_ptr<Program> run() {
        try {
            takeAll();
        } catch (const std::exception& error) {
            throw std::runtime_error("PTX line " + std::to_string(m_statements.line()) + " (" +
                                     m_statements.text() + "): " + error.what());
        }
        return std::move(m_program);
    }

private:
    using Names = std::unordered_map<std::string, Operand>;

    void takeAll() {
        while (m_statements.next())
            take(trimmed(m_statements.text()));
    }
    void take(std::string_view statement);
    void directive(std::string_view statement);
    void variable(std::string_view statement);
    void declareRegisters(std::string_view rest);
    void beginKernel(std::string_view statement);
    void endKernel();
    void instruction(std::string_view statement);
    void call(std::string_view operands);
    bool isParameterOfEntry(std::string_view operands) const;
    void addOperands(Instruction& to, std::string_view text);
    void addAddress(Instruction& to, std::string_view text);
    Operand newRegister(bool wide);
    Operand constant(uint64_t bits, bool wide);
    Operand operandOf(std::string_view text, bool wide);
    std::optional<uint64_t> addressOf(std::string_view name) const;
    uint64_t dynamicStart(const std::string& name) const;
    std::optional<Special> specialOf(std::string_view name) const;

    std::string m_owned;
    std::map<std::string, Function> m_functions;
    Statements m_statements; ///< of m_owned, or of a function that is called
    std::unique_ptr<Program> m_program = std::make_unique<Program>();
    Kernel* m_kernel = nullptr;
    std::vector<Names> m_scopes;
    std::string m_prefix; ///< of labels in what is called at present: empty in an entry
    int m_calls = 0;
    std::map<std::string, int> m_labels;
    std::vector<std::pair<size_t, std::string>> m_jumps;
    std::map<std::pair<uint64_t, bool>, Operand> m_constants;
    std::map<std::string, uint64_t> m_local, m_sharedOfModule;
    std::map<std::string, uint64_t> m_alignments; ///< of dynamic shared memory's names
    uint64_t m_moduleSharedBytes = 0;
    bool m_wide = false;
};

void Parser::take(std::string_view statement) {
    if (statement.empty()) return;
    if (m_statements.isLabel()) {
        m_labels[m_prefix + std::string(statement)] = static_cast<int>(m_kernel->code.size());
    } else if (statement == "{") {
        if (m_kernel == nullptr) throw std::runtime_error("a body without a kernel");
        m_scopes.emplace_back();
    } else if (statement == "}") {
        m_scopes.pop_back();
        if (m_scopes.empty()) endKernel();
    } else if (statement[0] == '.') {
        directive(statement);
    } else {
        instruction(statement);
    }
}

void Parser::directive(std::string_view statement) {
    const auto [word, rest] = firstWord(statement);
    if (word == ".version" || word == ".target" || word == ".address_size" || word == ".pragma" ||
        word == ".minnctapersm" || word == ".maxnreg" || word == ".loc" || word == ".file")
        return;
    if (word == ".maxntid" || word == ".reqntid")
        m_kernel->maxThreads = std::stoi(std::string(rest));
    else if (word == ".visible" || word == ".entry")
        beginKernel(statement);
    else if (word == ".reg")
        declareRegisters(rest);
    else
        variable(statement);
}

void Parser::variable(std::string_view statement) {
    const Declaration made = declarationIn(statement);
    const auto placed = [&](uint64_t& end) {
        end = (end + made.align - 1) / made.align * made.align;
        const uint64_t at = end;
        end += made.size();
        return at;
    };
    if (made.space == ".shared" && made.isExtern) {
        m_sharedOfModule[made.name] = ~uint64_t{0}; // behind the static ones
        m_alignments[made.name] = std::max<uint64_t>(made.align, 16);
    } else if (made.space == ".shared") {
        m_sharedOfModule[made.name] = kSharedStart + placed(m_moduleSharedBytes);
    } else if (made.space == ".local" || made.space == ".param") { // those of calls
        m_local[made.name] = kLocalStart + placed(m_kernel->localBytes);
    } else {
        auto& words = m_program->variables[made.name];
        words.assign(made.size() / 8 + 2, 0);
        m_program->variableBytes[made.name] = made.size();
        auto* at = reinterpret_cast<unsigned char*>(words.data());
        for (const uint64_t bits : made.values) {
            std::memcpy(at, &bits, static_cast<size_t>(made.bytes));
            at += made.bytes;
        }
    }
}

void Parser::beginKernel(std::string_view statement) {
    const size_t open = statement.find('('), close = statement.rfind(')');
    const std::string_view before = trimmed(statement.substr(0, open));
    const std::string name(before.substr(before.find_last_of(kBlanks) + 1));
    if (statement.find(".entry") == std::string_view::npos)
        throw std::runtime_error("no entry: calls are not run");
    m_kernel = &m_program->kernels[name];
    m_kernel->name = name;
    for (const std::string_view parameter : parts(statement.substr(open + 1, close - open - 1)))
        m_kernel->parameters.emplace_back(parameter.substr(parameter.find_last_of(kBlanks) + 1));
    m_labels.clear();
    m_jumps.clear();
    m_constants.clear();
    m_local.clear();
    m_scopes.clear();
}

void Parser::endKernel() {
    for (const auto& [at, label] : m_jumps) {
        const auto found = m_labels.find(label);
        if (found == m_labels.end()) throw std::runtime_error("no label " + label);
        m_kernel->code[at].target = found->second;
    }
    m_kernel->sharedBytes = m_moduleSharedBytes;
    m_kernel = nullptr;
}

Operand Parser::newRegister(bool wide) {
    m_kernel->words = (m_kernel->words + 15) / 16 * 16;
    const Operand made{m_kernel->words, m_kernel->registers++, wide, false};
    m_kernel->words += wide ? 2 * kLanes : kLanes;
    return made;
}

/// `.b32 %r<540>` or `.b32 %temp`
void Parser::declareRegisters(std::string_view rest) {
    const auto [type, names] = firstWord(rest);
    const bool wide = bytesOfType(type) == 8;
    for (const std::string_view name : parts(names)) {
        const size_t range = name.find('<');
        const std::string stem(name.substr(0, range));
        if (range == std::string_view::npos) {
            m_scopes.back()[stem] = newRegister(wide);
            continue;
        }
        const int count = std::stoi(std::string(name.substr(range + 1)));
        for (int i = 0; i < count; ++i)
            m_scopes.back()[stem + std::to_string(i)] = newRegister(wide);
    }
}

Operand Parser::constant(uint64_t bits, bool wide) {
    const auto [found, isNew] = m_constants.try_emplace({bits, wide});
    if (isNew) {
        found->second = newRegister(wide);
        m_kernel->constants.push_back({found->second, bits});
    }
    return found->second;
}

uint64_t Parser::dynamicStart(const std::string& name) const {
    const uint64_t align = m_alignments.at(name);
    const uint64_t at = (kSharedStart + m_moduleSharedBytes + align - 1) / align * align;
    m_kernel->dynamicStart = std::max(m_kernel->dynamicStart, at - kSharedStart);
    return at;
}

std::optional<uint64_t> Parser::addressOf(std::string_view view) const {
    const std::string name(view);
    if (const auto found = m_local.find(name); found != m_local.end()) return found->second;
    if (const auto found = m_sharedOfModule.find(name); found != m_sharedOfModule.end())
        return found->second == ~uint64_t{0} ? dynamicStart(name) : found->second;
    if (const auto found = m_program->variables.find(name); found != m_program->variables.end())
        return reinterpret_cast<uint64_t>(found->second.data());
    if (m_kernel != nullptr)
        for (size_t i = 0; i < m_kernel->parameters.size(); ++i)
            if (m_kernel->parameters[i] == name) return 8 * i;
    return {};
}

std::optional<Special> Parser::specialOf(std::string_view name) const {
    static const std::map<std::string_view, Special> kNames = {
        {"%tid.x", Special::TidX},        {"%tid.y", Special::TidY},
        {"%tid.z", Special::TidZ},        {"%ntid.x", Special::NtidX},
        {"%ntid.y", Special::NtidOne},    {"%ntid.z", Special::NtidOne},
        {"%ctaid.x", Special::CtaidX},    {"%ctaid.y", Special::CtaidZero},
        {"%ctaid.z", Special::CtaidZero}, {"%nctaid.x", Special::NctaidX},
        {"%nctaid.y", Special::NtidOne},  {"%nctaid.z", Special::NtidOne},
        {"%laneid", Special::LaneId},     {"%warpid", Special::WarpId}};
    const auto found = kNames.find(name);
    return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

/// A register, or a number, name or special register as one that nothing writes.
Operand Parser::operandOf(std::string_view text, bool wide) {
    if (text == "_") {
        Operand sink = newRegister(wide);
        sink.sink = true;
        return sink;
    }
    const std::string name(text);
    for (auto scope = m_scopes.rbegin(); scope != m_scopes.rend(); ++scope)
        if (const auto found = scope->find(name); found != scope->end()) return found->second;
    if (const std::optional<Special> special = specialOf(text)) {
        const Operand made = newRegister(false);
        m_scopes.front()[name] = made;
        m_kernel->specials.emplace_back(made, *special);
        return made;
    }
    if (const std::optional<uint64_t> bits = literal(text)) return constant(*bits, wide);
    if (const std::optional<uint64_t> address = addressOf(text)) return constant(*address, wide);
    throw std::runtime_error("what is " + name + "?");
}

/// `[register + number]`, `[name + number]`, `[number]`
void Parser::addAddress(Instruction& to, std::string_view text) {
    const size_t plus = text.find('+');
    const std::string_view base = trimmed(text.substr(0, plus));
    if (plus != std::string_view::npos)
        to.offset = static_cast<int64_t>(literal(trimmed(text.substr(plus + 1))).value());
    to.operands.push_back(operandOf(base, true));
}

void Parser::addOperands(Instruction& to, std::string_view text) {
    if (text.starts_with("{")) {
        for (const std::string_view part : parts(text.substr(1, text.size() - 2)))
            addOperands(to, part);
    } else if (text.starts_with("[")) {
        addAddress(to, trimmed(text.substr(1, text.size() - 2)));
    } else if (const size_t bar = text.find('|'); bar != std::string_view::npos) {
        to.operands.push_back(operandOf(trimmed(text.substr(0, bar)), false));
        to.operands.push_back(operandOf(trimmed(text.substr(bar + 1)), false));
    } else {
        to.operands.push_back(operandOf(text, m_wide));
    }
}

/// Whether numbers among the operands of `name` have 8 bytes.
bool takesWide(std::string_view name) {
    const std::string_view type = name.substr(name.rfind('.') + 1);
    if (name.starts_with("mul.wide") || name.starts_with("shl") || name.starts_with("shr"))
        return false;
    return type.ends_with("64") || name.starts_with("mad.wide");
}

/// Whether an address among the operands has the name of one.
bool Parser::isParameterOfEntry(std::string_view operands) const {
    const size_t open = operands.find('[') + 1;
    const std::string_view name = operands.substr(open, operands.find_first_of("+]") - open);
    const auto& all = m_kernel->parameters;
    return std::find(all.begin(), all.end(), trimmed(name)) != all.end();
}

/// `(results), name, (parameters)`: the function's statements, whose parameters are the caller's.
void Parser::call(std::string_view operands) {
    std::vector<std::string_view> all = parts(operands);
    std::vector<std::string_view> results, arguments;
    const auto inner = [](std::string_view list) { return list.substr(1, list.size() - 2); };
    if (all.front().starts_with("(")) {
        results = parts(inner(all.front()));
        all.erase(all.begin());
    }
    if (all.size() > 1) arguments = parts(inner(all[1]));
    const auto found = m_functions.find(std::string(all.front()));
    if (found == m_functions.end()) throw std::runtime_error("a call of what is not there");
    const Function& function = found->second;
    const auto names = m_local;
    for (size_t i = 0; i < results.size(); ++i)
        m_local[function.results.at(i)] = names.at(std::string(results[i]));
    for (size_t i = 0; i < arguments.size(); ++i)
        m_local[function.parameters.at(i)] = names.at(std::string(arguments[i]));

    const std::string prefix = "call " + std::to_string(++m_calls) + " ";
    const std::string callersPrefix = std::exchange(m_prefix, prefix);
    const Statements caller = std::exchange(m_statements, Statements(function.body, function.line));
    m_scopes.emplace_back();
    takeAll();
    m_scopes.pop_back();
    m_labels[prefix] = static_cast<int>(m_kernel->code.size()); // where its ret goes
    m_prefix = callersPrefix;
    m_statements = caller;
    m_local = names;
}

void Parser::instruction(std::string_view statement) {
    Instruction made;
    made.line = m_statements.line();
    if (statement[0] == '@') {
        const auto [guard, rest] = firstWord(statement);
        made.guarded = true;
        made.negated = guard[1] == '!';
        made.guard = operandOf(guard.substr(made.negated ? 2 : 1), false);
        statement = rest;
    }
    const auto [view, rest] = firstWord(statement);
    std::string name(view);
    if (view.starts_with("call")) {
        if (made.guarded) throw std::runtime_error("a call with a guard");
        return call(rest);
    }
    if (view.starts_with("ret") && !m_prefix.empty()) name = "bra"; // to the end of what is called
    const size_t space = name.find(".param.");
    if (space != std::string::npos && !isParameterOfEntry(rest)) name.replace(space, 7, ".local.");
    const Meaning meaning = meaningOf(name);
    made.run = meaning.run;
    made.flow = meaning.flow;
    m_kernel->hasGroups = m_kernel->hasGroups || made.flow == Flow::Group;
    made.space = meaning.space;
    made.bytes = meaning.bytes;
    made.count = meaning.count;
    made.isSigned = meaning.isSigned;
    made.isCoherent = meaning.isCoherent;
    if (made.flow == Flow::Branch) {
        m_jumps.emplace_back(m_kernel->code.size(), m_prefix + std::string(rest));
    } else {
        m_wide = takesWide(view);
        for (const std::string_view part : parts(rest)) {
            addOperands(made, part);
            if (made.packed == 0) made.packed = static_cast<int>(made.operands.size());
        }
    }
    m_kernel->code.push_back(std::move(made));
}

} // namespace

std::unique_ptr<Program> parse(std::string_view text) { return Parser(text).run(); }

} // namespace halfscope::test::ptx
