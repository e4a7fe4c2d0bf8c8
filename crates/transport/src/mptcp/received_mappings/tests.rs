//! Mappings filled in any order.

use proptest::prelude::*;
use subflow_wire::checksum::ones_complement_sum;

use super::*;

/// A mapping of `bytes` from subflow byte 100 onto data byte 5000.
fn mapping(bytes: &[u8]) -> ReceivedMapping {
    let length = bytes.len() as u16;
    let mut wire = Mapping { data_sequence: 77, wide: true, subflow_sequence: 101, length, checksum: None };
    wire.checksum = Some(wire.checksum_for(ones_complement_sum(bytes)));
    ReceivedMapping::new(100, bytes.len() as u64, 5000, wire)
}

/// Those of `bytes` from `from` to `to` arrive; whether the mapping turned out broken.
fn arrive(kept: &mut ReceivedMappings, bytes: &[u8], from: usize, to: usize) -> bool {
    let sum = ones_complement_sum(&bytes[from..to]);
    kept.add_piece(100 + from as u64, (to - from) as u64, sum).is_some()
}

fn fit(kept: &ReceivedMappings, offset: u64, length: u64) -> Fit {
    kept.fit(kept.around(offset).expect("a mapping"), offset, length)
}

#[test]
fn data_waits_for_the_whole_mapping_in_whatever_order_it_comes() {
    let bytes: Vec<u8> = (0..60).collect();
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let mut kept = ReceivedMappings::default();
        assert!(kept.keep(mapping(&bytes)));
        for (count, piece) in order.into_iter().enumerate() {
            assert_eq!(kept.in_order(100, 121), (121, InOrder::Waits), "with {count} of three");
            assert!(!arrive(&mut kept, &bytes, [0, 21, 39][piece], [21, 39, 60][piece]));
        }
        assert_eq!(kept.in_order(100, 160), (160, InOrder::Completes(5000..5060)));
        kept.forget_below(160);
        assert!(kept.is_empty() && kept.pieces == 0);
    }
}

#[test]
fn a_byte_that_changed_on_the_way_breaks_the_mapping() {
    let bytes: Vec<u8> = (0..60).collect();
    let mut kept = ReceivedMappings::default();
    kept.keep(mapping(&bytes));
    assert!(!arrive(&mut kept, &bytes, 30, 60));
    let mut changed = bytes;
    changed[7] ^= 1;
    assert!(arrive(&mut kept, &changed, 0, 30));
    assert_eq!(kept.in_order(100, 170), (160, InOrder::Discarded));
}

#[test]
fn what_came_before_is_known_and_what_cannot_be_summed_is_broken() {
    let bytes: Vec<u8> = (0..60).collect();
    let mut kept = ReceivedMappings::default();
    kept.keep(mapping(&bytes));
    arrive(&mut kept, &bytes, 20, 30);
    assert_eq!(fit(&kept, 120, 10), Fit::Repeated);
    assert_eq!(fit(&kept, 110, 30), Fit::Piece, "all of the known piece, and more");
    assert_eq!(fit(&kept, 125, 10), Fit::Broken, "half of it");
    assert_eq!(fit(&kept, 150, 20), Fit::Broken, "beyond the end");
    assert!(!arrive(&mut kept, &bytes, 10, 40));
    assert!(!arrive(&mut kept, &bytes, 40, 60));
    assert!(!arrive(&mut kept, &bytes, 0, 10));
    assert_eq!(kept.in_order(100, 160).1, InOrder::Completes(5000..5060));
}

#[test]
fn a_sender_may_not_map_bytes_twice() {
    let mut kept = ReceivedMappings::default();
    assert!(kept.keep(mapping(&[0; 60])));
    assert!(kept.keep(mapping(&[1; 60])), "known already");
    let other = ReceivedMapping { start: 130, end: 200, ..mapping(&[0; 60]) };
    assert!(!kept.keep(other));
    assert_eq!(kept.kept.len(), 1);
}

#[test]
fn a_flood_of_mappings_and_pieces_is_cut_off() {
    let mut kept = ReceivedMappings::default();
    for n in 0..100_000 {
        kept.keep(ReceivedMapping { start: 10 * n, end: 10 * n + 10, ..mapping(&[0; 60]) });
    }
    assert_eq!(kept.kept.len(), MAX_KEPT);
    for n in 0..MAX_KEPT as u64 {
        kept.add_piece(10 * n + 2, 1, 0);
    }
    assert_eq!(fit(&kept, 5, 1), Fit::NoRoom);
}

proptest! {
    #[test]
    fn any_cut_in_any_order_is_verified_as_the_whole(
        bytes in prop::collection::vec(any::<u8>(), 2..200),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        seed in any::<prop::sample::Index>(),
        flip in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len())).chain([0, bytes.len()]).collect();
        cuts.sort();
        cuts.dedup();
        let mut pieces: Vec<_> = cuts.windows(2).map(|pair| (pair[0], pair[1])).collect();
        let turn = seed.index(pieces.len());
        pieces.rotate_left(turn);
        let mut kept = ReceivedMappings::default();
        kept.keep(mapping(&bytes));
        let mut arrived = bytes.clone();
        if let Some(flip) = flip {
            arrived[flip.index(bytes.len())] ^= 0x10;
        }
        let mut broken = false;
        for (from, to) in pieces {
            broken |= arrive(&mut kept, &arrived, from, to);
        }
        prop_assert_eq!(broken, flip.is_some());
        prop_assert_eq!(kept.pieces, 0);
    }
}
