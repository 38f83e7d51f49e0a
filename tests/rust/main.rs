//! Integration tests, one binary.

mod codegen;
