/** Files in one stream, as `tar -x` reads it on a host. */
import { pack } from 'tar-stream'

/** @param files each under a relative name */
export const tarOf = async (files: readonly { name: string; content: Uint8Array }[]): Promise<Buffer> => {
  const tar = pack()
  for (const { name, content } of files) tar.entry({ name, mode: 0o644 }, Buffer.from(content))
  tar.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of tar) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
