//! The code of a resource: its struct, and what the framework needs of it. Its names, its scope and its `apiVersion` are
//! constants of the definition.

use proc_macro2::TokenStream;
use quote::quote;

use crate::{
    model::{Presence, Root},
    read::Scope,
    tokens::{Attributes, SERDE, allowed, derived, fields, ident, serde, ty},
};

/// The struct, `new`, and the traits.
pub(crate) fn code(root: &Root) -> TokenStream {
    let parts = [structure(root), new(root), resource(root), serialize(root), deserialize(root)];
    parts.into_iter().collect()
}

fn structure(root: &Root) -> TokenStream {
    let (name, doc) = (ident(&root.ty.name), &root.ty.doc);
    let (allowed, derived, meta) = (allowed(), derived(), object_meta());
    let fields = fields(&root.ty, Attributes::Documentation);
    quote! {
        #[doc = #doc]
        #allowed
        #[derive(#derived)]
        pub struct #name {
            /// The name, the namespace, labels, and the rest of what every object has.
            pub metadata: #meta,
            #fields
        }
    }
}

fn new(root: &Root) -> TokenStream {
    let Some(spec) = root.ty.fields.iter().find(|field| field.json == "spec") else {
        return TokenStream::new();
    };
    let (name, field, ty) = (ident(&root.ty.name), ident(&spec.name), ty(&spec.ty));
    let (allowed, meta) = (allowed(), object_meta());
    let value = match spec.presence {
        Presence::Required => quote! { spec },
        Presence::Nullable | Presence::Optional => quote! { ::core::option::Option::Some(spec) },
    };
    quote! {
        #allowed
        impl #name {
            /// An object with this name and this spec.
            #[must_use]
            pub fn new(name: &str, spec: #ty) -> Self {
                Self {
                    metadata: #meta {
                        name: ::core::option::Option::Some(::std::string::String::from(name)),
                        ..::core::default::Default::default()
                    },
                    #field: #value,
                    ..::core::default::Default::default()
                }
            }
        }
    }
}

fn resource(root: &Root) -> TokenStream {
    let Root { group, version, kind, plural, scope, ty } = root;
    let (name, meta) = (ident(&ty.name), object_meta());
    let scope = match scope {
        Scope::Namespaced => quote! { ::operetta::kube::core::NamespaceResourceScope },
        Scope::Cluster => quote! { ::operetta::kube::core::ClusterResourceScope },
    };
    let names = [("group", group), ("version", version), ("kind", kind), ("plural", plural)];
    let names = names.map(|(function, value)| {
        let function = ident(function);
        quote! {
            fn #function((): &()) -> ::std::borrow::Cow<'_, str> {
                ::std::borrow::Cow::Borrowed(#value)
            }
        }
    });
    quote! {
        impl ::operetta::kube::Resource for #name {
            type DynamicType = ();
            type Scope = #scope;

            #(#names)*

            fn meta(&self) -> &#meta {
                &self.metadata
            }

            fn meta_mut(&mut self) -> &mut #meta {
                &mut self.metadata
            }
        }
    }
}

/// With `apiVersion` and `kind`.
fn serialize(root: &Root) -> TokenStream {
    let (name, kind, serde, allowed) = (ident(&root.ty.name), &root.kind, serde(), allowed());
    let api_version = api_version(root);
    let entries = root.ty.fields.iter().map(|field| {
        let (json, name) = (&field.json, ident(&field.name));
        let entry = quote! { object.serialize_entry(#json, &self.#name)?; };
        match field.presence {
            Presence::Optional => quote! { if self.#name.is_some() { #entry } },
            Presence::Required | Presence::Nullable => entry,
        }
    });
    let rest = root.ty.rest.iter().map(|rest| {
        let rest = ident(rest);
        quote! { for (name, value) in &self.#rest { object.serialize_entry(name, value)?; } }
    });
    quote! {
        #allowed
        impl #serde::Serialize for #name {
            fn serialize<S: #serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                use #serde::ser::SerializeMap as _;
                let mut object = serializer.serialize_map(::core::option::Option::None)?;
                object.serialize_entry("apiVersion", #api_version)?;
                object.serialize_entry("kind", #kind)?;
                object.serialize_entry("metadata", &self.metadata)?;
                #(#entries)*
                #(#rest)*
                object.end()
            }
        }
    }
}

/// An object of another type is an error: all of its fields might be absent. The items of a list may have no type.
fn deserialize(root: &Root) -> TokenStream {
    let (name, kind, serde, allowed) = (ident(&root.ty.name), &root.kind, serde(), allowed());
    let (meta, api_version) = (object_meta(), api_version(root));
    let message = format!("the object is no {kind} of {api_version}");
    let names = root.ty.fields.iter().map(|field| &field.name).chain(&root.ty.rest);
    let names: Vec<_> = names.map(|name| ident(name)).collect();
    let fields = fields(&root.ty, Attributes::Serde);
    quote! {
        #allowed
        impl<'de> #serde::Deserialize<'de> for #name {
            fn deserialize<D: #serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                #[derive(::core::default::Default, #serde::Deserialize)]
                #[serde(crate = #SERDE, default)]
                struct Object {
                    #[serde(rename = "apiVersion")]
                    api_version: ::core::option::Option<::std::string::String>,
                    kind: ::core::option::Option<::std::string::String>,
                    metadata: #meta,
                    #fields
                }
                let object = <Object as #serde::Deserialize>::deserialize(deserializer)?;
                let is_other = |found: ::core::option::Option<::std::string::String>, expected: &str| {
                    found.is_some_and(|found| found != expected)
                };
                if is_other(object.api_version, #api_version) || is_other(object.kind, #kind) {
                    return ::core::result::Result::Err(#serde::de::Error::custom(#message));
                }
                ::core::result::Result::Ok(Self {
                    metadata: object.metadata,
                    #(#names: object.#names,)*
                })
            }
        }
    }
}

fn api_version(root: &Root) -> String {
    format!("{}/{}", root.group, root.version)
}

fn object_meta() -> TokenStream {
    quote! { ::operetta::k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta }
}
