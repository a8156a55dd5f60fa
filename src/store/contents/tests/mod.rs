//! The store beside a small API server, in any order of events: it ends up in the server's state,
//! and never shows an older version than before.

mod forgotten;
mod reselected;
mod server;
mod world;

use self::world::World;
use crate::{
    object::ObjectKey,
    schedule::rng::{SeededRng, with_seeds},
};

fn keys() -> [ObjectKey; 3] {
    [("a", "x"), ("a", "y"), ("b", "x")].map(|(ns, name)| ObjectKey::namespaced(ns, name))
}

/// One step by its number; `false` if it cannot be taken now.
fn step(world: &mut World, number: usize, key: &ObjectKey, scope: usize) -> bool {
    match number {
        0..=4 => world.others(key, number),
        5 => world.apply(key),
        6 => world.delete(key),
        7 => world.read(key),
        8 => world.write_answered(key, false),
        9 => world.read_answered(),
        10 => world.deliver(scope),
        11 => world.list(scope),
        12 => world.expire(scope),
        13 => world.stream(scope),
        14 => world.bookmark(scope),
        _ => world.write_answered(key, true),
    }
}

/// Random steps; those that make progress are more frequent.
fn random_steps(world: &mut World, rng: &mut SeededRng, steps: usize) {
    for _ in 0..steps {
        let often = [0, 0, 1, 5, 5, 8, 9, 10, 10, 10, 11, 11];
        let number = if rng.once_in(2) { rng.pick(&often) } else { rng.below(16) };
        let (key, scope) = (&keys()[rng.below(3)], rng.below(world.scopes()));
        if step(world, number, key, scope) {
            world.check();
        }
    }
}

fn world(rng: &mut SeededRng) -> World {
    World::new([&[None][..], &[Some("a"), Some("b")], &[None, Some("a")]][rng.below(3)])
}

#[test]
fn the_store_always_reaches_the_servers_state_and_never_goes_back() {
    with_seeds(300, |mut rng| {
        let mut world = world(&mut rng);
        for _ in 0..4 {
            random_steps(&mut world, &mut rng, 40);
            world.settle(&mut rng);
        }
    });
}

#[test]
fn the_store_always_reaches_the_servers_state_after_a_backup() {
    with_seeds(200, |mut rng| {
        let mut world = world(&mut rng);
        random_steps(&mut world, &mut rng, 50);
        world.settle(&mut rng);
        world.back_up();
        random_steps(&mut world, &mut rng, 50);
        world.restore(rng.once_in(2));
        random_steps(&mut world, &mut rng, 50);
        world.settle(&mut rng);
    });
}

#[test]
fn the_store_always_reaches_the_servers_state_after_its_watches_are_widened() {
    with_seeds(300, |mut rng| {
        let mut world = world(&mut rng);
        random_steps(&mut world, &mut rng, 40);
        assert!(world.widen());
        for _ in 0..3 {
            random_steps(&mut world, &mut rng, 40);
            world.settle(&mut rng);
        }
    });
}

/// Takes the steps of one sequence. Returns how many of them were possible.
fn follow(sequence: &[usize]) -> usize {
    let mut world = World::new(&[None]);
    let key = &keys()[0];
    for ready in [5, 8, 11, 11, 11] {
        step(&mut world, ready, key, 0);
    }
    for (at, number) in sequence.iter().enumerate() {
        if !step(&mut world, *number, key, 0) {
            return at;
        }
        world.check();
    }
    for replies_first in [false, true] {
        if replies_first {
            world.read_answered();
            world.write_answered(key, false);
        }
        while world.deliver(0) || world.list(0) {}
        world.check();
    }
    world.settle(&mut SeededRng::seeded(1));
    sequence.len()
}

#[test]
fn every_short_sequence_of_steps_for_one_object_reaches_the_servers_state() {
    const LENGTH: usize = 4;
    let numbers = [0, 1, 2, 5, 6, 7, 8, 9, 10, 11, 12];
    let mut sequence = [0; LENGTH];
    loop {
        let taken = follow(&sequence.map(|at| numbers[at]));
        // Those that begin with a step that cannot be taken are not tried.
        let mut at = taken.min(LENGTH - 1);
        sequence[at + 1..].fill(0);
        while sequence[at] + 1 == numbers.len() {
            sequence[at] = 0;
            if at == 0 {
                return;
            }
            at -= 1;
        }
        sequence[at] += 1;
    }
}
