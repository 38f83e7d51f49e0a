//! Integer types.

use arrow_buffer::ArrowNativeType;

/// An integer type of Arrow.
pub(crate) trait Integer: ArrowNativeType {
    /// The lowest bits of a value.
    fn narrow(value: i64) -> Self;
    fn widen(self) -> i64;
}

macro_rules! whole {
    ($($type:ty)*) => {$(
        impl Integer for $type {
            #[expect(clippy::cast_possible_truncation, reason = "callers check for truncation")]
            #[inline]
            fn narrow(value: i64) -> Self {
                value as $type
            }
            #[inline]
            fn widen(self) -> i64 {
                self.into()
            }
        }
    )*};
}

whole!(i8 i16 i32);

impl Integer for i64 {
    #[inline]
    fn narrow(value: i64) -> Self {
        value
    }
    #[inline]
    fn widen(self) -> i64 {
        self
    }
}
