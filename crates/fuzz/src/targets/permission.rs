//! What an agent asks before it goes on: the options it offers, and what the policies make of them.
//!
//! An input is the parameters of `session/request_permission`.

use agents::Signal;
use agents::acp::decoder::{Decoded, Decoder};
use domain::agent::{Demand, PermissionAsk};
use domain::decision::Verdict;
use domain::policy::{Policy, PolicyOutcome};

use super::{Memory, Target};
use crate::corpus::Corpus;
use crate::features::Features;
use crate::mutate::{self, Language};
use crate::random::Random;

pub(super) const TARGET: Target = Target {
    name: "permission",
    about: "options of a permission request, and what the policies decide",
    run,
    generate,
    max_bytes: 8 * 1024,
    memory: Memory::USUAL,
};

const LANGUAGE: Language = Language {
    words: &[
        "allow_once",
        "allow_always",
        "reject_once",
        "reject_always",
        "Allow_Once",
        "allow",
        "reject",
        "optionId",
        "name",
        "kind",
        "options",
        "toolCall",
        "toolCallId",
        "rawInput",
        "command",
        "path",
        "read",
        "search",
        "edit",
        "yes",
        "no",
        "",
        "Deny",
    ],
    lines: false,
    json: true,
    text: true,
};

fn generate(random: &mut Random, corpus: &Corpus, max_bytes: usize) -> Vec<u8> {
    mutate::mutate(random, corpus, &LANGUAGE, max_bytes)
}

fn run(input: &[u8], features: &mut Features) {
    // One line is one message.
    let params: Vec<u8> = input.iter().map(|byte| if *byte == b'\n' { b' ' } else { *byte }).collect();
    let line = [br#"{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":"#, params.as_slice(), b"}"].concat();
    let mut decoded = Decoded::default();
    Decoder::default().from_agent(1, &line, &mut decoded);
    for signal in decoded.take_signals() {
        if let Signal::Demand { demand: Demand::Permission(ask), .. } = signal {
            hold(&ask, features);
        }
    }
}

fn hold(ask: &PermissionAsk, features: &mut Features) {
    for policy in Policy::ALL {
        let PolicyOutcome::Decided(decision) = policy.decide(ask) else {
            features.note((policy.as_str(), "ask"));
            continue;
        };
        features.note((policy.as_str(), decision.verdict().as_str()));
        let meant = if policy == Policy::Deny { [Verdict::Reject, Verdict::Cancel] } else { [Verdict::Allow; 2] };
        assert!(meant.contains(&decision.verdict()), "{policy:?} decides {decision:?}");
        let Some(told) = decision.told(ask) else { continue };
        assert!(ask.flaw().is_none(), "{policy:?} chooses of a malformed offer");
        let chosen: Vec<_> = ask.options.iter().filter(|option| option.option_id == told).collect();
        assert!(chosen.len() == 1, "{policy:?} chooses the id {told:?}, which is offered {} times", chosen.len());
        assert!(chosen[0].kind.verdict() == decision.verdict(), "{policy:?} decides {decision:?} and tells {:?}", chosen[0]);
    }
    features.note_size("options", ask.options.len());
}
