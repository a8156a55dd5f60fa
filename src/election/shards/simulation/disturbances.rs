//! What happens to members while their group is disturbed.

use super::{DISTURBED, Event, Member, World};
use crate::election::shards::ShardInput;

impl World {
    pub(super) fn disturb(&mut self) {
        if self.now >= DISTURBED {
            return;
        }
        let present: Vec<usize> = self.present().collect();
        let one = (!present.is_empty()).then(|| present[self.chance.below(present.len())]);
        match (self.chance.below(9), one) {
            (0, _) if present.len() < 6 => self.join(),
            (1, Some(one)) => self.leave(one),
            (2, Some(one)) => self.kill(one),
            (3, Some(one)) if !self.is_edited => self.stop(one),
            (4 | 5, Some(one)) if !self.is_edited => self.cut(one),
            (3..=5, Some(one)) => self.edit(one),
            (7, Some(one)) => self.block(one),
            (6, Some(one)) => self.members[one].wall_jump(&mut self.chance),
            _ => {}
        }
        let pause = self.chance.between(200, 12_000).min(DISTURBED - self.now);
        self.after(pause, 0, Event::Disturbs);
    }

    pub(super) fn latency(&mut self) -> u64 {
        let longest = if self.now < DISTURBED { 6_000 } else { 900 };
        self.chance.latency().min(longest)
    }

    /// How long a member is stopped or cut off: at the end none is.
    fn pause(&mut self) -> u64 {
        self.chance.between(500, 40_000).min(DISTURBED - self.now)
    }

    pub(super) fn join(&mut self) {
        let at = self.members.len();
        let member = Member::new(at, &mut self.chance);
        self.print(at, "joins");
        self.members.push(member);
        self.after(0, at, Event::Input(ShardInput::Due));
    }

    fn leave(&mut self, at: usize) {
        self.print(at, "leaves");
        self.members[at].leaves_by = Some(self.now + 8_000);
        self.input(at, ShardInput::Leaving);
    }

    fn kill(&mut self, at: usize) {
        self.print(at, "is killed");
        self.members[at].is_dead = true;
    }

    fn stop(&mut self, at: usize) {
        let pause = self.pause();
        self.print(at, &format!("stops for {pause} ms"));
        self.members[at].is_stopped = true;
        self.after(pause, at, Event::Resumes);
    }

    pub(super) fn resume(&mut self, at: usize) {
        self.print(at, "continues");
        self.members[at].is_stopped = false;
        for input in std::mem::take(&mut self.members[at].waiting) {
            self.input(at, input);
        }
        self.narrow(at);
        self.list_waiting(at);
    }

    fn cut(&mut self, at: usize) {
        let pause = self.pause();
        self.print(at, &format!("is cut off for {pause} ms"));
        self.members[at].cut_until = self.now + pause;
    }

    fn edit(&mut self, at: usize) {
        let name = self.members[at].name.clone();
        let edit = self.chance.below(4);
        self.print(at, &format!("has its Lease edited: {edit}"));
        let events = self.server.edit(&name, edit);
        self.publish(events);
        // A newcomer cannot know of a Lease that was deleted.
        if edit == 0 && self.members.len() < 12 {
            self.join();
        }
    }

    /// Its caches are not completed: for a time, or as those of one member of the group for good.
    fn block(&mut self, at: usize) {
        self.members[at].caches.is_blocked = true;
        if !self.has_blocked && self.chance.below(2) == 0 {
            self.has_blocked = true;
            return self.print(at, "never lists any more");
        }
        let pause = self.pause();
        self.print(at, &format!("lists nothing for {pause} ms"));
        self.after(pause, at, Event::Unblocks);
    }

    pub(super) fn print(&self, at: usize, what: &str) {
        if self.prints {
            println!("{:>7} ms  member {at} {what}", self.now);
        }
    }
}
