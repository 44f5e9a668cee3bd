//! CSR to permutation and permuted CSR.
