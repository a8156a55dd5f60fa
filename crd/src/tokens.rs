//! The model as Rust. All paths are absolute, so that neither imports of the program nor the names of its types matter.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::{
    model::{Enum, Field, Model, Presence, Struct, Type},
    names, resource,
};

/// The same as the derives of `serde` take it.
pub(crate) const SERDE: &str = "::operetta::crd_support::serde";

/// The code of a model.
pub(crate) fn code(model: &Model) -> TokenStream {
    let Model { roots, structs, enums } = model;
    let roots = roots.iter().map(resource::code);
    let structs = structs.iter().map(structure);
    let enums = enums.iter().map(enumeration);
    quote! { #(#roots)* #(#structs)* #(#enums)* }
}

fn structure(of: &Struct) -> TokenStream {
    let (name, doc, fields) = (ident(&of.name), &of.doc, fields(of, Attributes::Both));
    let (allowed, derived, serde) = (allowed(), derived(), serde());
    quote! {
        #[doc = #doc]
        #allowed
        #[derive(#derived, #serde::Serialize, #serde::Deserialize)]
        #[serde(crate = #SERDE, default)]
        pub struct #name {
            #fields
        }
    }
}

fn enumeration(of: &Enum) -> TokenStream {
    let Enum { name, doc, variants, other } = of;
    let (name, other) = (ident(name), ident(other));
    let (allowed, serde) = (allowed(), serde());
    let variants = variants.iter().map(|variant| {
        let (name, value) = (ident(&variant.name), &variant.value);
        let doc = format!("`{}`", value.replace('`', ""));
        quote! { #[doc = #doc] #[serde(rename = #value)] #name, }
    });
    quote! {
        #[doc = #doc]
        #allowed
        #[derive(
            ::core::clone::Clone, ::core::fmt::Debug, ::core::cmp::PartialEq, ::core::cmp::Eq,
            #serde::Serialize, #serde::Deserialize
        )]
        #[serde(crate = #SERDE)]
        pub enum #name {
            #(#variants)*
            /// A value that the schema did not have.
            #[serde(untagged)]
            #other(::std::string::String),
        }

        impl ::core::default::Default for #name {
            fn default() -> Self {
                Self::#other(::std::string::String::new())
            }
        }
    }
}

/// What a program's lints would say of names and descriptions, which are those of the schema.
pub(crate) fn allowed() -> TokenStream {
    quote! {
        #[allow(
            dead_code, unreachable_pub, nonstandard_style, rustdoc::bare_urls,
            clippy::all, clippy::pedantic, clippy::nursery,
            reason = "written by `operetta::crd!`"
        )]
    }
}

/// What every struct derives.
pub(crate) fn derived() -> TokenStream {
    quote! {
        ::core::clone::Clone, ::core::fmt::Debug, ::core::cmp::PartialEq, ::core::default::Default
    }
}

/// Which attributes fields have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attributes {
    Documentation,
    Serde,
    Both,
}

/// The fields of a struct.
pub(crate) fn fields(of: &Struct, attributes: Attributes) -> TokenStream {
    let fields = of.fields.iter().map(|field| {
        let (name, ty) = (ident(&field.name), field_type(field));
        let attributes = chosen(attributes, &field.doc, &serde_attributes(field));
        quote! { #attributes pub #name: #ty, }
    });
    let rest = of.rest.iter().map(|rest| {
        let (rest, map) = (ident(rest), map(&json()));
        let doc = "The fields that the schema does not name.";
        let attributes = chosen(attributes, doc, &quote! { #[serde(flatten)] });
        quote! { #attributes pub #rest: #map, }
    });
    quote! { #(#fields)* #(#rest)* }
}

fn chosen(attributes: Attributes, doc: &str, serde: &TokenStream) -> TokenStream {
    match attributes {
        Attributes::Documentation => quote! { #[doc = #doc] },
        Attributes::Serde => serde.clone(),
        Attributes::Both => quote! { #[doc = #doc] #serde },
    }
}

fn serde_attributes(field: &Field) -> TokenStream {
    let rename = (field.name != field.json).then(|| {
        let json = &field.json;
        quote! { #[serde(rename = #json)] }
    });
    let skip = (field.presence == Presence::Optional).then(|| {
        quote! { #[serde(skip_serializing_if = "::core::option::Option::is_none")] }
    });
    quote! { #rename #skip }
}

fn field_type(field: &Field) -> TokenStream {
    match field.presence {
        Presence::Required => ty(&field.ty),
        Presence::Nullable | Presence::Optional => option(&ty(&field.ty)),
    }
}

/// The type of a value.
pub(crate) fn ty(of: &Type) -> TokenStream {
    match of {
        Type::Text => quote! { ::std::string::String },
        Type::Bool => quote! { bool },
        Type::I32 => quote! { i32 },
        Type::I64 => quote! { i64 },
        Type::F64 => quote! { f64 },
        Type::IntOrString => {
            quote! { ::operetta::k8s_openapi::apimachinery::pkg::util::intstr::IntOrString }
        }
        Type::Json => json(),
        Type::Named(name) => {
            let name = ident(name);
            quote! { #name }
        }
        Type::List(inner) => {
            let inner = ty(inner);
            quote! { ::std::vec::Vec<#inner> }
        }
        Type::Map(inner) => map(&ty(inner)),
        Type::Nullable(inner) => option(&ty(inner)),
    }
}

fn option(inner: &TokenStream) -> TokenStream {
    quote! { ::core::option::Option<#inner> }
}

fn map(values: &TokenStream) -> TokenStream {
    quote! { ::std::collections::BTreeMap<::std::string::String, #values> }
}

fn json() -> TokenStream {
    quote! { ::operetta::crd_support::serde_json::Value }
}

/// A name as an identifier.
pub(crate) fn ident(name: &str) -> Ident {
    let span = Span::call_site();
    if names::is_keyword(name) { Ident::new_raw(name, span) } else { Ident::new(name, span) }
}

/// The crate, as code names it.
pub(crate) fn serde() -> TokenStream {
    quote! { ::operetta::crd_support::serde }
}
