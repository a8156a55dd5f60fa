//! Which member of a group is to have which bucket: rendezvous hashing with equal shares.
//!
//! Each pair of a member and a bucket has a score. The pairs take their turns from the highest score on; a bucket goes
//! to the first member that has not its share yet. A member that comes or goes moves its own share, and some buckets of the
//! others, so that the shares stay equal.

use super::bucket::{BUCKETS, Bucket, Buckets, fnv_1a};

/// The buckets of each of these members, in their order. Without a member no bucket has one.
pub(super) fn assign(members: &[&str]) -> Vec<Buckets> {
    let mut shares = vec![Buckets::NONE; members.len()];
    let share =
        u32::from(BUCKETS).div_ceil(u32::try_from(members.len().max(1)).unwrap_or(u32::MAX));
    let seeds: Vec<u64> = members.iter().map(|member| fnv_1a(member.as_bytes())).collect();
    let pair = |member: usize| Bucket::all().map(move |bucket| (member, bucket));
    let mut pairs: Vec<_> = (0..members.len()).flat_map(pair).collect();
    // The name decides between equal scores, so that all members agree.
    pairs.sort_by_cached_key(|(member, bucket)| {
        (std::cmp::Reverse(score(seeds[*member], *bucket)), members[*member])
    });
    let mut taken = Buckets::NONE;
    for (member, bucket) in pairs {
        if !taken.has(bucket) && shares[member].len() < share {
            taken = taken.with(bucket.into());
            shares[member] = shares[member].with(bucket.into());
        }
    }
    shares
}

/// The finalizer of `SplitMix64`: neighbouring buckets get unrelated scores.
fn score(seed: u64, bucket: Bucket) -> u64 {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut mixed = seed ^ u64::from(bucket.number()).wrapping_mul(STEP);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(group: usize, members: usize) -> Vec<String> {
        (0..members).map(|member| format!("operators-{group}-{member}")).collect()
    }

    fn assigned(names: &[String]) -> Vec<Buckets> {
        assign(&names.iter().map(String::as_str).collect::<Vec<_>>())
    }

    #[test]
    fn each_bucket_has_one_member_and_the_shares_are_equal() {
        assert!(assign(&[]).is_empty());
        for members in 1..=70 {
            let shares = assigned(&names(0, members));
            let all = shares.iter().fold(Buckets::NONE, |all, share| all.with(*share));
            assert_eq!(all, Buckets::ALL, "{members}");
            assert_eq!(shares.iter().map(|share| share.len()).sum::<u32>(), 64, "{members}");
            let most = shares.iter().map(|share| share.len()).max().unwrap();
            assert_eq!(most, 64_u32.div_ceil(members.try_into().unwrap()), "{members}");
        }
    }

    #[test]
    fn all_members_agree_whatever_the_order_in_which_they_know_each_other() {
        let forward = assign(&["a", "b", "c"]);
        let backward = assign(&["c", "b", "a"]);
        assert_eq!(forward, backward.into_iter().rev().collect::<Vec<_>>());
    }

    #[test]
    fn a_member_that_comes_moves_little_more_than_its_share() {
        for members in 2..8 {
            let mut moved = 0;
            for group in 0..40 {
                let names = names(group, members + 1);
                let (before, after) = (assigned(&names[..members]), assigned(&names));
                let stays = before.iter().zip(&after).map(|(old, new)| old.within(*new).len());
                moved += 64 - stays.sum::<u32>();
            }
            let share = 64.0 / f64::from(u32::try_from(members).unwrap() + 1);
            let average = f64::from(moved) / 40.0;
            assert!(average < 1.7 * share, "{members}: {average} of {share}");
        }
    }
}
