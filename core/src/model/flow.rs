//! Flows: what led to what, across slices, threads and processes.

use super::ids::{MarkerId, SliceId, StringId, ThreadId};
use super::time::Time;

/// The flows of a profile. Flow `i` has the members `first_member[i] .. first_member[i + 1]`, in order of time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FlowTable {
    /// What each flow is called.
    pub name: Vec<StringId>,
    /// The category that each was recorded under.
    pub category: Vec<StringId>,
    /// The id that each has in its file, as text.
    pub id: Vec<StringId>,
    /// Where the members of each flow begin; its length is that of `name`, the next flow (or the end) ends them.
    pub first_member: Vec<u32>,
    /// The members of all flows.
    pub members: Vec<FlowMember>,
}

/// A station of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowMember {
    /// On which thread.
    pub thread: ThreadId,
    /// The moment of the phase.
    pub time: Time,
    /// What happens to the flow here.
    pub phase: FlowPhase,
    /// What it is bound to.
    pub anchor: FlowAnchor,
}

/// What happens to a flow at one of its members.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FlowPhase {
    /// It starts.
    Start,
    /// It passes through.
    Step,
    /// It ends.
    End,
}

/// What a member of a flow is bound to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FlowAnchor {
    /// A slice of the member's thread.
    Slice(SliceId),
    /// A marker of the member's thread.
    Marker(MarkerId),
    /// The thread itself at that moment (samples).
    Thread,
}

impl FlowTable {
    /// How many flows there are.
    pub fn len(&self) -> usize {
        self.name.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.name.is_empty()
    }

    /// The members of flow `flow`.
    pub fn members_of(&self, flow: usize) -> &[FlowMember] {
        let start = self.first_member[flow] as usize;
        let end = self.first_member.get(flow + 1).map_or(self.members.len(), |next| *next as usize);
        &self.members[start..end]
    }

    /// Adds a flow with its members and gives its row.
    ///
    /// # Panics
    /// If a profile has `u32::MAX` members.
    pub fn push(&mut self, name: StringId, category: StringId, id: StringId, members: &[FlowMember]) -> usize {
        let first = u32::try_from(self.members.len()).expect("a profile has fewer than u32::MAX flow members");
        self.name.push(name);
        self.category.push(category);
        self.id.push(id);
        self.first_member.push(first);
        self.members.extend_from_slice(members);
        self.len() - 1
    }
}
