//! Rows of every kind: clipped, checked, never refused.

use super::*;
use proptest::prelude::*;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;

const STEP: f64 = 1.0 / 1024.0;

fn sum_of(clip: f64, rows: &[Vec<f64>], width: usize) -> Vec<i64> {
    let mut clipper = Clipper::new(clip, STEP, width).unwrap();
    rows.iter().for_each(|row| clipper.add(row));
    clipper.finish().0.to_vec()
}

#[test]
fn rows_within_the_norm_are_rounded_towards_zero() {
    let row = vec![0.5, -0.25 - 0.9 * STEP, 0.9 * STEP, -0.0];
    assert_eq!(sum_of(1.0, std::slice::from_ref(&row), 4), [512, -256, 0, 0]);
    assert_eq!(sum_of(1.0, &[row.clone(), row], 4), [1024, -512, 0, 0]);
}

#[test]
fn rows_beyond_it_are_shortened() {
    assert_eq!(sum_of(1.0, &[vec![30.0, 40.0]], 2), [614, 819]);
    assert_eq!(sum_of(1.0, &[vec![-1e150, 0.0]], 2), [-1024, 0]);
    // The square overflows: the row is 0, not an error.
    assert_eq!(sum_of(1.0, &[vec![1e200, 0.0]], 2), [0, 0]);
}

#[test]
fn rows_that_are_no_numbers_are_zero() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for row in [vec![bad, 0.1], vec![0.1, bad], vec![bad, bad]] {
            assert_eq!(sum_of(1.0, &[row, vec![0.5, 0.5]], 2), [512, 512]);
        }
    }
    assert_eq!(sum_of(1.0, &[vec![0.1], vec![0.1; 3], vec![]], 2), [0, 0], "wrong width");
}

#[test]
fn the_limit_is_exact() {
    assert_eq!(floor_of_square(1.0), 1);
    assert_eq!(floor_of_square(1.5), 2);
    assert_eq!(floor_of_square(3.0_f64.sqrt()), 2);
    assert_eq!(floor_of_square((1u64 << 61) as f64), 1 << 122);
    assert_eq!(floor_of_square(94_906_267.0), 94_906_267u128.pow(2), "beyond 2^53");
    // √(2^53 + 2) in doubles: the square of the double itself decides.
    let x = (((1u64 << 53) + 2) as f64).sqrt();
    let m = (x * 2f64.powi(26)) as u128;
    assert_eq!(floor_of_square(x), (m * m) >> 52);
}

#[test]
fn settings_are_checked() {
    assert_eq!(Clipper::new(1.0, 0.3, 2).err(), Some(ClipError::Step(0.3)));
    for step in [0.0, -1.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE / 2.0] {
        assert!(matches!(Clipper::new(1.0, step, 2), Err(ClipError::Step(_))));
    }
    for clip in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e30, STEP / 2.0] {
        assert!(matches!(Clipper::new(clip, STEP, 2), Err(ClipError::Clip { .. })), "{clip}");
    }
}

#[test]
fn nothing_prints() {
    let rows: Vec<Vec<f64>> = (0..10).map(|i| vec![0.1 * f64::from(i), -0.03]).collect();
    let mut clipper = Clipper::new(0.7, STEP, 2).unwrap();
    rows.iter().for_each(|r| clipper.add(r));
    assert_eq!(format!("{clipper:?}"), "Clipper(norm 0.7, step 9.765625e-4, width 2)");
    let sum = clipper.finish();
    assert_eq!(format!("{sum:?}"), "ClippedSum(2 secret numbers)");
    assert_eq!(sum.exact_sum_for_a_trusted_server()[1] as i64, sum_of(0.7, &rows, 2)[1]);
}

#[test]
fn noise_is_added_once_and_in_full() {
    let random = || ChaCha20Rng::seed_from_u64(4);
    let mut noise = vec![0; 3];
    NoiseShare::draw(&mut random(), 9, 3).add_to(&mut noise).unwrap();
    let mut clipper = Clipper::new(1.0, STEP, 3).unwrap();
    clipper.add(&[0.5, 0.0, -0.5]);
    let noisy = clipper.finish().with_noise(NoiseShare::draw(&mut random(), 9, 3)).unwrap();
    let without: Vec<i64> =
        noisy.words().iter().zip(&noise).map(|(a, b)| a.wrapping_sub(*b) as i64).collect();
    assert_eq!(without, [512, 0, -512]);
    let narrow =
        Clipper::new(1.0, STEP, 2).unwrap().finish().with_noise(NoiseShare::draw(&mut random(), 9, 3));
    assert_eq!(narrow, Err(ClipError::Width { rows: 2, noise: 3 }));
}

proptest! {
    /// The norm, whatever the row: also bits that are no numbers.
    #[test]
    fn no_row_moves_the_sum_further_than_the_norm(
        bits in prop::collection::vec(any::<u64>(), 5), clip in 0.01f64..100.0, mild in any::<bool>(),
    ) {
        let row: Vec<f64> = bits.iter().map(|&b| if mild { b as i64 as f64 / 1e18 } else { f64::from_bits(b) }).collect();
        let q = sum_of(clip, &[row], 5);
        let square: u128 = q.iter().map(|q| u128::from(q.unsigned_abs()).pow(2)).sum();
        prop_assert!(square <= floor_of_square(clip / STEP));
    }
}
