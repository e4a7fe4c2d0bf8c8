use core::fmt;

use proptest::prelude::*;

use super::*;

fn message<T: FromStr<Err = NotationError> + fmt::Debug>(text: &str) -> String {
    text.parse::<T>().unwrap_err().to_string()
}

#[test]
fn durations() {
    for (text, nanos) in [
        ("20 ms", 20_000_000),
        ("1.5 s", 1_500_000_000),
        ("300us", 300_000),
        ("300 \u{b5}s", 300_000),
        ("300 \u{3bc}s", 300_000),
        ("7 ns", 7),
        ("2 min", 120_000_000_000),
        ("0.5 h", 1_800_000_000_000),
        ("0.1 ms", 100_000),
        ("  0 s ", 0),
    ] {
        assert_eq!(text.parse(), Ok(Duration::from_nanos(nanos)), "{text}");
    }
}

#[test]
fn rates_in_bits_and_bytes() {
    for (text, bits) in [
        ("50 Mbit/s", 50_000_000),
        ("1 Gbit/s", 1_000_000_000),
        ("1.5 Mbps", 1_500_000),
        ("64 kbit/s", 64_000),
        ("9600 bit/s", 9600),
        ("8 MB/s", 64_000_000),
        ("0.125 B/s", 1),
    ] {
        assert_eq!(text.parse(), Ok(Rate::from_bits_per_second(bits)), "{text}");
    }
}

#[test]
fn sizes_decimal_and_binary() {
    for (text, bytes) in [
        ("100 MB", 100_000_000),
        ("1.5 GB", 1_500_000_000),
        ("64 KiB", 65_536),
        ("0.5 MiB", 524_288),
        ("1448 bytes", 1448),
        ("1 byte", 1),
        ("2 TiB", 2_199_023_255_552),
    ] {
        assert_eq!(text.parse(), Ok(Size::from_bytes(bytes)), "{text}");
    }
}

#[test]
fn powers_and_energies_per_bit() {
    for (text, microwatts) in [("1288.04 mW", 1_288_040), ("1.21 W", 1_210_000), ("3 \u{b5}W", 3)] {
        assert_eq!(text.parse(), Ok(Power::from_microwatts(microwatts)), "{text}");
    }
    for (text, picojoules) in [("438.39 nJ/bit", 438_390), ("51.97 mW/Mbps", 51_970), ("0.2 uJ/bit", 200_000)] {
        assert_eq!(text.parse(), Ok(EnergyPerBit::from_picojoules(picojoules)), "{text}");
    }
    assert_eq!(message::<Power>("5 kW"), "unknown unit \"kW\": a power is written in uW, mW or W");
}

#[test]
fn probabilities_and_packets() {
    assert_eq!("0.5 %".parse(), Ok(Probability::from_trillionths(5_000_000_000).unwrap()));
    assert_eq!("100%".parse(), Ok(Probability::ALWAYS));
    assert_eq!("100 packets".parse(), Ok(Packets::new(100)));
    assert_eq!("1 packet".parse(), Ok(Packets::new(1)));
}

#[test]
fn a_bdp_is_the_bytes_under_way() {
    let [half, two] = ["0.5 bdp", "2bdp"].map(|text| text.parse::<Bdp>().expect("it is one"));
    assert_eq!(half.bytes(Rate::from_mbit(50), Duration::from_millis(40)), 125_000);
    assert_eq!(two.bytes(Rate::from_mbit(50), Duration::from_millis(40)), 500_000);
}

#[test]
fn ratios_are_decimals_or_fractions() {
    for (text, numerator, denominator) in
        [("1/4", 1, 4), ("0.25", 1, 4), ("1.2", 6, 5), ("30", 30, 1), (" 6 / 8 ", 3, 4)]
    {
        assert_eq!(text.parse(), Ok(Ratio::new(numerator, denominator).unwrap()), "{text}");
    }
    for text in ["", "a", "1/0", "1/2/3", "0.5/2", "1/-2"] {
        assert!(message::<Ratio>(text).starts_with("expected a ratio such as \"1/4\""), "{text}");
    }
    assert_eq!(message::<Ratio>("-1/4"), "a ratio cannot be negative, found \"-1/4\"");
    assert!(message::<Ratio>("1000001").contains("too large"));
    assert!(message::<Ratio>("0.0000001").contains("too fine"));
}

