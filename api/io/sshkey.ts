/** Reading private keys, for who takes them in. The other door to ssh2 (controllers/io/hosts/ssh.ts connects with them). */
import ssh2 from 'ssh2'

export const PRIVATE_KEY_BYTES_MAX = 16_384

/** Why a text is no private key that can be used to log in; null when it is one. Never quotes it. */
export const privateKeyFault = (text: string): string | null => {
  const parsed = ssh2.utils.parseKey(text)
  if (parsed instanceof Error) {
    return /encrypted|passphrase/i.test(parsed.message)
      ? 'it is encrypted; send it without a passphrase'
      : 'it cannot be read'
  }
  const [key] = Array.isArray(parsed) ? parsed : [parsed]
  if (!key?.isPrivateKey()) return 'it is a public key'
  return null
}
