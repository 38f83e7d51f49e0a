//! Options that are stated once: [`options!`](crate::options!) makes a struct of options with its defaults, setters and
//! the table that bindings walk, [`words!`](crate::words!) enumerations whose values have names.

use std::time::Duration;

use arrow_schema::SchemaRef;

use crate::error::{Error, Result};
use crate::expression::Predicate;
use crate::names::ColumnName;

/// An option of a struct, as its table has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct OptionInfo {
    /// The name of the option.
    pub name: &'static str,
    /// The kind of its values.
    pub kind: OptionKind,
    /// Whether it has no value by itself.
    pub is_optional: bool,
    /// Its documentation.
    pub doc: &'static str,
}

impl OptionInfo {
    #[doc(hidden)]
    pub const fn of<T: OptionType>(name: &'static str, doc: &'static str) -> Self {
        OptionInfo { name, kind: T::KIND, is_optional: T::IS_OPTIONAL, doc }
    }
}

/// The kind of the values of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionKind {
    /// True or false.
    Boolean,
    /// An integer.
    Integer,
    /// A number with a fraction.
    Number,
    /// A duration.
    Duration,
    /// Any text.
    Text,
    /// One of these words.
    Words(&'static [&'static str]),
    /// A list.
    List,
    /// Values of columns or keys, by their names.
    Pairs,
    /// Anything else.
    Object,
}

/// A type of options.
pub trait OptionType {
    /// The kind of the values.
    const KIND: OptionKind;
    /// Whether an option can have no value.
    const IS_OPTIONAL: bool = false;
}

macro_rules! option_types {
    ($($kind:ident: $($type:ty),+;)+) => {
        $($(impl OptionType for $type {
            const KIND: OptionKind = OptionKind::$kind;
        })+)+
    };
}

option_types! {
    Boolean: bool;
    Integer: i32, u32, u64, usize;
    Number: f64;
    Duration: Duration;
    Text: String;
    List: Vec<String>, Vec<ColumnName>, Vec<usize>;
    Object: Predicate, SchemaRef;
}

impl<N, T> OptionType for Vec<(N, T)> {
    const KIND: OptionKind = OptionKind::Pairs;
}

impl<T: OptionType> OptionType for Option<T> {
    const KIND: OptionKind = T::KIND;
    const IS_OPTIONAL: bool = true;
}

/// A value of an option before its conversion, such as an object of Python or a text.
pub trait GivenValue {
    /// The error of a value that cannot be converted.
    type Error;
}

/// A conversion to the type of an option.
pub trait ConvertTo<T>: GivenValue {
    /// Converts the value.
    ///
    /// # Errors
    /// The option cannot have the value.
    fn convert(&self) -> Result<T, Self::Error>;
}

/// An enumeration whose values have names, see [`words!`](crate::words!).
pub trait Words: Copy + 'static {
    /// All names and their values. A value may have several names.
    const WORDS: &'static [(&'static str, Self)];

    /// The value with this name.
    fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, value)| *value)
    }

    /// What a message says of a value that has no such name.
    fn requirement() -> String {
        let words: Vec<_> = Self::WORDS.iter().map(|(word, _)| *word).collect();
        format!("must be one of {}", words.join(", "))
    }
}

/// The value with a name.
#[doc(hidden)]
pub fn parse_word<T: Words>(text: &str) -> Result<T> {
    T::from_word(text).ok_or_else(|| Error::invalid(format!("{text:?}: {}", T::requirement())))
}

/// Whether a method is called `with_` and the name of a field.
#[doc(hidden)]
pub const fn is_setter_of(method: &str, field: &str) -> bool {
    let Some((mut prefix, mut name)) = method.as_bytes().split_at_checked("with_".len()) else { return false };
    let (mut expected, mut field) = ("with_".as_bytes(), field.as_bytes());
    while let ([a, rest @ ..], [b, expected_rest @ ..]) = (prefix, expected) {
        if *a != *b {
            return false;
        }
        (prefix, expected) = (rest, expected_rest);
    }
    while let ([a, rest @ ..], [b, field_rest @ ..]) = (name, field) {
        if *a != *b {
            return false;
        }
        (name, field) = (rest, field_rest);
    }
    name.is_empty() && field.is_empty()
}

/// Makes enumerations whose values have names: `name`, `FromStr` and `Display`, and [`Words`](crate::options::Words).
///
/// ```
/// orcish_core::words! {
///     /// A direction.
///     pub enum Direction {
///         /// To the top.
///         Up = "up" | "above",
///         /// To the bottom.
///         Down = "down",
///     }
/// }
///
/// assert_eq!("above".parse::<Direction>()?.name(), "up");
/// assert_eq!("left".parse::<Direction>().unwrap_err().to_string(), r#""left": must be one of up, above, down"#);
/// # Ok::<_, orcish_core::Error>(())
/// ```
#[macro_export]
macro_rules! words {
    ($(
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident = $word:literal $(| $alias:literal)*,)+
        }
    )+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        $visibility enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $name {
            /// The name of the value.
            pub const fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }
        }

        impl $crate::options::Words for $name {
            const WORDS: &'static [(&'static str, Self)] =
                &[$(($word, $name::$variant), $(($alias, $name::$variant),)*)+];
        }

        impl $crate::options::OptionType for $name {
            const KIND: $crate::options::OptionKind = $crate::options::OptionKind::Words(&[$($word, $($alias,)*)+]);
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::Error;

            fn from_str(text: &str) -> $crate::Result<Self> {
                $crate::options::parse_word(text)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.name())
            }
        }
    )+};
}

