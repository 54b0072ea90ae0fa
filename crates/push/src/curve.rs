//! The public key that belongs to a private one, on the curve P-256.
//!
//! `ring` signs with a pair and does not tell the public half of a private key alone, which is all that the key file holds. It does check
//! that the two belong together, so a mistake in here is a key that is refused and never a wrong signature. Nothing secret of a peer
//! comes by here: this runs once, at the start, on the server's own key.

#![allow(clippy::needless_range_loop, reason = "the words of several numbers are walked in step")]

/// Numbers modulo the prime of the curve, in Montgomery's form: each stands for itself times 2²⁵⁶, the lowest 64 bits first.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Number([u64; 4]);

const PRIME: [u64; 4] = [u64::MAX, 0xffff_ffff, 0, 0xffff_ffff_0000_0001];
const ZERO: Number = Number([0; 4]);
const ONE: Number = Number([1, 0xffff_ffff_0000_0000, u64::MAX, 0xffff_fffe]);
/// What a plain number is multiplied with to get its form: 2⁵¹² modulo the prime.
const INTO_FORM: Number = Number([3, 0xffff_fffb_ffff_ffff, 0xffff_ffff_ffff_fffe, 0x4_ffff_fffd]);
const B: [u64; 4] = [0x3bce_3c3e_27d2_604b, 0x651d_06b0_cc53_b0f6, 0xb3eb_bd55_7698_86bc, 0x5ac6_35d8_aa3a_93e7];
const BASE_X: [u64; 4] = [0xf4a1_3945_d898_c296, 0x7703_7d81_2deb_33a0, 0xf8bc_e6e5_63a4_40f2, 0x6b17_d1f2_e12c_4247];
const BASE_Y: [u64; 4] = [0xcbb6_4068_37bf_51f5, 0x2bce_3357_6b31_5ece, 0x8ee7_eb4a_7c0f_9e16, 0x4fe3_42e2_fe1a_7f9b];

/// The uncompressed point, or none for a key of nothing but zeros. Whether the number is small enough to be a key is not asked here.
pub(crate) fn public_key(private: &[u8; 32]) -> Option<[u8; 65]> {
    let base = Point { x: Number::of(BASE_X), y: Number::of(BASE_Y), z: ONE };
    let b = Number::of(B);
    let mut sum = Point { x: ZERO, y: ONE, z: ZERO };
    for bit in (0..256).map(|at| private[at / 8] >> (7 - at % 8) & 1) {
        sum = sum.plus(sum, b);
        let with_base = sum.plus(base, b);
        if bit == 1 {
            sum = with_base;
        }
    }
    if sum.z == ZERO {
        return None;
    }
    let inverse = sum.z.inverse();
    let mut public = [4; 65];
    public[1..33].copy_from_slice(&sum.x.times(inverse).bytes());
    public[33..].copy_from_slice(&sum.y.times(inverse).bytes());
    Some(public)
}

/// `(x / z, y / z)`; with a `z` of zero the point at infinity.
#[derive(Clone, Copy)]
struct Point {
    x: Number,
    y: Number,
    z: Number,
}

impl Point {
    /// The complete addition of Renes, Costello and Batina (2016), algorithm 4: it has no cases, doubling included.
    fn plus(self, other: Point, b: Number) -> Point {
        let (xx, yy, zz) = (self.x.times(other.x), self.y.times(other.y), self.z.times(other.z));
        let xy = self.x.plus(self.y).times(other.x.plus(other.y)).minus(xx.plus(yy));
        let yz = self.y.plus(self.z).times(other.y.plus(other.z)).minus(yy.plus(zz));
        let xz = self.x.plus(self.z).times(other.x.plus(other.z)).minus(xx.plus(zz));
        let zz_part = xz.minus(b.times(zz)).tripled();
        let xz_part = b.times(xz).minus(zz.tripled()).minus(xx).tripled();
        let slope = xx.tripled().minus(zz.tripled());
        let (above, below) = (yy.plus(zz_part), yy.minus(zz_part));
        Point {
            x: above.times(xy).minus(yz.times(xz_part)),
            y: above.times(below).plus(slope.times(xz_part)),
            z: below.times(yz).plus(xy.times(slope)),
        }
    }
}

impl Number {
    fn of(plain: [u64; 4]) -> Number {
        Number(plain).times(INTO_FORM)
    }

