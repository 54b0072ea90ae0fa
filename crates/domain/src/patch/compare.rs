//! What changed between two texts, line by line. A line ends at a newline and nowhere else.

use std::ops::Range;
use std::time::Instant;

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};

/// A run of lines that are equal on both sides, or of lines that were removed, added or both.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    pub equal: bool,
    pub old: Range<usize>,
    pub new: Range<usize>,
}

pub fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// The changes with `context` equal lines around each, those that are near each other together. Past the deadline they are coarser, and
/// right all the same.
pub fn compare(old: &[&str], new: &[&str], context: usize, deadline: Option<Instant>) -> Vec<Vec<Change>> {
    let ops = placed(capture_diff_slices_deadline(Algorithm::Myers, old, new, deadline));
    let change = |op: DiffOp| Change { equal: matches!(op, DiffOp::Equal { .. }), old: op.old_range(), new: op.new_range() };
    group_diff_ops(ops, context).into_iter().map(|group| group.into_iter().map(change).collect()).collect()
}

/// The library moves changes up and down to make them nicer, and leaves wrong numbers on the side where an insertion or a removal has no
/// lines. The lengths are right and cover both texts, so counting gives the numbers.
fn placed(ops: Vec<DiffOp>) -> Vec<DiffOp> {
    let (mut old_index, mut new_index) = (0, 0);
    let place = |op: DiffOp| {
        let placed = match op {
            DiffOp::Equal { len, .. } => DiffOp::Equal { old_index, new_index, len },
            DiffOp::Delete { old_len, .. } => DiffOp::Delete { old_index, old_len, new_index },
            DiffOp::Insert { new_len, .. } => DiffOp::Insert { old_index, new_index, new_len },
            DiffOp::Replace { old_len, new_len, .. } => DiffOp::Replace { old_index, old_len, new_index, new_len },
        };
        old_index += placed.old_range().len();
        new_index += placed.new_range().len();
        placed
    };
    ops.into_iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removal_and_an_insertion_stand_where_they_are_on_both_sides() {
        let (old, new) = ("a\na\na\nfn\na", "fn\n\nfn\n\na");
        let (old, new) = (lines(old), lines(new));
        for context in 0..4 {
            for hunk in compare(&old, &new, context, None) {
                for pair in hunk.windows(2) {
                    assert_eq!((pair[0].old.end, pair[0].new.end), (pair[1].old.start, pair[1].new.start), "{hunk:?}");
                }
                for change in hunk.iter().filter(|change| change.equal) {
                    assert_eq!(old[change.old.clone()], new[change.new.clone()]);
                }
            }
        }
        assert_eq!(compare(&old, &new, 3, None)[0][0], Change { equal: false, old: 0..3, new: 0..0 });
    }
}
