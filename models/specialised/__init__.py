"""Specialised machine code of one mechanism: traced operations compiled by LLVM, without a C
compiler.
"""
