export const AGENT_IDS = ['claude-code', 'codex', 'gemini-cli'] as const
export type AgentId = (typeof AGENT_IDS)[number]
