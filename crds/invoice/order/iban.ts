/** Account numbers of banks (ISO 13616). */

const FORM = /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/
const CHECK = 97n

/** Without blanks, in capitals, with check digits that fit (ISO 7064, MOD 97-10). */
export const isIban = (text: string): boolean => {
  if (!FORM.test(text)) return false
  const digits = `${text.slice(4)}${text.slice(0, 4)}`.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55))
  return BigInt(digits) % CHECK === 1n
}

/** In groups of four, as people read it. */
export const displayIban = (text: string): string =>
  text
    .replace(/\s+/g, '')
    .toUpperCase()
    .replace(/(.{4})(?=.)/g, '$1 ')
