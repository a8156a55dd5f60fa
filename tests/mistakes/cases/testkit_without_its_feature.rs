//! `testkit` is used without its feature: add `features = ["testkit"]` to operetta in `[dev-dependencies]`.

use operetta::testkit::TestCluster;

fn main() {
    TestCluster::start();
}
