//! The requested form of an answer: which representation of the objects, in which format.
//!
//! For built-in types two parts of the real server look at the header, one after the other; the
//! first knows no parameters and no `application/*`. Custom resources meet only the second.

use std::cmp::Ordering;

use crate::status::StatusError;

/// A representation of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Representation {
    /// As it is.
    Object,
    /// Rows for `kubectl get`.
    Table(MetaVersion),
    /// Metadata without the rest.
    PartialMetadata(MetaVersion),
    /// The same for each object of a list.
    PartialMetadataList(MetaVersion),
}

/// A version of the forms that objects of all types have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MetaVersion {
    V1,
    V1Beta1,
}

impl MetaVersion {
    /// As `apiVersion` spells it.
    pub(super) fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "meta.k8s.io/v1",
            Self::V1Beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

/// A format of bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    Yaml,
    Protobuf,
}

/// In the order in which the real server prefers them.
const FORMATS: [Format; 3] = [Format::Json, Format::Yaml, Format::Protobuf];

/// What a client wants and can get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Accepted {
    pub(super) representation: Representation,
    pub(super) format: Format,
}

/// What kind of request it is, as far as it limits the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Offer {
    /// Custom resources have no protobuf.
    pub(super) is_custom: bool,
    /// Whether the path can be watched.
    pub(super) can_stream: bool,
    /// Whether it is a watch; there are none in YAML.
    pub(super) is_watch: bool,
}

/// The first in an `Accept` header that can be produced.
pub(super) fn choose(accept: Option<&str>, offer: Offer) -> Result<Accepted, StatusError> {
    let accept = accept.unwrap_or_default();
    if accept.is_empty() {
        return Ok(Accepted { representation: Representation::Object, format: Format::Json });
    }
    if !offer.is_custom && !is_routed(accept) {
        return Err(StatusError::not_acceptable_here(&offer.media_types()));
    }
    let accepted = clauses(accept).iter().find_map(|clause| {
        FORMATS.into_iter().filter(|format| clause.names(*format)).find_map(|format| {
            let representation = clause.representation()?;
            let has = !(offer.is_custom
                && format == Format::Protobuf
                && representation == Representation::Object);
            let can =
                !(format == Format::Protobuf && matches!(representation, Representation::Table(_)));
            (has && can).then_some(Accepted { representation, format })
        })
    });
    match accepted {
        Some(Accepted { format: Format::Yaml, .. }) if offer.is_watch => {
            Err(StatusError::not_acceptable(&streams()))
        }
        Some(accepted) => Ok(accepted),
        None => Err(StatusError::not_acceptable(&FORMATS.map(Format::media_type))),
    }
}

/// The format of an answer that has only one representation: failures, discovery.
pub(super) fn format(accept: Option<&str>) -> Format {
    let clauses = clauses(accept.unwrap_or_default());
    let mut plain =
        clauses.iter().filter(|clause| clause.representation() == Some(Representation::Object));
    plain
        .find_map(|clause| FORMATS.into_iter().find(|format| clause.names(*format)))
        .unwrap_or(Format::Json)
}

/// The format of aggregated discovery; `None` where the plain form is wanted.
pub(super) fn discovery(accept: Option<&str>) -> Result<Option<Format>, StatusError> {
    let accept = accept.unwrap_or_default();
    if accept.is_empty() {
        return Ok(None);
    }
    let format = |clause: &Clause<'_>| FORMATS.into_iter().find(|format| clause.names(*format));
    let chosen = clauses(accept).into_iter().find_map(|clause| {
        let format = format(&clause)?;
        match ["as", "g", "v"].map(|name| clause.parameter(name)) {
            [None, None, None] => Some(None),
            // There is none in protobuf here, so that another range has to do.
            [Some("APIGroupDiscoveryList"), Some("apidiscovery.k8s.io"), Some("v2")]
                if format != Format::Protobuf =>
            {
                Some(Some(format))
            }
            _ => None,
        }
    });
    chosen.ok_or_else(|| StatusError::not_acceptable(&FORMATS.map(Format::media_type)))
}

