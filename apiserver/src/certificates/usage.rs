//! The usages of a certificate, as requests name them and as certificates hold them.

use super::der;

/// The usages that there are, in the order of their names.
pub(super) const ALL: [&str; 23] = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];

/// The bits of the usage of a key.
pub(super) fn key_bits(usages: &[&str]) -> u16 {
    usages.iter().fold(0, |bits, usage| {
        bits | match *usage {
            "signing" | "digital signature" => 1 << 15,
            "content commitment" => 1 << 14,
            "key encipherment" => 1 << 13,
            "data encipherment" => 1 << 12,
            "key agreement" => 1 << 11,
            "cert sign" => 1 << 10,
            "crl sign" => 1 << 9,
            "encipher only" => 1 << 8,
            "decipher only" => 1 << 7,
            _ => 0,
        }
    })
}

/// The object identifiers of the extended usages, in the order of Go.
pub(super) fn extended(usages: &[&str]) -> Vec<Vec<u8>> {
    const PURPOSE: [u64; 8] = [1, 3, 6, 1, 5, 5, 7, 3];
    let purpose = |number: u64| der::object_identifier(&[&PURPOSE[..], &[number]].concat());
    let table: [(&[&str], Vec<u8>); 12] = [
        (&["any"], der::object_identifier(&[2, 5, 29, 37, 0])),
        (&["server auth"], purpose(1)),
        (&["client auth"], purpose(2)),
        (&["code signing"], purpose(3)),
        (&["email protection", "s/mime"], purpose(4)),
        (&["ipsec end system"], purpose(5)),
        (&["ipsec tunnel"], purpose(6)),
        (&["ipsec user"], purpose(7)),
        (&["timestamping"], purpose(8)),
        (&["ocsp signing"], purpose(9)),
        (&["microsoft sgc"], der::object_identifier(&[1, 3, 6, 1, 4, 1, 311, 10, 3, 3])),
        (&["netscape sgc"], der::object_identifier(&[2, 16, 840, 1, 113_730, 4, 1])),
    ];
    let is_asked = |names: &[&str]| names.iter().any(|name| usages.contains(name));
    table
        .into_iter()
        .filter(|(names, _)| is_asked(names))
        .map(|(_, identifier)| identifier)
        .collect()
}