#[test]
fn a_missing_unit_is_an_error_that_lists_the_units() {
    assert_eq!(
        message::<Rate>("50"),
        "\"50\" has no unit: a rate is written in bit/s, kbit/s, Mbit/s, Gbit/s, B/s, kB/s, MB/s or GB/s, \
         for example \"50 Mbit/s\""
    );
    assert_eq!(
        message::<Probability>("0.005"),
        "\"0.005\" has no unit: a probability is written in %, for example \"0.5 %\""
    );
}

#[test]
fn a_unit_in_the_wrong_case_is_recognised_but_bits_are_not_taken_for_bytes() {
    assert_eq!(
        message::<Duration>("20 MS"),
        "unknown unit \"MS\" (did you mean \"ms\"?): a duration is written in ns, us, ms, s, min or h"
    );
    assert!(message::<Rate>("50 mbit/s").contains("did you mean \"Mbit/s\"?"));
    assert!(!message::<Rate>("50 Mb/s").contains("did you mean"));
    assert!(message::<Size>("50 Mbit/s").starts_with("unknown unit \"Mbit/s\": a size"));
}

#[test]
fn texts_that_are_not_quantities_are_refused() {
    for text in ["", "fast", "ms", "1,5 ms", ".5 ms", "5. ms", "+5 ms", "1.2.3 ms", "--5 ms", "-", "- 5 ms"] {
        let expected = format!("expected a duration such as \"20 ms\", found {text:?}");
        assert_eq!(message::<Duration>(text), expected);
    }
}

#[test]
fn negative_too_fine_and_too_large_values_are_refused() {
    assert_eq!(message::<Rate>("-5 Mbit/s"), "a rate cannot be negative, found \"-5 Mbit/s\"");
    assert_eq!(message::<Rate>("\u{2212}5"), "a rate cannot be negative, found \"\u{2212}5\"");
    let fine = message::<Duration>("0.0000001 ms");
    assert_eq!(fine, "\"0.0000001 ms\" is too fine: a duration is counted in whole nanoseconds");
    assert_eq!(
        message::<Packets>("1.5 packets").split(':').nth(1),
        Some(" a number of packets is counted in whole packets")
    );
    let large = message::<Probability>("100.1 %");
    assert_eq!(large, "\"100.1 %\" is too large: a probability is at most 100 %");
    let long = message::<Duration>("6000000 h");
    assert_eq!(long, "\"6000000 h\" is too large: a duration is at most 18446744073 s");
}

fn round_trip<T>(value: T) -> Result<(), TestCaseError>
where
    T: FromStr<Err = NotationError> + fmt::Display + fmt::Debug + PartialEq,
{
    prop_assert_eq!(value.to_string().parse(), Ok(value));
    Ok(())
}

fn parse_all(text: &str) {
    let _ = text.parse::<Duration>();
    let _ = text.parse::<Rate>();
    let _ = text.parse::<Size>();
    let _ = text.parse::<Probability>();
    let _ = text.parse::<Packets>();
    let _ = text.parse::<Bdp>();
}

/// Any number; round numbers are as likely as others.
fn amount() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64u32, 0..12u32).prop_map(|(n, shift, zeros)| (n >> shift).saturating_mul(10u64.pow(zeros)))
}

proptest! {
    #[test]
    fn a_written_quantity_parses_to_itself(n in amount()) {
        round_trip(Duration::from_nanos(n))?;
        round_trip(Rate::from_bits_per_second(n))?;
        round_trip(Size::from_bytes(n))?;
        round_trip(Packets::new(n))?;
        round_trip(Bdp::from_millionths(n))?;
        round_trip(Probability::from_trillionths(n % 1_000_000_000_001).unwrap())?;
    }

    #[test]
    fn a_written_ratio_parses_to_itself(numerator in 0..=Ratio::LARGEST, denominator in 1..=Ratio::LARGEST) {
        round_trip(Ratio::new(numerator, denominator).unwrap())?;
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        parse_all(&text);
    }

    #[test]
    fn no_almost_valid_text_panics(
            text in r"[-+]?[0-9]{0,45}[.,]?[0-9]{0,45} ?(ns|µs|h|GB/s|TiB|bytes|%|packets|é)?") {
        parse_all(&text);
    }
}
