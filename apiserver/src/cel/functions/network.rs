//! Addresses and ranges of networks.

use std::net::IpAddr;

use crate::cel::{
    scalar::network::{address, is_global_unicast, range},
    value::{Failure, Outcome, Val, error, no_overload},
};

pub(super) fn call<'a>(function: &str, args: &[Val<'a>]) -> Outcome<'a> {
    match args {
        [Val::String(text)] => from_text(function, text),
        [Val::Ip(ip)] => of_address(function, *ip),
        [Val::Cidr(cidr)] => match function {
            "ip" => Ok(Val::Ip(cidr.address)),
            "masked" => Ok(Val::Cidr(cidr.masked())),
            "prefixLength" => Ok(Val::Int(i64::from(cidr.bits))),
            _ => no_overload(),
        },
        [Val::Cidr(cidr), Val::Ip(ip)] if function == "containsIP" => {
            Ok(Val::Bool(cidr.contains(*ip)))
        }
        [Val::Cidr(cidr), Val::String(text)] if function == "containsIP" => match address(text) {
            Ok(ip) => Ok(Val::Bool(cidr.contains(ip))),
            Err(_) => no_overload(),
        },
        [Val::Cidr(cidr), Val::Cidr(other)] if function == "containsCIDR" => {
            Ok(Val::Bool(cidr.bits <= other.bits && cidr.contains(other.address)))
        }
        [Val::Cidr(cidr), Val::String(text)] if function == "containsCIDR" => {
            let other = range(text).map_err(|reason| in_conversion(&reason))?;
            Ok(Val::Bool(cidr.bits <= other.bits && cidr.contains(other.address)))
        }
        _ => no_overload(),
    }
}

fn from_text<'a>(function: &str, text: &str) -> Outcome<'a> {
    match function {
        "ip" => address(text).map_or_else(error, |ip| Ok(Val::Ip(ip))),
        "isIP" => Ok(Val::Bool(address(text).is_ok())),
        "ip.isCanonical" => {
            address(text).map_or_else(error, |ip| Ok(Val::Bool(ip.to_string() == text)))
        }
        "cidr" => range(text).map(Val::Cidr).map_err(|reason| in_conversion(&reason)),
        "isCIDR" => Ok(Val::Bool(range(text).is_ok())),
        _ => no_overload(),
    }
}

fn of_address<'a>(function: &str, ip: IpAddr) -> Outcome<'a> {
    let is = match (function, ip) {
        ("family", IpAddr::V4(_)) => return Ok(Val::Int(4)),
        ("family", IpAddr::V6(_)) => return Ok(Val::Int(6)),
        ("isUnspecified", _) => ip.is_unspecified(),
        ("isLoopback", _) => ip.is_loopback(),
        ("isLinkLocalMulticast", IpAddr::V4(ip)) => ip.octets()[..3] == [224, 0, 0],
        ("isLinkLocalMulticast", IpAddr::V6(ip)) => ip.segments()[0] & 0xff0f == 0xff02,
        ("isLinkLocalUnicast", IpAddr::V4(ip)) => ip.is_link_local(),
        ("isLinkLocalUnicast", IpAddr::V6(ip)) => ip.is_unicast_link_local(),
        ("isGlobalUnicast", _) => is_global_unicast(ip),
        _ => return no_overload(),
    };
    Ok(Val::Bool(is))
}

fn in_conversion(reason: &str) -> Failure {
    Failure::Error(format!("network address parse error during conversion from string: {reason}"))
}
