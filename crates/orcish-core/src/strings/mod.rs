//! String and binary arrays from the lengths and the bytes of their values.

mod array;
mod dictionary;
mod values;
mod views;

pub use array::offsets;
pub use dictionary::DictionaryValues;
pub use values::{Values, ValuesBuilder, dictionary_array};
