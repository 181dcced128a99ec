import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { CLIENT, type Parsed } from './cli.ts'

/** The official client of the protocol, on our server over stdin and stdout. */
export type Agent = {
  tools: Parsed[]
  instructions: string | undefined
  call(name: string, args?: Record<string, unknown>): Promise<{ isError: boolean; text: string; data: Parsed }>
  client: Client
  end(): Promise<void>
}

const CALL_MS = 240_000

export const startAgent = async (
  env: Record<string, string>,
  { args = [], cwd = '/', node = process.execPath }: { args?: string[]; cwd?: string; node?: string } = {},
): Promise<Agent> => {
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StdioClientTransport({
    command: node,
    args: [CLIENT, 'mcp', ...args],
    env: { PATH: process.env.PATH ?? '', ...env },
    cwd,
    stderr: 'ignore',
  })
  await client.connect(transport)
  // from here on the client holds answers against the schemas that the tools declare
  const { tools } = await client.listTools()
  return {
    tools,
    instructions: client.getInstructions(),
    client,
    async call(name, given = {}) {
      const answer: Parsed = await client.callTool({ name, arguments: given }, undefined, { timeout: CALL_MS })
      return { isError: answer.isError === true, text: answer.content?.[0]?.text ?? '', data: answer.structuredContent }
    },
    end: () => client.close(),
  }
}
