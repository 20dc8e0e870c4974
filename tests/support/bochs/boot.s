/* From the processor's reset to `serve` in 64-bit mode, with AVX-512: the last half kilobyte of the ROM, which ends at
   one megabyte. Nothing is known of sections here but their place: addresses are distances from `rom`. */
.set ROM, 0xFFE00
.set PAGE_MAP, 0x1000
.set PAGE_POINTERS, 0x2000
.set STACK, 0x80000

.section .boot, "ax"
rom:
descriptors:
    .quad 0
    .quad 0x00CF9A000000FFFF    /* 8: code, 32 bits */
    .quad 0x00CF92000000FFFF    /* 16: data */
    .quad 0x00AF9A000000FFFF    /* 24: code, 64 bits */
descriptors_end:
descriptor_table:
    .word descriptors_end - descriptors - 1
    .long ROM

.code16
real_mode:
    cli
    lgdtl %cs:(ROM - 0xF0000 + descriptor_table - rom)
    mov $0x11, %eax             /* CR0: PE, ET */
    mov %eax, %cr0
    ljmpl $8, $(ROM + protected_mode - rom)

.code32
protected_mode:
    mov $16, %eax
    mov %eax, %ds
    mov %eax, %es
    mov %eax, %ss
    /* Four pages of a gigabyte, each where it is. */
    movl $(PAGE_POINTERS + 3), PAGE_MAP
    movl $0, PAGE_MAP + 4
    xor %ecx, %ecx
next_page:
    mov %ecx, %eax
    shl $30, %eax
    or $0x83, %eax              /* present, writable, a whole gigabyte */
    mov %eax, PAGE_POINTERS(,%ecx,8)
    movl $0, PAGE_POINTERS + 4(,%ecx,8)
    inc %ecx
    cmp $4, %ecx
    jne next_page
    mov $0x40620, %eax          /* CR4: PAE, OSFXSR, OSXMMEXCPT, OSXSAVE */
    mov %eax, %cr4
    mov $PAGE_MAP, %eax
    mov %eax, %cr3
    mov $0xC0000080, %ecx       /* EFER */
    rdmsr
    or $0x100, %eax             /* LME */
    wrmsr
    mov $0x80000033, %eax       /* CR0: PG, NE, ET, MP, PE */
    mov %eax, %cr0
    ljmpl $24, $(ROM + long_mode - rom)

.code64
long_mode:
    mov $STACK, %esp
    xor %ecx, %ecx
    xor %edx, %edx
    mov $0xE7, %eax             /* XCR0: x87, SSE, AVX, and the three of AVX-512 */
    xsetbv
    call serve

.org 0x1F0
.code16
    jmp real_mode               /* where the processor starts */
.org 0x200, 0xF4
