import type { ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { createCertificateAuthority } from '../../packages/emulator/src/server/tls/certificates.ts'
import { listen } from '../support/listen.ts'

export interface Asked {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Json
}

export type Json = string | number | boolean | null | undefined | readonly Json[] | { readonly [key: string]: Json }

export type Properties = Record<string, Json>

export const isRecord = (value: Json): value is Properties =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
/** A copy of a record; an empty one for anything else. */
export const record = (value: Json): Properties => (isRecord(value) ? { ...value } : {})

/**
 * An answer; `endless` is the status of a body without end, `cut` destroys the connection, `never` leaves the request
 * open until the server closes.
 */
export type Answer =
  | { readonly status: number; readonly body?: Json; readonly text?: string; readonly headers?: Record<string, string> }
  | { readonly endless: number }
  | 'cut'
  | 'never'

/** Made once for all servers of a test file. */
const authority = createCertificateAuthority()
const { certificate: cert, key } = authority.issue(['localhost', '127.0.0.1'])

/** An HTTPS server that answers as told and notes what it was asked. Closed when the test ends. */
export async function startScripted(answer: (asked: Asked) => Answer | Promise<Answer>) {
  const asked: Asked[] = []
  const disconnected = Promise.withResolvers<void>()
  const server = createServer({ key, cert }, async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const [path = '', query = ''] = (request.url ?? '').split('?')
    const json = String(request.headers['content-type']).includes('json') && text !== ''
    const { method = '', headers } = request
    const one = { method, path, query, headers, body: json ? JSON.parse(text) : text }
    asked.push(one)
    const told = await answer(one)
    if (told === 'never') return response.on('close', () => disconnected.resolve())
    if (told === 'cut') return request.socket.destroy()
    if ('endless' in told) {
      response.on('close', () => disconnected.resolve())
      return sendEndless(response, told.endless)
    }
    response.writeHead(told.status, { 'content-type': 'application/json', ...told.headers })
    response.end(told.text ?? (told.body === undefined ? '' : JSON.stringify(told.body)))
  })
  return {
    url: `https://127.0.0.1:${await listen(server)}`,
    ca: authority.certificate,
    asked,
    disconnected: () => disconnected.promise,
  }
}

function sendEndless(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'application/json' }).write('{"text":"')
  const more = () => {
    while (!response.destroyed && response.write('x'.repeat(10_000)));
  }
  response.on('drain', more)
  more()
}
