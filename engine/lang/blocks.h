// The statements of a program with the blocks in which they stand, told apart by the blanks before
// their lines, as Python does; and the parts of "def" and "self.net = ".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope::lang {

/// A statement with the blanks before its line.
struct IndentedStatement {
    std::string_view code;
    size_t indent = 0;
};
std::vector<IndentedStatement> indentedStatements(std::string_view program);

/// Returns the number of the first statement behind the block below this one.
size_t blockEnd(const std::vector<IndentedStatement>&, size_t head);

std::string_view firstWord(std::string_view code);
std::string withoutBlanks(std::string_view code);

/// Returns what stands in the brackets behind "def name"; empty for other statements.
std::string_view argumentsOfDef(std::string_view code);
/// Adds the names in a list of arguments such as "self, *sizes, width: int = 8".
void addArguments(std::string_view list, std::vector<std::string_view>& names);
/// Returns the statements of the function that begins with statement `def`, those of blocks within
/// it, too.
std::vector<std::string_view> bodyOfDef(const std::vector<IndentedStatement>&, size_t def);
/// Whether a statement begins the function of this name.
bool definesFunction(std::string_view code, std::string_view name);

/// Returns "net" of "net: nn.Module = "; empty where no single name is set.
std::string_view targetOf(std::string_view target);
/// Returns "self.net" of "self.net = "; empty where nothing of a class is set.
std::string_view attributeOf(std::string_view target);

} // namespace halfscope::lang
