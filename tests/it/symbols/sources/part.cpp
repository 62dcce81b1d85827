#include <cstdint>

namespace mixing {
template <typename T, int N> struct Rounds {
    T state;
    __attribute__((always_inline)) T one(T value) { return (value ^ (value >> 33)) * 0xff51afd7ed558ccdULL; }
    __attribute__((noinline)) T run(T value) {
        for (int i = 0; i < N; i++)
            state += one(value + i);
        return state;
    }
};

struct Mixer {
    virtual ~Mixer() {}
    virtual uint64_t mix(uint64_t value) const = 0;
};

__attribute__((noinline)) static uint64_t both(uint64_t value) {
    Rounds<uint64_t, 4> a{1};
    Rounds<uint32_t, 7> b{2};
    return a.run(value) + b.run(static_cast<uint32_t>(value));
}
} // namespace mixing

extern "C" uint64_t cpp_mix(uint64_t value) { return mixing::both(value) ^ mixing::both(value + 1); }
