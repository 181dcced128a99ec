/** Files of a form, as a browser or curl sends them (RFC 7578). How many parts there are is counted before any is built. */
export type FormFile = { field: string; name: string; type: string; bytes: Buffer }

const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i

/** Null for what is no such form. */
export const boundaryOf = (contentType: string): string | null => {
  const [, quoted, plain] = /^multipart\/form-data\s*;/i.test(contentType) ? (BOUNDARY.exec(contentType) ?? []) : []
  return quoted ?? plain ?? null
}

/** Of an upper bound: a boundary that stands within a file counts too. */
const partsIn = (bytes: Buffer, boundary: string, most: number): number => {
  const mark = Buffer.from(`--${boundary}`, 'latin1')
  let parts = 0
  for (let at = bytes.indexOf(mark); at >= 0 && parts <= most; at = bytes.indexOf(mark, at + mark.length)) parts++
  // the last one ends the form
  return parts - 1
}

/** @returns the parts that are files; null for a form that is broken or has more than `most` parts */
export const filesOf = async (bytes: Buffer, contentType: string, most: number): Promise<FormFile[] | null> => {
  const boundary = boundaryOf(contentType)
  if (boundary === null || partsIn(bytes, boundary, most + 1) > most) return null
  const body = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length) as Uint8Array<ArrayBuffer>
  const form = await new Response(body, { headers: { 'content-type': contentType } }).formData().catch(() => null)
  if (form === null) return null
  const files: FormFile[] = []
  for (const [field, value] of form.entries()) {
    const isFile = typeof value !== 'string'
    const sent = isFile ? Buffer.from(await value.arrayBuffer()) : Buffer.from(value, 'utf8')
    files.push({ field, name: isFile ? value.name : '', type: isFile ? value.type : 'text/plain', bytes: sent })
  }
  return files
}
