/** Which requests are in the body of a batch, and which answer in the body of its answer belongs to each. */
import type { CallHeaders, RawCall } from './blob-call.ts'

export interface BatchAnswer {
  readonly status: number
  readonly headers: CallHeaders
}

export interface BatchPart {
  readonly call: RawCall
  readonly answer: BatchAnswer
}

/** A message of HTTP with a body, as the batch and its answer are. */
export interface Multipart {
  readonly contentType: string | undefined
  readonly body: string
}

/** The requests of a batch, with the ids by which their answers name them. */
export function batchCalls(request: Multipart): readonly { readonly id: string; readonly call: RawCall }[] {
  return messagesOf(request).flatMap(({ id, first, headers }) => {
    const [, method, url] = /^([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?$/.exec(first) ?? []
    return method === undefined || url === undefined ? [] : [{ id, call: { method, url, headers } }]
  })
}

/** Each request of a batch with its answer; without those that were not answered. */
export function batchParts(request: Multipart, answer: Multipart): readonly BatchPart[] {
  const answers = new Map(messagesOf(answer).map((message) => [message.id, message]))
  return batchCalls(request).flatMap(({ id, call }) => {
    const answered = answers.get(id)
    const [, status] = /^HTTP\/[\d.]+ (\d{3})\b/.exec(answered?.first ?? '') ?? []
    return answered === undefined || status === undefined
      ? []
      : [{ call, answer: { status: Number(status), headers: answered.headers } }]
  })
}

/** The messages in a body, by their Content-ID, or else by their place. */
function messagesOf({ contentType = '', body }: Multipart) {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType) ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined) return []
  // Before the first boundary stands nothing, behind the last one `--`.
  const parts = body.split(`--${boundary}`).slice(1)
  return parts.flatMap((part, at) => {
    const [head = '', message = ''] = sections(part.replace(/^\r?\n/, ''))
    const [first = '', ...lines] = message.split(/\r?\n/)
    if (first === '') return []
    const id = headersOf(head.split(/\r?\n/))['content-id'] ?? String(at)
    return [{ id, first: first.trim(), headers: headersOf(lines) }]
  })
}

/** What blank lines divide. */
const sections = (text: string) => text.split(/\r?\n\r?\n/)

function headersOf(lines: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, name = '', value = ''] = /^([^:\s]+):(.*)$/.exec(line) ?? []
      return name === '' ? [] : [[name.toLowerCase(), value.trim()]]
    }),
  )
}
