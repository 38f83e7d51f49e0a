#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ArrowSchema {
    #[prost(message, repeated, tag = "1")]
    pub field: ::prost::alloc::vec::Vec<ArrowField>,
    #[prost(message, repeated, tag = "2")]
    pub metadata: ::prost::alloc::vec::Vec<Pair>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct ArrowField {
    #[prost(string, tag = "1")]
    pub name: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub format: ::prost::alloc::string::String,
    #[prost(bool, tag = "3")]
    pub nullable: bool,
    #[prost(bool, tag = "4")]
    pub keys_sorted: bool,
    #[prost(bool, tag = "5")]
    pub dictionary_ordered: bool,
    #[prost(message, repeated, tag = "6")]
    pub metadata: ::prost::alloc::vec::Vec<Pair>,
    #[prost(message, repeated, tag = "7")]
    pub children: ::prost::alloc::vec::Vec<ArrowField>,
    #[prost(message, optional, boxed, tag = "8")]
    pub dictionary: ::core::option::Option<::prost::alloc::boxed::Box<ArrowField>>,
}
#[derive(Clone, PartialEq, ::prost::Message)]
pub struct Pair {
    #[prost(string, tag = "1")]
    pub key: ::prost::alloc::string::String,
    #[prost(string, tag = "2")]
    pub value: ::prost::alloc::string::String,
}
