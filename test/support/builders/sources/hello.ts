/** The first bytes of a TLS client, for a client that speaks no TLS: what a server answers to them names the server, in the clear up to TLS 1.2. */
import { Duplex } from 'node:stream'
import { connect } from 'node:tls'

/** @param server the name that it asks for; '' for none */
export const clientHello = (server: string): Promise<Buffer> =>
  new Promise((resolve) => {
    const socket = new Duplex({
      read: () => undefined,
      write: (bytes: Buffer, _encoding, done) => {
        resolve(bytes)
        done()
      },
    })
    connect({ socket, maxVersion: 'TLSv1.2', ...(server !== '' && { servername: server }) }).on(
      'error',
      () => undefined,
    )
  })
