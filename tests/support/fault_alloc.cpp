// Stands before operator new and makes one call of it fail, or all calls from there on. It counts
// calls from the program's own code: what the program's file holds (the engine and the window are
// linked into it), and libstdc++, which makes strings and threads for it. What Qt, SQLite and
// others allocate for themselves is left alone.
#include "tests/support/fault_plan.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include <link.h>

namespace {

using halfscope::faults::fails;
using halfscope::faults::Kind;

struct Place {
    uintptr_t first = 0, end = 0;
    bool holds(uintptr_t address) const { return address >= first && address < end; }
};

Place placeOf(const dl_phdr_info& file) {
    Place place{UINTPTR_MAX, 0};
    for (int i = 0; i < file.dlpi_phnum; ++i) {
        if (file.dlpi_phdr[i].p_type != PT_LOAD) continue;
        const uintptr_t first = file.dlpi_addr + file.dlpi_phdr[i].p_vaddr;
        place.first = first < place.first ? first : place.first;
        const uintptr_t end = first + file.dlpi_phdr[i].p_memsz;
        place.end = end > place.end ? end : place.end;
    }
    return place;
}

struct OwnCode {
    Place program, library;
    OwnCode() { dl_iterate_phdr(&OwnCode::look, this); }
    static int look(dl_phdr_info* file, size_t, void* to) {
        auto* own = static_cast<OwnCode*>(to);
        if (own->program.end == 0)
            own->program = placeOf(*file); // the program comes first
        else if (std::strstr(file->dlpi_name, "/libstdc++.so"))
            own->library = placeOf(*file);
        return 0;
    }
};

bool isOwn(const void* caller) {
    static const OwnCode s_own;
    const auto address = reinterpret_cast<uintptr_t>(caller);
    return s_own.program.holds(address) || s_own.library.holds(address);
}

void* take(size_t bytes, size_t alignment, const void* caller) {
    if (isOwn(caller) && fails(Kind::Alloc)) return nullptr;
    if (bytes == 0) bytes = 1;
    if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes);
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* orThrow(void* memory) {
    if (!memory) throw std::bad_alloc();
    return memory;
}

size_t of(std::align_val_t alignment) { return static_cast<size_t>(alignment); }

} // namespace

// The library's operators delete free what these return.
#define CALLER __builtin_return_address(0)
void* operator new(size_t bytes) { return orThrow(take(bytes, 1, CALLER)); }
void* operator new[](size_t bytes) { return orThrow(take(bytes, 1, CALLER)); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return take(bytes, 1, CALLER); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
    return take(bytes, 1, CALLER);
}
void* operator new(size_t bytes, std::align_val_t to) {
    return orThrow(take(bytes, of(to), CALLER));
}
void* operator new[](size_t bytes, std::align_val_t to) {
    return orThrow(take(bytes, of(to), CALLER));
}
void* operator new(size_t bytes, std::align_val_t to, const std::nothrow_t&) noexcept {
    return take(bytes, of(to), CALLER);
}
void* operator new[](size_t bytes, std::align_val_t to, const std::nothrow_t&) noexcept {
    return take(bytes, of(to), CALLER);
}