/// Makes a struct of options: its defaults, its setters, the table `OPTIONS` and the method `set` that sets an option of
/// the table by its name. Options in the block `unlisted` are not in the table.
///
/// An option without a value after `=` has the default of its type. The argument of a setter has the type of the option,
/// or:
///
/// | after the setter | argument | value |
/// |---|---|---|
/// | `(into)` | anything that becomes the type of the option | |
/// | `(into T)` | anything that becomes a `T` | `T` as the type of the option |
/// | `(of T)` | a `T` | `T` as the type of the option |
/// | `(each T)` | an iterator of what becomes a `T` | a `Vec<T>` as the type of the option |
/// | `(add N => T)` | what becomes an `N`, and what becomes a `T` | the pair is added to the others |
///
/// ```
/// orcish_core::options! {
///     /// Options of a printer.
///     #[derive(Debug, Clone)]
///     pub struct PrintOptions {
///         /// Number of copies.
///         copies: usize = 1 => with_copies,
///         /// The pages to print; all by default.
///         pages: Option<Vec<usize>> => with_pages(into),
///     }
/// }
///
/// let options = PrintOptions::default().with_pages(vec![1, 2]);
/// assert_eq!((options.copies, options.pages), (1, Some(vec![1, 2])));
/// assert_eq!(PrintOptions::OPTIONS.iter().map(|option| option.is_optional).collect::<Vec<_>>(), [false, true]);
/// ```
#[macro_export]
macro_rules! options {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident: $type:ty $(= $default:expr)? $(=> $setter:ident $(($($shape:tt)+))?)?,
            )+
            $(unlisted {
                $(
                    $(#[doc = $other_doc:literal])+
                    $other:ident: $other_type:ty $(= $other_default:expr)?
                        $(=> $other_setter:ident $(($($other_shape:tt)+))?)?,
                )+
            })?
        }
    ) => {
        $(#[$meta])*
        #[non_exhaustive]
        $visibility struct $name {
            $($(#[doc = $doc])+ pub $field: $type,)+
            $($($(#[doc = $other_doc])+ pub $other: $other_type,)+)?
        }

        impl ::std::default::Default for $name {
            fn default() -> Self {
                $name {
                    $($field: $crate::options!(@default $($default)?),)+
                    $($($other: $crate::options!(@default $($other_default)?),)+)?
                }
            }
        }

        /// Fields are assigned by name, or set in a chain of methods.
        impl $name {
            /// The options that are set by their names.
            pub const OPTIONS: &'static [$crate::options::OptionInfo] =
                &[$($crate::options::OptionInfo::of::<$type>(stringify!($field), concat!($($doc, "\n"),+)),)+];

            /// Sets an option of [`OPTIONS`](Self::OPTIONS). Returns whether there is one with this name.
            ///
            /// # Errors
            /// The option cannot have the value.
            pub fn set<V>(&mut self, name: &str, value: &V) -> ::std::result::Result<bool, V::Error>
            where
                V: $crate::options::GivenValue $(+ $crate::options::ConvertTo<$type>)+,
            {
                match name {
                    $(stringify!($field) => self.$field = $crate::options::ConvertTo::<$type>::convert(value)?,)+
                    _ => return Ok(false),
                }
                Ok(true)
            }

            $($($crate::options!(@setter $setter, $field, $type, $($($shape)+)?);)?)+
            $($($($crate::options!(@setter $other_setter, $other, $other_type, $($($other_shape)+)?);)?)+)?
        }
    };
    (@default) => { ::std::default::Default::default() };
    (@default $default:expr) => { $default };
    (@setter $setter:ident, $field:ident, $type:ty,) => {
        $crate::options!(@method $setter, $field, $type, $field);
    };
    (@setter $setter:ident, $field:ident, $type:ty, into) => {
        $crate::options!(@method $setter, $field, impl Into<$type>, $field.into());
    };
    (@setter $setter:ident, $field:ident, $type:ty, into $target:ty) => {
        $crate::options!(@method $setter, $field, impl Into<$target>, <$target as Into<$type>>::into($field.into()));
    };
    (@setter $setter:ident, $field:ident, $type:ty, of $target:ty) => {
        $crate::options!(@method $setter, $field, $target, $field.into());
    };
    (@setter $setter:ident, $field:ident, $type:ty, each $target:ty) => {
        $crate::options!(
            @method $setter,
            $field,
            impl IntoIterator<Item = impl Into<$target>>,
            $field.into_iter().map(Into::into).collect::<Vec<$target>>().into()
        );
    };
    (@setter $setter:ident, $field:ident, $type:ty, add $name:ty => $target:ty) => {
        #[doc = concat!("Adds a pair to [`", stringify!($field), "`](Self::", stringify!($field), ").")]
        #[must_use]
        pub fn $setter(mut self, name: impl Into<$name>, value: impl Into<$target>) -> Self {
            const _: () = assert!($crate::options::is_setter_of(stringify!($setter), stringify!($field)));
            self.$field.push((name.into(), value.into()));
            self
        }
    };
    (@method $setter:ident, $field:ident, $argument:ty, $value:expr) => {
        #[doc = concat!("Sets [`", stringify!($field), "`](Self::", stringify!($field), ").")]
        #[must_use]
        pub fn $setter(mut self, $field: $argument) -> Self {
            const _: () = assert!($crate::options::is_setter_of(stringify!($setter), stringify!($field)));
            self.$field = $value;
            self
        }
    };
}

#[cfg(test)]
mod tests {
    #![expect(unreachable_pub, reason = "methods that the macro makes are public")]

    use super::*;

    words! {
        /// A side of the paper.
        #[derive(Default)]
        pub enum Sides {
            /// The front only.
            #[default]
            One = "one" | "single",
            /// Both.
            Two = "two",
        }
    }

    options! {
        /// Options of a printer.
        #[derive(Debug, Clone, PartialEq)]
        pub struct PrintOptions {
            /// Number of copies.
            copies: usize = 1 => with_copies,
            /// Printed sides.
            sides: Sides => with_sides,
            /// Name of the tray.
            tray: Option<String> => with_tray(into String),
            /// The lines of the header.
            header: Vec<String> => with_header(each String),
            unlisted {
                /// Prices by their currencies.
                prices: Vec<(String, u64)> => with_prices(add String => u64),
            }
        }
    }

    /// A text that is given for an option.
    struct Text(&'static str);

    impl GivenValue for Text {
        type Error = Error;
    }

    impl ConvertTo<usize> for Text {
        fn convert(&self) -> Result<usize> {
            self.0.parse().map_err(|_| Error::invalid("no number"))
        }
    }

    impl ConvertTo<Sides> for Text {
        fn convert(&self) -> Result<Sides> {
            self.0.parse()
        }
    }

    impl ConvertTo<Option<String>> for Text {
        fn convert(&self) -> Result<Option<String>> {
            Ok(Some(self.0.to_owned()))
        }
    }

    impl ConvertTo<Vec<String>> for Text {
        fn convert(&self) -> Result<Vec<String>> {
            Ok(self.0.lines().map(str::to_owned).collect())
        }
    }

    #[test]
    fn setters_take_what_becomes_the_value() {
        let options = PrintOptions::default()
            .with_copies(2)
            .with_sides(Sides::Two)
            .with_tray("a")
            .with_header(["b"])
            .with_prices("EUR", 3_u64);
        assert_eq!((options.copies, options.sides, options.tray.as_deref()), (2, Sides::Two, Some("a")));
        assert_eq!((options.header, options.prices), (vec!["b".to_owned()], vec![("EUR".to_owned(), 3)]));
    }

    #[test]
    fn the_table_has_kinds_and_documentation() {
        let [copies, sides, tray, header] = PrintOptions::OPTIONS else { panic!("four options") };
        assert_eq!((copies.name, copies.kind, copies.doc), ("copies", OptionKind::Integer, " Number of copies.\n"));
        assert_eq!((sides.kind, header.kind), (OptionKind::Words(&["one", "single", "two"]), OptionKind::List));
        assert_eq!((tray.kind, tray.is_optional, copies.is_optional), (OptionKind::Text, true, false));
    }

    #[test]
    fn options_are_set_by_their_names() {
        let mut options = PrintOptions::default();
        assert!(options.set("copies", &Text("3")).unwrap() && options.set("sides", &Text("two")).unwrap());
        assert_eq!((options.copies, options.sides), (3, Sides::Two));
        assert!(!options.set("prices", &Text("5")).unwrap());
        assert!(options.set("copies", &Text("x")).is_err());
    }

    #[test]
    fn words_have_several_names_and_one_of_their_own() {
        assert_eq!("single".parse::<Sides>().unwrap().to_string(), "one");
        let error = "three".parse::<Sides>().unwrap_err();
        assert_eq!(error.to_string(), "\"three\": must be one of one, single, two");
    }

    #[test]
    fn names_of_setters_are_those_of_fields() {
        assert!(is_setter_of("with_a", "a"));
        let others = [("with_a", "ab"), ("with_ab", "a"), ("has_ab", "b"), ("b", "b"), ("", "")];
        assert!(others.iter().all(|(method, field)| !is_setter_of(method, field)));
    }
}
