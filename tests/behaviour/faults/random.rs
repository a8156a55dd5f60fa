//! Many random faults: once they have ended, the state is as without them.

use super::*;
use crate::recipe::{self, config_map, recipe};

const PARENTS: usize = 4;

fn rules() -> Vec<Rule> {
    let write = |fault, probability| {
        Rule::new(fault)
            .verb("patch")
            .verb("delete")
            .user_agent("operetta/")
            .probability(probability)
    };
    let watch = |fault| Rule::new(fault).verb("watch").user_agent("operetta/").probability(0.05);
    vec![
        write(Fault::refuse(500), 0.1),
        write(Fault::refuse(409), 0.1),
        write(Fault::refuse(503), 0.1),
        write(Fault::LoseReply, 0.1),
        write(Fault::CutReply, 0.1),
        write(Fault::GarbleReply, 0.1),
        watch(Fault::CloseWatch),
        watch(Fault::CutFrame),
        watch(Fault::ExpireWatch),
    ]
}

/// With a short backoff, because most reconciles fail here.
fn impatient(builder: SupervisorBuilder) -> SupervisorBuilder {
    let backoff = [50, 500].map(Duration::from_millis);
    builder.register(
        recipe::config("cook").with_error_backoff(backoff[0], backoff[1]),
        recipe::handler(),
    )
}

fn wanted(parent: usize, round: usize) -> Value {
    let name = format!("p{parent}");
    let stays = config_map(&format!("{name}-stays"), json!({"round": round.to_string()}));
    let comes = config_map(&format!("{name}-{round}"), json!({}));
    recipe(&name, &[stays, comes])
}

async fn many_faults(seed: u64) {
    let plan = FaultPlan::seeded(seed);
    let faults = Faults::start_as(plan, impatient).await;
    for rule in rules() {
        faults.plan.add(rule);
    }
    for round in 0..4 {
        for parent in 0..PARENTS {
            faults.world.apply(RECIPE, wanted(parent, round)).await;
        }
        let number = json!(round.to_string());
        let is_there = |child: &Value| child["data"]["round"] == number;
        faults.world.until(CONFIG_MAP, "p0-stays", "the round", is_there).await;
    }
    assert!(!faults.plan.injected().is_empty());
    faults.plan.heal();
    let mut expected = vec!["bystander".to_owned()];
    for parent in 0..PARENTS {
        let name = format!("p{parent}");
        faults.touch(&name).await;
        faults.until_settled(&name).await;
        let child = faults.world.get(CONFIG_MAP, &format!("{name}-stays")).await;
        assert_eq!(child["data"]["round"], "3", "seed {seed}");
        expected.extend([format!("{name}-3"), format!("{name}-stays")]);
    }
    expected.sort_unstable();
    let names = || async {
        let objects = faults.world.list(CONFIG_MAP).await.into_iter();
        let names = objects.map(|object| object["metadata"]["name"].as_str().unwrap().to_owned());
        let mut names: Vec<String> = names.filter(|name| name != "kube-root-ca.crt").collect();
        names.sort_unstable();
        names
    };
    eventually(&format!("nothing missing or left, seed {seed}"), names, |n| *n == expected).await;
    faults.end().await;
}

#[operetta_harness::test]
async fn random_faults_do_not_change_the_final_state() {
    for seed in [1, 2, 3] {
        many_faults(seed).await;
    }
}
