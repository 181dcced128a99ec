/** A thread that reads one upload after another (reader.ts). */
import { serveThread } from '../../../../controllers/base/threads/serve.ts'
import { Problem } from '../../../http/problem.ts'
import { type Files, givenFiles, packFiles, tarFiles } from '../../../io/archive.ts'
import { filesIn, packIn } from '../../../io/git/commit.ts'
import { contentsOf, laidOut, textsOf } from './contents.ts'
import type { ReadJob, ReadUpload, SentUpload, UploadPart, UploadQuestion } from './job.ts'
import { jsonFiles } from './json.ts'
import { asRefusal } from './refusal.ts'

const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>) =>
  Buffer.from(buffer, byteOffset, byteLength)

const filesOf = async (sent: SentUpload): Promise<Files> => {
  const bytes = bufferOf(sent.bytes)
  if (sent.form === 'tar') return tarFiles(bytes)
  if (sent.form === 'json') return jsonFiles(bytes, sent.contentType)
  return givenFiles(filesIn(bytes, sent.commit))
}

/** An answer of git becomes the pack that lies in it. */
const unwrapped = (sent: SentUpload): SentUpload =>
  sent.form === 'git answer' ? { ...sent, form: 'git pack', bytes: packIn(bufferOf(sent.bytes)) } : sent

const say = async (question: UploadQuestion, files: Files): Promise<UploadPart> => {
  if (question.ask === 'contents') return { contents: await contentsOf(files) }
  const own = laidOut(files, question.layout)
  if (question.ask === 'texts') return { texts: await textsOf(own, new Set(question.paths), question.maxChars) }
  // of its own: small ones lie in a buffer that others share
  return { packed: new Uint8Array(await packFiles(own, question.maxBytes)) }
}

const read = async ({ sent: given, ...question }: ReadJob): Promise<ReadUpload> => {
  try {
    const sent = unwrapped(given)
    return { ...(await say(question, await filesOf(sent))), sent }
  } catch (error) {
    const refused = asRefusal(error, 'url' in given ? given.url : undefined)
    if (!(refused instanceof Problem)) throw error
    const { code, message, faults, next } = refused
    return { refused: { code, detail: message, faults, next } }
  }
}

serveThread(read, (answer) => {
  if ('refused' in answer) return []
  return 'packed' in answer ? [answer.sent.bytes.buffer, answer.packed.buffer] : [answer.sent.bytes.buffer]
})