impl Format {
    /// The media type of a body.
    pub(super) fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Yaml => "application/yaml",
            Self::Protobuf => crate::protobuf::MEDIA_TYPE,
        }
    }

    /// The media type of a watch.
    pub(super) fn watch_media_type(self) -> &'static str {
        match self {
            Self::Protobuf => crate::protobuf::WATCH_MEDIA_TYPE,
            Self::Json | Self::Yaml => self.media_type(),
        }
    }
}

impl Offer {
    fn media_types(self) -> Vec<&'static str> {
        let mut all = FORMATS.map(Format::media_type).to_vec();
        if self.can_stream {
            all.extend(streams());
        }
        all
    }
}

fn streams() -> [&'static str; 2] {
    ["application/json;stream=watch", crate::protobuf::WATCH_MEDIA_TYPE]
}

fn is_routed(accept: &str) -> bool {
    let medias = accept.split(',').map(|range| range.split(';').next().unwrap_or_default().trim());
    medias.into_iter().any(|media| {
        media == "*/*" || FORMATS.into_iter().any(|format| format.media_type() == media)
    })
}

/// One of the ranges of an `Accept` header.
#[derive(Debug)]
struct Clause<'a> {
    main: &'a str,
    sub: &'a str,
    quality: f64,
    parameters: Vec<(&'a str, &'a str)>,
}

/// How many ranges are sorted as the real server sorts a few. The time grows with the square.
const FAITHFUL: usize = 12;

/// The ranges, the most wanted first.
fn clauses(accept: &str) -> Vec<Clause<'_>> {
    let mut clauses: Vec<Clause<'_>> = accept.split(',').filter_map(Clause::parse).collect();
    if clauses.len() > FAITHFUL {
        clauses.sort_by(Clause::order);
        return clauses;
    }
    let mut sorted: Vec<Clause<'_>> = Vec::with_capacity(clauses.len());
    for clause in clauses {
        // The order of the real server is not transitive, so what counts is how it sorts.
        let before = sorted.iter().rev().take_while(|other| clause.precedes(other)).count();
        sorted.insert(sorted.len() - before, clause);
    }
    sorted
}

impl<'a> Clause<'a> {
    fn parse(range: &'a str) -> Option<Self> {
        let mut parts = range.split(';');
        let media = parts.next()?.trim();
        let (main, sub) = if media == "*" { ("*", "*") } else { media.split_once('/')? };
        if sub.contains('/') {
            return None;
        }
        let mut clause =
            Self { main: main.trim(), sub: sub.trim(), quality: 1.0, parameters: Vec::new() };
        for (name, value) in parts.filter_map(|part| part.split_once('=')) {
            match name.trim() {
                "q" => clause.quality = value.parse().unwrap_or(0.0),
                name => clause.parameters.push((name, value.trim())),
            }
        }
        Some(clause)
    }

    fn precedes(&self, other: &Self) -> bool {
        self.quality > other.quality
            || (self.main != "*" && other.main == "*")
            || (self.sub != "*" && other.sub == "*")
    }

    /// A transitive order that is much the same.
    fn order(&self, other: &Self) -> Ordering {
        let rank = |clause: &Self| (clause.main == "*", clause.sub == "*");
        other.quality.total_cmp(&self.quality).then_with(|| rank(self).cmp(&rank(other)))
    }

    fn names(&self, format: Format) -> bool {
        match (self.main, self.sub) {
            ("*" | "application", "*") => true,
            (main, sub) => format.media_type().split_once('/') == Some((main, sub)),
        }
    }

    fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    /// `None` where there is no such representation.
    fn representation(&self) -> Option<Representation> {
        if !matches!(self.parameter("stream"), None | Some("" | "watch")) {
            return None;
        }
        let parameters = ["as", "g", "v"].map(|name| self.parameter(name));
        let version = match parameters {
            [None, None, None] => return Some(Representation::Object),
            [Some(_), Some("meta.k8s.io"), Some("v1")] => MetaVersion::V1,
            [Some(_), Some("meta.k8s.io"), Some("v1beta1")] => MetaVersion::V1Beta1,
            _ => return None,
        };
        match parameters[0]? {
            "Table" => Some(Representation::Table(version)),
            "PartialObjectMetadata" => Some(Representation::PartialMetadata(version)),
            "PartialObjectMetadataList" => Some(Representation::PartialMetadataList(version)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUILT_IN: Offer = Offer { is_custom: false, can_stream: false, is_watch: false };
    const CUSTOM: Offer = Offer { is_custom: true, ..BUILT_IN };

    fn chosen(accept: &str, offer: Offer) -> Option<(Representation, Format)> {
        choose(Some(accept), offer).ok().map(|it| (it.representation, it.format))
    }

    #[test]
    fn the_first_that_can_be_produced_is_chosen() {
        use Format::{Json, Protobuf, Yaml};
        use Representation::Object;
        let table_of = |format| Some((Representation::Table(MetaVersion::V1), format));
        let partial_of = |format| Some((Representation::PartialMetadata(MetaVersion::V1), format));
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
        let proto_table = "application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1";
        let partial = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,\
                       application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
        let proto = "application/vnd.kubernetes.protobuf,application/json";
        let weak = "application/json;q=0.1,application/vnd.kubernetes.protobuf";
        let cases = [
            ("*/*", Some((Object, Json)), Some((Object, Json))),
            (proto, Some((Object, Protobuf)), Some((Object, Json))),
            (weak, Some((Object, Protobuf)), Some((Object, Json))),
            ("application/*;q=0.5,application/yaml", Some((Object, Yaml)), Some((Object, Yaml))),
            ("application/vnd.kubernetes.protobuf", Some((Object, Protobuf)), None),
            ("application/vnd.kubernetes.protobuf;stream=foo", None, None),
            ("application/*", None, Some((Object, Json))),
            (table, table_of(Json), table_of(Json)),
            (proto_table, None, None),
            (partial, partial_of(Protobuf), partial_of(Protobuf)),
            ("text/html", None, None),
        ];
        for (accept, built_in, custom) in cases {
            assert_eq!(chosen(accept, BUILT_IN), built_in, "{accept:?}");
            assert_eq!(chosen(accept, CUSTOM), custom, "{accept:?}");
        }
    }

    #[test]
    fn a_failure_has_the_first_format_that_is_wanted_for_plain_objects() {
        let proto_table = "application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1";
        assert_eq!(format(Some(proto_table)), Format::Json);
        assert_eq!(format(Some("application/vnd.kubernetes.protobuf")), Format::Protobuf);
        assert_eq!(format(Some("text/html")), Format::Json);
        assert_eq!(format(None), Format::Json);
    }

    #[test]
    fn any_header_is_answered() {
        let tokens = "*/*|*|/|,|;|q=|0.1|NaN|-1|application/json|application/*|text/html|as=Table|\
             ;g=meta.k8s.io;v=v1|=| |application/vnd.kubernetes.protobuf|stream=watch|1e999|a/b";
        let tokens: Vec<&str> = tokens.split('|').collect();
        let parser = |text: &str| {
            assert!(clauses(text).len() <= text.len());
            let _ = (chosen(text, BUILT_IN), chosen(text, CUSTOM), format(Some(text)));
            let _ = discovery(Some(text));
        };
        operetta_harness::random::texts(&tokens, parser);
        operetta_harness::random::long_texts(&tokens, parser);
    }

    #[test]
    fn many_ranges_are_in_the_order_of_a_few() {
        let few = ["a/*;q=0.5", "*/*", "application/json;q=0.1", "application/yaml"];
        let many = format!("{}{}", "a/b;q=0.2,".repeat(20), few.join(","));
        let first = |accept: &str| clauses(accept)[0].sub.to_owned();
        assert_eq!((first(&few.join(",")), first(&many)), ("yaml".to_owned(), "yaml".to_owned()));
    }
}
