//! Graph to CSR in both directions, and its profile.
