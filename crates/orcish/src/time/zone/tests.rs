use super::*;

fn offset(id: &str, utc: i64) -> i32 {
    WriterZone::parse(id).unwrap().offset_at(utc)
}

/// The id, the base, and the offset in July 2024, as printed by Java 17.
const JVM: [(&str, i64, i32); 36] = [
    ("America/New_York", 1_420_088_400, -14_400),
    ("US/Pacific", 1_420_099_200, -25_200),
    ("Asia/Shanghai", 1_420_041_600, 28_800),
    ("Asia/Kathmandu", 1_420_049_700, 20_700),
    ("Australia/Lord_Howe", 1_420_030_800, 37_800),
    ("Pacific/Apia", 1_420_020_000, 46_800),
    ("Europe/Dublin", 1_420_070_400, 3_600),
    ("Africa/Casablanca", 1_420_070_400, 3_600),
    ("Etc/GMT+5", 1_420_088_400, -18_000),
    ("EST5EDT", 1_420_088_400, -14_400),
    ("PST8PDT", 1_420_099_200, -25_200),
    ("CET", 1_420_066_800, 7_200),
    ("PRC", 1_420_041_600, 28_800),
    ("EST", 1_420_088_400, -18_000),
    ("MST", 1_420_095_600, -25_200),
    ("HST", 1_420_106_400, -36_000),
    ("PST", 1_420_099_200, -25_200),
    ("CST", 1_420_092_000, -18_000),
    ("IST", 1_420_050_600, 19_800),
    ("ACT", 1_420_036_200, 34_200),
    ("AET", 1_420_030_800, 36_000),
    ("AST", 1_420_102_800, -28_800),
    ("BST", 1_420_048_800, 21_600),
    ("ECT", 1_420_066_800, 7_200),
    ("VST", 1_420_045_200, 25_200),
    ("SystemV/PST8", 1_420_099_200, -28_800),
    ("SystemV/PST8PDT", 1_420_099_200, -25_200),
    ("SystemV/HST10", 1_420_106_400, -36_000),
    ("GMT", 1_420_070_400, 0),
    ("GMT0", 1_420_070_400, 0),
    ("UTC", 1_420_070_400, 0),
    ("Zulu", 1_420_070_400, 0),
    ("GMT+08:00", 1_420_041_600, 28_800),
    ("GMT-3", 1_420_081_200, -10_800),
    ("GMT+0800", 1_420_041_600, 28_800),
    ("GMT+800", 1_420_041_600, 28_800),
];

#[test]
fn ids_are_resolved_as_in_the_jvm() {
    for (id, base, july) in JVM {
        let zone = WriterZone::parse(id).unwrap();
        assert_eq!((zone.base(), zone.offset_at(1_720_000_000)), (base, july), "{id}");
    }
}

#[test]
fn all_ids_of_the_jvm_are_accepted() {
    let ids = "ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST";
    for id in ids.split(' ') {
        assert!(java_short_id(id).unwrap().parse::<iana::Zone>().is_ok(), "{id}");
    }
    for id in ["Canada/East-Saskatchewan", "US/Pacific-New"] {
        assert!(WriterZone::parse(id).is_ok(), "{id}");
    }
    for id in ["AST4", "AST4ADT", "EST5", "EST5EDT", "CST6", "CST6CDT", "MST7", "MST7MDT", "YST9", "YST9YDT"] {
        assert!(WriterZone::parse(&format!("SystemV/{id}")).is_ok(), "{id}");
    }
}

#[test]
fn fixed_offsets() {
    let offsets = [
        ("", 0),
        ("Z", 0),
        ("GMT+0", 0),
        ("GMT-00:00", 0),
        ("Etc/UTC", 0),
        ("UTC+8", 28_800),
        ("UTC+08:00", 28_800),
        ("UT-8", -28_800),
        ("+08:00", 28_800),
        ("-0530", -19_800),
        ("GMT+1:30", 5_400),
        ("GMT+01:02:03", 3_723),
        ("-010203", -3_723),
        ("GMT+23:59", 86_340),
    ];
    for (id, offset) in offsets {
        let zone = WriterZone::parse(id).unwrap();
        assert_eq!(zone.fixed_offset(), Some(offset), "{id}");
        assert_eq!(zone.base(), 1_420_070_400 - i64::from(offset), "{id}");
    }
    assert_eq!(WriterZone::parse("America/New_York").unwrap().fixed_offset(), None);
}

#[test]
fn unknown_ids_are_errors() {
    let ids = [
        "Mars/Phobos",
        "america/new_york",
        "gmt+8",
        "GMT+24",
        "GMT+8:5",
        "GMT+08:60",
        "GMT+",
        "GMT+08000",
        "GMT+8:00:0",
        "GMT+1:2:3:4",
        "+",
        "-",
        "é",
        "+é0",
        "+1é",
        "GMT+08:00 ",
        "SystemV/",
        "SystemV/XST1",
        "XYZ",
        "0",
    ];
    for id in ids {
        assert!(WriterZone::parse(id).is_err(), "{id}");
    }
    let error = WriterZone::parse("Mars/Phobos").unwrap_err();
    assert_eq!(error.kind(), orcish_core::error::ErrorKind::Unsupported);
    assert_eq!(error.to_string(), "writer time zone \"Mars/Phobos\" is not known");
    assert!(WriterZone::parse(&"x".repeat(10_000)).unwrap_err().to_string().len() < 200);
}

