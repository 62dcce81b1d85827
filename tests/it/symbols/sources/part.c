#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline __attribute__((always_inline)) uint64_t weigh(uint32_t value) {
    uint64_t weight = value >> 3;
    return weight * 31 + value;
}

static int compare(const void *a, const void *b) {
    uint64_t x = weigh(*(const uint32_t *)a), y = weigh(*(const uint32_t *)b);
    return (x > y) - (x < y);
}

__attribute__((noinline)) static uint64_t total(const uint32_t *values, size_t len) {
    uint64_t sum = 0;
    for (size_t i = 0; i < len; i++)
        sum += weigh(values[i]);
    return sum;
}

uint64_t c_sort(uint32_t *values, size_t len) {
    uint32_t *copy = malloc(len * sizeof *copy);
    if (!copy)
        abort();
    memcpy(copy, values, len * sizeof *copy);
    qsort(copy, len, sizeof *copy, compare);
    uint64_t sum = total(copy, len);
    memcpy(values, copy, len * sizeof *copy);
    free(copy);
    return sum;
}
