//! The arguments of the macro: `"path"`, and perhaps `version = "v1"`.

use syn::{
    Ident, LitStr, Token,
    parse::{Parse, ParseStream},
};

pub(crate) struct Arguments {
    pub(crate) path: LitStr,
    pub(crate) version: Option<LitStr>,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let path = input.parse()?;
        let mut version = None;
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let expected = |span| syn::Error::new(span, "expected `version = \"v1\"`, once");
            let name: Ident = input.parse().map_err(|_| expected(input.span()))?;
            if name != "version" || version.is_some() {
                return Err(expected(name.span()));
            }
            input.parse::<Token![=]>()?;
            version = Some(input.parse()?);
        }
        Ok(Self { path, version })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<(String, Option<String>), String> {
        let arguments: Arguments = syn::parse_str(text).map_err(|error| error.to_string())?;
        Ok((arguments.path.value(), arguments.version.map(|version| version.value())))
    }

    #[test]
    fn a_path_may_be_followed_by_a_version() {
        assert_eq!(parsed(r#""a.yaml""#).unwrap(), ("a.yaml".to_owned(), None));
        let both = ("a.yaml".to_owned(), Some("v1".to_owned()));
        assert_eq!(parsed(r#""a.yaml", version = "v1","#).unwrap(), both);
    }

    #[test]
    fn another_argument_is_an_error_that_says_what_is_expected() {
        for text in
            [r#""a", "v1""#, r#""a", versoin = "v1""#, r#""a", version = "v1", version = "v2""#]
        {
            assert_eq!(parsed(text).unwrap_err(), "expected `version = \"v1\"`, once");
        }
        assert!(parsed("path").unwrap_err().contains("expected string literal"));
    }
}