/// The id, the instant and the offset, as printed by Java 17.
#[test]
fn offsets_of_all_times_are_those_of_the_jvm() {
    let known = [
        // Standard time before 1900. Local mean time (+8:05:43) is in force from 1900 to 1901 only.
        ("Asia/Shanghai", -2_208_988_801, 28_800),
        ("Asia/Shanghai", -2_208_988_800, 29_143),
        ("Asia/Shanghai", -2_177_481_943, 28_800),
        ("America/New_York", -62_135_596_800, -18_000),
        ("Africa/Casablanca", -62_135_596_800, 0),
        ("Europe/Dublin", -62_135_596_800, 0),
        // Around a transition.
        ("America/New_York", 1_425_797_999, -18_000),
        ("America/New_York", 1_425_798_000, -14_400),
        // The years of the oil crisis.
        ("SystemV/PST8PDT", 126_698_400, -28_800 + 3600),
        ("SystemV/PST8PDT", 154_602_000, -28_800),
        // Beyond the tables of the JVM and of chrono-tz.
        ("America/New_York", 253_402_300_799, -18_000),
        ("America/New_York", 253_380_000_000, -14_400),
        ("America/New_York", 1_000_000_000_000, -14_400),
    ];
    for (id, utc, expected) in known {
        assert_eq!(offset(id, utc), expected, "{id} {utc}");
    }
    for utc in [i64::MIN, i64::MAX] {
        assert!([-14_400, -18_000].contains(&offset("America/New_York", utc)));
    }
}

#[test]
fn no_time_zone_has_a_transition_at_the_epoch() {
    for zone in chrono_tz::TZ_VARIANTS {
        let around = [-SECONDS_PER_DAY, 0, SECONDS_PER_DAY].map(|shift| iana::offset_at(zone, EPOCH + shift));
        assert!(around.iter().all(|offset| *offset == around[0]), "{zone}");
    }
}

#[test]
fn sampled_offsets_agree_with_chrono_tz() {
    for zone in [chrono_tz::America::New_York, chrono_tz::Africa::Casablanca, chrono_tz::Australia::Lord_Howe] {
        let ours = WriterZone::parse(zone.name()).unwrap();
        for utc in (-2_208_988_800..4_102_444_800).step_by(777_777) {
            assert_eq!(ours.offset_at(utc), iana::offset_at(zone, utc), "{zone} {utc}");
        }
    }
}

/// The transitions of more than half a day of all time zones.
fn large_transitions() -> Vec<(WriterZone, i64)> {
    const STEP: usize = 10 * 86_400;
    let mut found = Vec::new();
    for zone in chrono_tz::TZ_VARIANTS {
        for utc in (-4_200_000_000..1_900_000_000).step_by(STEP) {
            let (mut before, mut after) = (utc, utc + 10 * SECONDS_PER_DAY);
            if (iana::offset_at(zone, before) - iana::offset_at(zone, after)).abs() <= 12 * 3600 {
                continue;
            }
            let offset = iana::offset_at(zone, before);
            while after - before > 1 {
                let middle = (before + after) / 2;
                if iana::offset_at(zone, middle) == offset { before = middle } else { after = middle }
            }
            found.push((WriterZone::parse(zone.name()).unwrap(), after));
        }
    }
    found
}

#[test]
fn transitions_of_a_day_exist() {
    let names: Vec<_> = large_transitions().into_iter().map(|(zone, _)| zone.history.unwrap().name()).collect();
    for name in ["Pacific/Apia", "Pacific/Fakaofo", "Pacific/Kwajalein", "Pacific/Kiritimati", "Pacific/Enderbury"] {
        assert!(names.contains(&name), "{name}");
    }
    // A skipped day and a repeated day before 1900.
    assert!(names.contains(&"Asia/Manila") && names.contains(&"America/Juneau"));
}

/// Local times and instants have another order at a transition.
#[test]
fn instants_are_within_the_offset_bounds() {
    for (zone, transition) in large_transitions() {
        let instants = crate::time::InstantDecoder::new(WriterZone::utc(), false).with_reader_zone(zone.clone());
        let walls = (transition - 4 * SECONDS_PER_DAY..transition + 4 * SECONDS_PER_DAY).step_by(1_900);
        let found: Vec<_> = walls.map(|wall| (wall, instants.decode(wall), zone.historic_instant_of(wall))).collect();
        for (at, &(bound, ..)) in found.iter().enumerate() {
            let (min, max) = zone.offset_bounds(bound);
            let (earliest, latest) = (bound - i64::from(max), bound - i64::from(min));
            let (before, after) = (&found[..=at], &found[at..]);
            assert!(before.iter().all(|(_, a, b)| *a.max(b) <= latest), "{:?} {bound}", zone.history);
            assert!(after.iter().all(|(_, a, b)| *a.min(b) >= earliest), "{:?} {bound}", zone.history);
        }
    }
}
