/** What a thread is asked about an upload, and what it answers (reader.ts, thread.ts). */
import type { Fault, ProblemCode } from '../../../../crds/kernel/problem.ts'
import type { UploadContents, UploadLayout } from './contents.ts'

/**
 * `bytes` wander: who reads them has them, and nobody else. What a server of git answered is an answer once; from then on it is the pack
 * that lay in it.
 */
export type SentUpload = { bytes: Uint8Array<ArrayBuffer> } & (
  | { form: 'tar' }
  | { form: 'json'; contentType: string | undefined }
  | { form: 'git answer' | 'git pack'; url: string; commit: string }
)

export type UploadQuestion =
  | { ask: 'contents' }
  | { ask: 'texts'; layout: UploadLayout; paths: readonly string[]; maxChars: number }
  | { ask: 'pack'; layout: UploadLayout; maxBytes: number }

export type ReadJob = UploadQuestion & { sent: SentUpload }

export type UploadRefusal = { code: ProblemCode; detail: string; faults: Fault[]; next: string }

export type UploadPart =
  | { contents: UploadContents }
  | { texts: Map<string, string> }
  | { packed: Uint8Array<ArrayBuffer> }

export type ReadUpload = (UploadPart & { sent: SentUpload }) | { refused: UploadRefusal }
