/** How the blob endpoint refuses what does not reach Azurite: in the words and the form of Azure Storage, which its clients show. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { takeRest } from '../server/take-rest.ts'

export interface StorageRefusal {
  readonly status: number
  readonly code: string
  readonly message: string
  /** In seconds. */
  readonly retryAfter?: number | undefined
}

/** Of Azure Storage, by status. */
const usualCodes: Readonly<Record<number, string>> = {
  403: 'AuthorizationFailure',
  404: 'BlobNotFound',
  409: 'BlobAlreadyExists',
  412: 'ConditionNotMet',
  500: 'InternalError',
  503: 'ServerBusy',
}

export const usualStorageCode = (status: number): string => usualCodes[status] ?? 'InternalError'

/** Answers once what is on its way of the body was taken. */
export async function refuseCall(
  request: IncomingMessage,
  response: ServerResponse,
  { status, code, message, retryAfter }: StorageRefusal,
): Promise<void> {
  await takeRest(request)
  if (response.destroyed) return
  const said = `<?xml version="1.0" encoding="utf-8"?><Error><Code>${code}</Code><Message>${escaped(message)}</Message></Error>`
  response.writeHead(status, {
    'content-type': 'application/xml',
    'content-length': Buffer.byteLength(said),
    'x-ms-error-code': code,
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    ...(request.complete ? {} : { connection: 'close' }),
  })
  response.end(request.method === 'HEAD' ? undefined : said)
}

const escaped = (text: string) =>
  text.replace(/[&<>]/g, (mark) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[mark] ?? mark)
