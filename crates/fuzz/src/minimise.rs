//! Makes a failing input smaller, for as long as the same thing breaks.

/// Leaves out ever smaller pieces, then makes what is left plainer. `fails` is asked at most `tries` times.
pub fn minimise(input: &[u8], mut tries: usize, mut fails: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut best = input.to_vec();
    let mut attempt = |candidate: &[u8], tries: &mut usize| {
        *tries = tries.saturating_sub(1);
        fails(candidate)
    };
    let mut piece = best.len().div_ceil(2);
    while piece > 0 && tries > 0 {
        let mut at = 0;
        let mut removed = false;
        while at < best.len() && tries > 0 {
            let mut candidate = best.clone();
            candidate.drain(at..(at + piece).min(best.len()));
            if attempt(&candidate, &mut tries) {
                best = candidate;
                removed = true;
            } else {
                at += piece;
            }
        }
        if !removed || piece > 1 {
            piece = if piece == 1 { 0 } else { piece.div_ceil(2) };
        }
    }
    for at in 0..best.len() {
        if tries == 0 {
            break;
        }
        let plain = if best[at].is_ascii_digit() { b'0' } else { b'a' };
        let mut candidate = best.clone();
        candidate[at] = plain;
        if candidate[at] != best[at] && attempt(&candidate, &mut tries) {
            best = candidate;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_only_what_the_failure_needs() {
        let input: Vec<u8> = (0..200).map(|n| b'b' + n % 20).chain(*b"{\"x").chain([b'z'; 100]).collect();
        let small = minimise(&input, 10_000, |input| input.windows(2).any(|pair| pair == b"{\""));
        assert_eq!(small, b"{\"");
    }

    #[test]
    fn stops_after_so_many_tries() {
        let mut asked = 0;
        let small = minimise(&[b'x'; 1000], 5, |_| {
            asked += 1;
            false
        });
        assert_eq!((small.len(), asked), (1000, 5));
    }
}
