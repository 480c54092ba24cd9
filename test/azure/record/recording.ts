/** The exchanges of a probe as a file: the form that the emulator's test of recordings reads. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Asked, Exchange } from '../wire/wire.ts'
import type { Scrubber } from './scrubber.ts'

/** One exchange, in the order in which they happened. */
export interface RecordedExchange {
  readonly asked: Asked
  readonly method: string
  /** Path and query behind the host; of a topic's endpoint and of a namespace with the name of the resource before them. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** True: it asks how the operation of the exchange before goes; the last one of several. */
  readonly polls?: true
  readonly status: number
  readonly answerHeaders: Readonly<Record<string, string>>
  readonly answer?: unknown
}

export interface Recording {
  readonly fact: string
  readonly asks: string
  readonly seenAt: string
  readonly date: string
  readonly exchanges: readonly RecordedExchange[]
}

/** Headers of requests that say something about the claim, and hold no secret. */
const sentHeaders = new Set(['content-type', 'aeg-event-type', 'accept'])
const isSent = (name: string) => sentHeaders.has(name) || name.startsWith('ce-')

/** Headers of answers that facts are about. */
const seenHeaders =
  /^(content-type|retry-after|location|azure-asyncoperation|api-supported-versions|broker-errorcode|x-ms-error-code|x-ms-failure-cause)$/
const counters = /^x-ms-ratelimit-remaining-/

export function recordedExchanges(exchanges: readonly Exchange[], scrubber: Scrubber): readonly RecordedExchange[] {
  const kept = exchanges.filter(({ request }, at) => !(request.polls && exchanges[at + 1]?.request.polls))
  return kept.map(({ request, answer }) => {
    const { asked, method, url, headers = {}, body, polls } = request
    const named = (from: Readonly<Record<string, string>>, keep: (name: string) => boolean) =>
      Object.fromEntries(
        Object.entries(from)
          .filter(([name]) => keep(name.toLowerCase()))
          .map(([name, value]) => [name.toLowerCase(), counters.test(name) ? '{number}' : scrubber.text(value)]),
      )
    const sent = named(headers, isSent)
    const { pathname, search } = new URL(url)
    return {
      asked,
      method,
      path: scrubber.text(`${pathname}${search}`),
      ...(Object.keys(sent).length > 0 && { headers: sent }),
      ...(body !== undefined && {
        body: body instanceof Uint8Array ? `(${body.length} bytes)` : scrubber.value(body),
      }),
      ...(polls && { polls }),
      status: answer.status,
      answerHeaders: named(answer.headers, (name) => seenHeaders.test(name) || counters.test(name)),
      ...(answer.body !== '' && { answer: scrubber.value(answer.body) }),
    }
  })
}

/** Writes one file for a probe into a folder, which is made where it is not there. */
export function writeRecording(folder: string, recording: Recording): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, fileNameOf(recording)), `${JSON.stringify(recording, null, 2)}\n`)
}

export const fileNameOf = ({ fact, asks }: Pick<Recording, 'fact' | 'asks'>): string =>
  `${fact}--${asks
    .toLowerCase()
    .replace(/[^a-z\d]+/g, '-')
    .slice(0, 60)
    .replace(/-$/, '')}.json`