    fn bytes(self) -> [u8; 32] {
        let Number(plain) = self.times(Number([1, 0, 0, 0]));
        let mut bytes = [0; 32];
        for (part, into) in plain.iter().rev().zip(bytes.chunks_exact_mut(8)) {
            into.copy_from_slice(&part.to_be_bytes());
        }
        bytes
    }

    fn plus(self, other: Number) -> Number {
        let mut sum = [0; 5];
        let mut carry = 0;
        for at in 0..4 {
            (sum[at], carry) = add(self.0[at], other.0[at], carry);
        }
        sum[4] = carry;
        reduced(sum)
    }

    fn minus(self, other: Number) -> Number {
        let (difference, borrow) = subtract(self.0, other.0);
        if borrow { Number(difference).plus_prime() } else { Number(difference) }
    }

    /// Of a difference that went below zero: what was carried away comes back.
    fn plus_prime(self) -> Number {
        let mut sum = [0; 4];
        let mut carry = 0;
        for at in 0..4 {
            (sum[at], carry) = add(self.0[at], PRIME[at], carry);
        }
        Number(sum)
    }

    fn tripled(self) -> Number {
        self.plus(self).plus(self)
    }

    /// Montgomery's product, word by word. The prime is one below a multiple of 2⁶⁴, so that its usual factor is one.
    fn times(self, other: Number) -> Number {
        let mut sum = [0_u64; 6];
        for left in self.0 {
            add_product(&mut sum, left, other.0);
            let lowest = sum[0];
            add_product(&mut sum, lowest, PRIME);
            sum.rotate_left(1);
        }
        reduced([sum[0], sum[1], sum[2], sum[3], sum[4]])
    }

    /// By Fermat: to the power of the prime less two.
    fn inverse(self) -> Number {
        let mut power = ONE;
        for at in (0..256).rev() {
            power = power.times(power);
            let exponent = if at < 64 { PRIME[0] - 2 } else { PRIME[at / 64] };
            if exponent >> (at % 64) & 1 == 1 {
                power = power.times(self);
            }
        }
        power
    }
}

fn add_product(sum: &mut [u64; 6], left: u64, right: [u64; 4]) {
    let mut carry = 0;
    for at in 0..4 {
        let wide = u128::from(left) * u128::from(right[at]) + u128::from(sum[at]) + u128::from(carry);
        (sum[at], carry) = halves(wide);
    }
    (sum[4], carry) = add(sum[4], carry, 0);
    sum[5] += carry;
}

/// Of what is less than twice the prime.
fn reduced(sum: [u64; 5]) -> Number {
    let low = [sum[0], sum[1], sum[2], sum[3]];
    let (less, borrow) = subtract(low, PRIME);
    Number(if borrow && sum[4] == 0 { low } else { less })
}

fn subtract(left: [u64; 4], right: [u64; 4]) -> ([u64; 4], bool) {
    let mut difference = [0; 4];
    let mut borrow = false;
    for at in 0..4 {
        let (first, under) = left[at].overflowing_sub(right[at]);
        let (second, under_again) = first.overflowing_sub(u64::from(borrow));
        (difference[at], borrow) = (second, under || under_again);
    }
    (difference, borrow)
}

fn add(left: u64, right: u64, carry: u64) -> (u64, u64) {
    halves(u128::from(left) + u128::from(right) + u128::from(carry))
}

#[allow(clippy::cast_possible_truncation, reason = "the lower half is meant")]
fn halves(wide: u128) -> (u64, u64) {
    (wide as u64, (wide >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use web_push_native::p256::SecretKey;
    use web_push_native::p256::elliptic_curve::sec1::ToEncodedPoint;

    use super::*;

    #[test]
    fn public_keys_are_those_of_another_implementation() {
        let order_less_one = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632550";
        let mut keys = vec![[0xff; 32].map(|byte: u8| byte >> 1), std::array::from_fn(|at| u8::from(at == 31))];
        keys.push(std::array::from_fn(|at| u8::from_str_radix(&order_less_one[at * 2..at * 2 + 2], 16).unwrap()));
        keys.extend((0..200_u32).map(|seed| {
            let digest = ring::digest::digest(&ring::digest::SHA256, &seed.to_le_bytes());
            <[u8; 32]>::try_from(digest.as_ref()).unwrap()
        }));
        for key in keys {
            let expected = SecretKey::from_slice(&key).unwrap().public_key().to_encoded_point(false);
            assert_eq!(public_key(&key).unwrap(), expected.as_bytes(), "{key:?}");
        }
        assert_eq!(public_key(&[0; 32]), None);
    }
}
