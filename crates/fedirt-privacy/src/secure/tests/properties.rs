//! What must hold for every cohort and every vector.

use super::*;
use proptest::prelude::*;

fn inputs(seed: u64, sites: usize, length: usize) -> Vec<Vec<u64>> {
    use rand::Rng;
    let mut random = ChaCha20Rng::seed_from_u64(seed);
    (0..sites).map(|_| (0..length).map(|_| random.next_u64()).collect()).collect()
}

fn uploads(world: &World, cohort: &BoundCohort, inputs: &[Vec<u64>]) -> Vec<Upload> {
    world.sites.iter().zip(inputs).map(|(s, words)| s.upload(cohort, words)).collect()
}

/// How many bits differ, per word: 32 for unrelated words.
fn distance(a: &[u64], b: &[u64]) -> f64 {
    let bits: u32 = a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum();
    f64::from(bits) / a.len() as f64
}

/// Ten standard errors around the 32 bits of 64 in which two unrelated words differ.
fn unrelated(a: &[u64], b: &[u64]) -> bool {
    (distance(a, b) - 32.0).abs() < 10.0 * 4.0 / (a.len() as f64).sqrt()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn masked_sums_are_plain_sums(seed: u64, sites in 2..12usize, length in 0..1200usize) {
        let world = World::new(seed, sites);
        let (cohort, inputs) = (world.cohort(b"broadcast"), inputs(seed, sites, length));
        let mut uploads = uploads(&world, &cohort, &inputs);
        uploads.reverse();
        prop_assert_eq!(open(&cohort, length, &uploads).unwrap(), plain_sum(&inputs));
    }

    #[test]
    fn without_one_site_the_sum_is_noise(seed: u64, sites in 2..8usize, absent in 0..8usize) {
        let world = World::new(seed, sites);
        let (cohort, mut inputs) = (world.cohort(b"broadcast"), inputs(seed, sites, 256));
        let mut uploads = uploads(&world, &cohort, &inputs);
        uploads.remove(absent % sites);
        inputs.remove(absent % sites);
        let masked: Vec<Vec<u64>> = uploads.iter().map(|u| u.words().to_vec()).collect();
        prop_assert!(unrelated(&plain_sum(&masked), &plain_sum(&inputs)));
    }

    #[test]
    fn one_bit_of_the_context_makes_the_sum_noise(seed: u64, sites in 2..8usize, bit in 0..256usize) {
        let world = World::new(seed, sites);
        let (cohort, inputs) = (world.cohort(b"broadcast"), inputs(seed, sites, 256));
        let mut context = *cohort.context().as_bytes();
        context[bit / 8] ^= 1 << (bit % 8);
        let mut uploads = uploads(&world, &cohort, &inputs);
        uploads[0] = world.sites[0].upload(&cohort.with_context(context), &inputs[0]);
        // An honest coordinator sees which site was told something else.
        let refused = UploadError::WrongContext { site: world.sites[0].name.clone() };
        prop_assert_eq!(open(&cohort, 256, &uploads).unwrap_err(), refused);
        // A hostile one, which does not look, has noise.
        let masked: Vec<Vec<u64>> = uploads.iter().map(|u| u.words().to_vec()).collect();
        prop_assert!(unrelated(&plain_sum(&masked), &plain_sum(&inputs)));
    }

    #[test]
    fn attempts_have_unrelated_masks(seed: u64, sites in 2..8usize, same_keys: bool) {
        // Even with the keys of the first attempt, which no honest site uses twice.
        let first = World::new(seed, sites);
        let mut second = World::new(if same_keys { seed } else { seed ^ 1 }, sites);
        second.round.attempt += 1;
        let (one, two) = (first.cohort(b"broadcast"), second.cohort(b"broadcast"));
        let inputs = inputs(seed, sites, 256);
        for (a, b) in uploads(&first, &one, &inputs).iter().zip(uploads(&second, &two, &inputs)) {
            prop_assert!(unrelated(a.words(), b.words()));
        }
    }

    #[test]
    fn an_upload_looks_unrelated_to_its_numbers(seed: u64, sites in 2..8usize) {
        let world = World::new(seed, sites);
        let (cohort, zeros) = (world.cohort(b"broadcast"), vec![vec![0; 256]; sites]);
        for upload in uploads(&world, &cohort, &zeros) {
            prop_assert!(unrelated(upload.words(), &[0; 256]));
        }
    }

    #[test]
    fn encodings_come_back(seed: u64, sites in 1..6usize, length in 0..40usize) {
        let world = World::new(seed, sites);
        prop_assert_eq!(Roster::decode(&world.roster.encode()).unwrap(), world.roster.clone());
        for hello in world.hellos() {
            prop_assert_eq!(SignedHello::decode(&hello.encode()).unwrap(), hello);
        }
        let cohort = world.cohort(b"broadcast");
        for upload in uploads(&world, &cohort, &inputs(seed, sites, length)) {
            prop_assert_eq!(Upload::decode(&upload.encode()).unwrap(), upload);
        }
    }

    #[test]
    fn decoders_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), at: usize, value: u8) {
        let world = World::new(7, 3);
        let mut altered = vec![
            world.roster.encode(),
            world.sites[0].hello(&world.round).encode(),
            world.sites[0].upload(&world.cohort(b""), &[1, 2, 3]).encode(),
        ];
        for message in &mut altered {
            let place = at % message.len();
            message[place] = value;
        }
        for message in altered.iter().chain([&bytes]) {
            let _ = (Roster::decode(message), SignedHello::decode(message), Upload::decode(message));
        }
    }
}
