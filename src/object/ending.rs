//! Describes an object that is being deleted. Pure.

/// At most so many finalizers are named.
const MAX_FINALIZERS: usize = 3;

/// States that an object is being deleted, and which finalizers block that; of many the first few.
pub(crate) fn being_deleted(finalizers: &[String]) -> String {
    let named = finalizers.iter().take(MAX_FINALIZERS).map(String::as_str);
    let named = named.collect::<Vec<_>>().join(", ");
    match finalizers.len() {
        0 => "it is being deleted".to_owned(),
        1..=MAX_FINALIZERS => format!("it is being deleted, which waits for {named}"),
        all => {
            let more = all - MAX_FINALIZERS;
            format!("it is being deleted, which waits for {named} and {more} more")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_finalizers_the_first_are_named_and_the_others_counted() {
        let text = |count: usize| {
            let held: Vec<_> = (0..count).map(|number| format!("x/{number}")).collect();
            being_deleted(&held)
        };
        for (count, expected) in [
            (0, ""),
            (1, ", which waits for x/0"),
            (3, ", which waits for x/0, x/1, x/2"),
            (5, ", which waits for x/0, x/1, x/2 and 2 more"),
        ] {
            assert_eq!(text(count), format!("it is being deleted{expected}"));
        }
    }
}
