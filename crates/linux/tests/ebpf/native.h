/* What the kernel gives an eBPF program, for the machine that the tests run on: pointers are pointers. */
#ifndef NATIVE_H
#define NATIVE_H

#include <stdbool.h>
#include <stdint.h>

typedef uint8_t __u8;
typedef uint32_t __u32;
typedef uint64_t __u64;
typedef int32_t __s32;
typedef int64_t __s64;

#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define __noinline __attribute__((noinline))
#define __ksym
#define SEC(name)
#define BPF_PROG(name, arguments...) name(arguments)
#define BPF_CORE_READ_BITFIELD(structure, field) ((structure)->field)
#define READ_ONLY(pointer, type) ((type *)(pointer))

#endif
