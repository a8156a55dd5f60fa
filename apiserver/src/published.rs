//! Documents that are made of types, such as `OpenAPI`: each is made once for each change of the types that it is made of,
//! by a thread that may take its time, and for all who ask meanwhile. They are kept compressed, a twentieth of their size.
//!
//! What they contain is said by those who make them.

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    sync::{Arc, Mutex, PoisonError, Weak},
};

use bytes::Bytes;
use flate2::{Compression, bufread::GzDecoder, write::GzEncoder};
use futures::{
    FutureExt,
    future::{BoxFuture, Shared},
};

use crate::{resource::Resource, version_tag::Content};

/// How large the pieces of a document are.
const PIECE: usize = 64 * 1024;

/// The documents that are made.
#[derive(Debug, Default)]
pub(crate) struct Published(Mutex<BTreeMap<String, Entry>>);

#[derive(Debug)]
struct Entry {
    made_of: Vec<Weak<Resource>>,
    document: Shared<BoxFuture<'static, Option<Document>>>,
}

/// A document.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    /// By gzip.
    pub compressed: Bytes,
    /// How long it is.
    pub length: usize,
    /// The version that clients keep with it.
    pub tag: Arc<str>,
}

/// A document that is written, a piece after the other: as a whole it may have tens of megabytes.
pub(crate) struct Draft {
    compressed: GzEncoder<Vec<u8>>,
    length: usize,
    content: Content,
}

/// The version of a document that was written.
#[derive(Debug)]
pub(crate) enum Tag {
    OfText,
    Is(String),
}

impl Published {
    /// The document of this name, which is made unless it was made of the same types.
    pub(crate) async fn document(
        &self,
        name: &str,
        made_of: &[&Arc<Resource>],
        make: impl FnOnce(&mut Draft) -> Option<Tag> + Send + 'static,
    ) -> Option<Document> {
        let document = self.with(|entries| {
            if let Some(entry) = entries.get(name).filter(|entry| entry.is_made_of(made_of)) {
                return entry.document.clone();
            }
            // Those of types that were replaced or are gone.
            entries.retain(|_, entry| entry.is_current());
            let document = making(make);
            let made_of = made_of.iter().map(|it| Arc::downgrade(it)).collect();
            entries.insert(name.to_owned(), Entry { made_of, document: document.clone() });
            document
        });
        let found = document.clone().await;
        if found.is_none() {
            let is_same = |entry: &Entry| entry.document.ptr_eq(&document);
            self.with(|entries| entries.retain(|_, entry| !is_same(entry)));
        }
        found
    }

    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<String, Entry>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Whoever asks first may leave before it is made.
fn making(
    make: impl FnOnce(&mut Draft) -> Option<Tag> + Send + 'static,
) -> Shared<BoxFuture<'static, Option<Document>>> {
    let document = tokio::task::spawn_blocking(move || {
        let mut draft = Draft::new();
        make(&mut draft).map(|tag| draft.finish(tag))
    });
    // A runtime that ends makes nothing more.
    document.map(|made| made.ok().flatten()).boxed().shared()
}

impl Entry {
    fn is_made_of(&self, made_of: &[&Arc<Resource>]) -> bool {
        let is = |(known, given): (&Weak<Resource>, &&Arc<Resource>)| {
            std::ptr::eq(known.as_ptr(), Arc::as_ptr(given))
        };
        self.made_of.len() == made_of.len() && self.made_of.iter().zip(made_of).all(is)
    }

    fn is_current(&self) -> bool {
        self.made_of.iter().all(|it| it.strong_count() > 0)
    }
}

impl Draft {
    fn new() -> Self {
        let compressed = GzEncoder::new(Vec::new(), Compression::fast());
        Self { compressed, length: 0, content: Content::new(b"") }
    }

    /// Adds a piece.
    ///
    /// # Panics
    /// Never: it is written to memory.
    pub(crate) fn push(&mut self, text: impl AsRef<[u8]>) {
        let text = text.as_ref();
        self.length += text.len();
        self.content.add(text);
        self.compressed.write_all(text).expect("memory can be written");
    }

    /// Adds pieces with a comma between them.
    pub(crate) fn push_list(&mut self, items: impl IntoIterator<Item = impl AsRef<str>>) {
        for (at, item) in items.into_iter().enumerate() {
            self.push(if at == 0 { "" } else { "," });
            self.push(item.as_ref());
        }
    }

    fn finish(self, tag: Tag) -> Document {
        let Self { compressed, length, content } = self;
        let compressed = compressed.finish().expect("memory can be written").into();
        let tag = match tag {
            Tag::OfText => content.tag(),
            Tag::Is(tag) => tag,
        };
        Document { compressed, length, tag: tag.into() }
    }
}

impl Document {
    /// Its pieces.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = Bytes> + Send + 'static + use<> {
        let compressed = self.compressed.clone();
        let mut text = GzDecoder::new(bytes::Buf::reader(compressed));
        std::iter::from_fn(move || {
            let mut piece = Vec::with_capacity(PIECE);
            let read = text.by_ref().take(PIECE as u64).read_to_end(&mut piece);
            debug_assert!(read.is_ok(), "it was compressed here");
            (!piece.is_empty()).then(|| piece.into())
        })
    }

    /// The whole of it.
    pub(crate) fn text(&self) -> Vec<u8> {
        self.pieces().fold(Vec::with_capacity(self.length), |mut text, piece| {
            text.extend_from_slice(&piece);
            text
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::{initial, resource::Registry};

    fn written(draft: &mut Draft, text: &str) -> Tag {
        draft.push(text);
        Tag::OfText
    }

    #[tokio::test]
    async fn a_document_is_made_once_for_all_who_ask_and_again_for_other_types() {
        let published = Published::default();
        let (registry, other) =
            [(); 2].map(|()| Registry::new(initial::resources()).snapshot()).into();
        let [first, second] = [&registry, &other].map(|it| it.iter().next().unwrap());
        let (let_it_end, ended) = mpsc::channel::<()>();
        let (firsts, seconds) = ([first], [second]);
        let asked = published.document("a", &firsts, move |draft| {
            ended.recv().unwrap();
            Some(written(draft, "first"))
        });
        let asked_again = published.document("a", &firsts, |_| unreachable!("it is being made"));
        let (one, other, ()) =
            tokio::join!(asked, asked_again, async { let_it_end.send(()).unwrap() });
        assert_eq!(one.unwrap().text(), b"first");
        assert_eq!(other.unwrap().text(), b"first");
        let changed = published
            .document("a", &seconds, |draft| Some(written(draft, "second")))
            .await
            .unwrap();
        assert_eq!(changed.text(), b"second");
    }

    #[tokio::test]
    async fn a_document_is_made_on_another_thread() {
        let here = std::thread::current().id();
        let make = move |draft: &mut Draft| {
            assert_ne!(std::thread::current().id(), here);
            Some(written(draft, "x"))
        };
        assert!(Published::default().document("a", &[], make).await.is_some());
    }

    #[tokio::test]
    async fn what_does_not_exist_is_not_kept() {
        let published = Published::default();
        assert!(published.document("a", &[], |_| None).await.is_none());
        assert!(published.with(|entries| entries.is_empty()));
    }

    #[test]
    fn a_document_comes_in_pieces() {
        let text = "0123456789".repeat(20_000);
        let mut draft = Draft::new();
        written(&mut draft, &text);
        let document = draft.finish(Tag::OfText);
        assert!(document.pieces().all(|piece| piece.len() <= PIECE));
        assert!(document.pieces().count() > 3);
        assert_eq!(document.text(), text.as_bytes());
    }
}
