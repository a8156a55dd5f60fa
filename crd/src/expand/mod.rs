//! From the arguments to code or to a compile error. The only place that reads files.

use std::{env, fs, path::PathBuf};

use proc_macro2::TokenStream;
use quote::quote;

use crate::{arguments::Arguments, error::Error, read, schema, tokens};

/// The types, or an error at the argument that is wrong.
pub(crate) fn expand(arguments: &Arguments) -> TokenStream {
    let Arguments { path, version } = arguments;
    let asked = version.as_ref().map(syn::LitStr::value);
    types(&path.value(), asked.as_deref()).unwrap_or_else(|error| {
        let wrong = version.as_ref().filter(|_| error.is_of_version()).unwrap_or(path);
        syn::Error::new(wrong.span(), error).to_compile_error()
    })
}

fn types(path: &str, version: Option<&str>) -> Result<TokenStream, Error> {
    let folder = env::var_os("CARGO_MANIFEST_DIR").ok_or(Error::NoManifestFolder)?;
    let file = PathBuf::from(folder).join(path);
    let text = fs::read_to_string(&file)
        .map_err(|source| Error::ReadFailed { path: file.clone(), source })?;
    let code = code(path, &text, version)?;
    let file = file.to_str().ok_or_else(|| Error::PathIsNoText { path: file.clone() })?;
    // The compiler notes the file as one that the program is made of.
    Ok(quote! {
        const _: &[u8] = ::core::include_bytes!(#file);
        #code
    })
}

/// The types of a file with this content.
fn code(path: &str, text: &str, version: Option<&str>) -> Result<TokenStream, Error> {
    let definitions = read::definitions(path, text, version)?;
    Ok(tokens::code(&schema::model(&definitions)))
}

#[cfg(test)]
mod tests;
