// The network of a class whose forward() runs one layer or function after another, as PyTorch's
// tutorials write it: read as a Sequential whose layers have the names that the class gives them.
#pragma once

#include "engine/lang/class_chain.h"
#include "engine/lang/found_models.h"
#include "engine/lang/syntax.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// What may stand around a class.
enum class BesideClass : uint8_t {
    Anything, ///< it is a part of a program
    Making    ///< behind it, only lines such as "net = Net()"
};

class ClassNetwork {
public:
    /// Returns the network of the one class with a forward() that a program has. Nothing where
    /// forward() is no such chain, and where it is one nn.Sequential alone, see modelOfClass(),
    /// that needs no arguments of __init__().
    static std::optional<ClassNetwork> in(std::string_view program, BesideClass);
    /// Returns the line of the first statement in forward() that cannot be read as a layer; 0 where
    /// something else keeps the class from being read, or where there is none.
    static int unreadLine(std::string_view program);

    /// Returns the network, with its places in the program. Throws InputError where the text of a
    /// layer cannot be read.
    lang::Value value() const;
    /// Returns the program with spaces in place of everything but the class and the numbers that
    /// its layers use.
    std::string inPlace() const;

    int firstLine() const { return m_chain.whole.firstLine - m_lines; }
    int lastLine() const { return m_chain.whole.lastLine - m_lines; }
    /// The names of the numbers that its layers use, of those that no number is known for, and
    /// those of them that are arguments.
    lang::ModelText names() const;

private:
    struct Part {
        std::string name;      ///< in the Sequential
        std::string text{};    ///< of a function: the layer that does the same
        lang::FoundModel made; ///< the code of a member, or the place of a function
    };

    lang::Value layerOf(const Part&, lang::ProgramNames&) const;
    static std::optional<ClassNetwork> in(std::string_view program, BesideClass, int& unread);
    bool takesAxis(const lang::ChainedCall&);
    bool keepsOneValue() const;
    bool isOneValue(size_t from) const;
    bool addMember(const lang::ChainedCall&);
    bool addFunction(const lang::ChainedCall&);
    void add(const std::string& name, const std::string& text, const lang::FoundModel&);
    /// Returns the parts that are members, each once.
    std::vector<lang::FoundModel> members() const;
    /// Returns the line of the program that was given in which a place of program() is.
    int lineOf(size_t place) const;

    std::string_view program() const { return *m_program; }

    std::string m_given;
    /// m_lines lines of numbers, and then the program that was given; the chain points into it.
    std::shared_ptr<const std::string> m_program;
    int m_lines = 0;
    std::vector<size_t> m_lineEnds; ///< their places
    lang::ClassChain m_chain;
    std::vector<Part> m_parts;
    std::optional<size_t> m_single; ///< so many parts stand before a call like squeeze(-1)
    std::set<std::string> m_ofMembers, m_ofParts; ///< their names
};

} // namespace halfscope
