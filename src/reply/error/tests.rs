//! What an error shows.

use super::*;

#[test]
fn an_answer_that_cannot_be_read_is_not_quoted() {
    let cause = serde_json::from_str::<u8>("\"hidden\"").unwrap_err();
    let error = ApiError::malformed("list /api".to_owned(), &cause);
    assert!(!format!("{error} {error:?}").contains("hidden"), "{error}");
}
