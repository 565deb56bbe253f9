// SPDX-License-Identifier: MIT
/* Has the kernel map all pages at once that a start writes, before the C library's start writes its first: a fault
   each took more than the copying. The linker names it as the entry (Makefile). A kernel without the call says no. */
#if defined(KURA_FIRST_HEAP) && defined(__x86_64__)
__asm__(
    ".globl kura_entry\n"
    ".type kura_entry, @function\n"
    ".section .text.kura_entry,\"ax\",@progbits\n"
    "kura_entry:\n"
    "  lea __init_array_start(%rip), %rdi\n"
    "  and $-4096, %rdi\n"
    "  lea _end(%rip), %rsi\n"
    "  sub %rdi, %rsi\n"
    "  mov $23, %edx\n" /* MADV_POPULATE_WRITE */
    "  mov $28, %eax\n" /* madvise */
    "  syscall\n"
    "  xor %edx, %edx\n"
    "  jmp _start\n"
    ".size kura_entry, .-kura_entry\n"
    ".previous\n"
    ".hidden _end\n"
    ".hidden __init_array_start\n");
#else
typedef int kura_entry_is_the_libraries_own;
#endif
