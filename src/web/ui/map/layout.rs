//! Where the boxes of a map are: one column for each depth, the related objects to the left of the parent. Pure.

/// A box: its size, and the gaps between columns and rows, in pixels.
pub(super) const WIDTH: u32 = 228;
pub(super) const HEIGHT: u32 = 42;
const COLUMN: u32 = WIDTH + 56;
const ROW: u32 = HEIGHT + 10;
/// The space around the map, and to the right of it for lines that go around boxes.
const MARGIN: u32 = 4;
const AROUND: u32 = 36;

/// The left upper corner of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) x: u32,
    pub(super) y: u32,
}

/// A box of the tree: the index of the one above, which comes before it, and its depth.
pub(super) type Branch = (Option<usize>, u16);

#[derive(Debug)]
pub(super) struct Layout {
    pub(super) places: Vec<Place>,
    pub(super) width: u32,
    pub(super) height: u32,
}

/// The places of the boxes of the tree, and then of the related objects.
pub(super) fn layout(tree: &[Branch], related: usize) -> Layout {
    let rows = rows(tree);
    let root = rows.first().copied().unwrap_or_default();
    // In halves of a row, as a box may be between two rows.
    let many = u32::try_from(related).unwrap_or(u32::MAX / ROW).saturating_sub(1);
    let shift = many.saturating_sub(root);
    let first = (root + shift) - many;
    let indent = u32::from(related > 0);
    let in_tree = tree.iter().zip(&rows);
    let in_tree = in_tree.map(|((_, depth), row)| place(u32::from(*depth) + indent, row + shift));
    let beside = (0..=many).take(related).map(|at| place(0, first + 2 * at));
    let places: Vec<Place> = in_tree.chain(beside).collect();
    let right = places.iter().map(|place| place.x).max().unwrap_or_default();
    let low = places.iter().map(|place| place.y).max().unwrap_or_default();
    Layout { places, width: right + WIDTH + AROUND, height: low + HEIGHT + MARGIN }
}

/// The row of each box, in halves: a box without others beneath it has a row of its own, another is in the middle of
/// those beneath it.
fn rows(tree: &[Branch]) -> Vec<u32> {
    let mut beneath: Vec<Vec<usize>> = vec![Vec::new(); tree.len()];
    for (at, (above, _)) in tree.iter().enumerate() {
        if let Some(above) = above {
            beneath[*above].push(at);
        }
    }
    let mut rows = vec![0; tree.len()];
    let mut next = 0;
    for (at, below) in beneath.iter().enumerate() {
        if below.is_empty() {
            rows[at] = next;
            next += 2;
        }
    }
    for (at, below) in beneath.iter().enumerate().rev() {
        if let (Some(first), Some(last)) = (below.first(), below.last()) {
            rows[at] = u32::midpoint(rows[*first], rows[*last]);
        }
    }
    rows
}

fn place(column: u32, half_row: u32) -> Place {
    Place { x: MARGIN + column * COLUMN, y: MARGIN + half_row * ROW / 2 }
}

/// A line from one box to another: to the right, or around the boxes of one column.
pub(super) fn line(from: Place, to: Place) -> String {
    let middle = |place: Place| place.y + HEIGHT / 2;
    let (x, y, end_y) = (from.x + WIDTH, middle(from), middle(to));
    if to.x > from.x {
        let bend = u32::midpoint(x, to.x);
        format!("M{x} {y}C{bend} {y} {bend} {end_y} {} {end_y}", to.x)
    } else {
        let (end, bend) = (to.x + WIDTH, x.max(to.x + WIDTH) + AROUND);
        format!("M{x} {y}C{bend} {y} {bend} {end_y} {end} {end_y}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_in_the_middle_of_those_beneath_it_and_none_overlap() {
        let tree = [(None, 0), (Some(0), 1), (Some(1), 2), (Some(1), 2), (Some(0), 1)];
        let Layout { places, width, height } = layout(&tree, 0);
        assert_eq!(rows(&tree), [2, 1, 0, 2, 4]);
        let columns: Vec<u32> = places.iter().map(|place| (place.x - MARGIN) / COLUMN).collect();
        assert_eq!(columns, [0, 1, 2, 2, 1]);
        assert_eq!(
            (width, height),
            (MARGIN + 2 * COLUMN + WIDTH + AROUND, 2 * ROW + HEIGHT + 2 * MARGIN)
        );
        for (at, one) in places.iter().enumerate() {
            for other in &places[at + 1..] {
                assert!(one.x != other.x || one.y.abs_diff(other.y) >= ROW, "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn related_objects_are_to_the_left_of_the_parent_however_many_they_are() {
        for related in [1, 2, 5] {
            let Layout { places, .. } = layout(&[(None, 0), (Some(0), 1)], related);
            let (tree, beside) = places.split_at(2);
            assert!(beside.iter().all(|place| place.x < tree[0].x && tree[0].x < tree[1].x));
            let (first, last) = (beside[0].y, beside[related - 1].y);
            assert_eq!(u32::midpoint(first, last), tree[0].y, "{related}");
        }
        let empty = layout(&[], 0);
        assert_eq!((empty.places.len(), empty.width), (0, WIDTH + AROUND));
    }

    #[test]
    fn a_line_goes_from_the_right_edge_to_the_left_one() {
        let (a, b) = (Place { x: 0, y: 0 }, Place { x: COLUMN, y: ROW });
        let (x, y, end) = (WIDTH, HEIGHT / 2, ROW + HEIGHT / 2);
        assert!(
            line(a, b).starts_with(&format!("M{x} {y}C"))
                && line(a, b).ends_with(&format!(" {COLUMN} {end}"))
        );
        assert!(line(b, a).ends_with(&format!(" {WIDTH} {y}")));
    }
}
