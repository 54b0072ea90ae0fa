// What a main AI does: its own calls, and the agents that it hands work to.

export { ToolCallBlock } from "./ToolCallBlock";
